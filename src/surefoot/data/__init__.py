"""Users' files and the types they become: runs, judgments, score matrices, labelled documents.

`reading/` takes files and tables in, `types/` is what they become, `writing/` puts files out; `letor/` and `tools/`
read and write the formats of learning-to-rank collections and of judging tools. `hashes.py` is the one place for what
identifies a query, a ranking or a data set.
"""
