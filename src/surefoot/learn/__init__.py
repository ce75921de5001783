"""LambdaMART whose pair weights come from a risk-sensitive measure.

`settings.py` and `inputs.py` check what users give; `objectives.py` is the table of objectives. `lambdas.py` computes
gradients: first what must be known of all queries (c, s_x, S, Z), as plain sums that several machines can add up
(`training_weights.py`), then the pairs, in the compiled `kernel.py`. The kernel runs on plain threads, each with a part
of the queries: it releases the interpreter's lock, sleeps between calls, and never runs beside the engine's threads.
`training.py` grows trees in rounds that end at checkpoints; each round has its own seed, so that a training that
resumes draws the same random numbers as one that was never interrupted. A model is saved as the engine's own text and
a JSON with its hash (`saved_ranker.py`); nothing that is loaded is ever executed.
"""
