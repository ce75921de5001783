"""Re-rankers of text, cross-encoders of sentence-transformers, against the first stage that is live today.

The baseline is the order in which the documents arrive. `loss.py` and `evaluator.py` are for that library's trainer
(`surefoot.neural.sentence_transformers` has them under their public names), `dataset.py` makes its data of judgments, a
run and texts, `reranking.py` makes a run of a model, and `training.py` is what `surefoot train` calls. Every model is
the library's own: it is saved and loaded by it alone.
"""
