"""What users' files become: rankings, runs, judgments, score matrices, labelled documents.

`ranking.py` is the one type under runs and judgments alike: query offsets, a 64-bit code for each document, float64
scores, and the order, sorted once under one tie rule (document id descending where ids exist, as trec_eval has it; row
order otherwise). Judgments are a ranking too, by grade: their order is the ideal one that nDCG divides by. A document's
code is a hash of its query's and its own id, the same in every table, so that a run is matched with judgments by
searching sorted integers.
"""
