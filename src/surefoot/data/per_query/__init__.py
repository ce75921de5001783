"""What other programs measured on each query: trec_eval's and ir_measures' lines, long tables, dicts and ranx' runs.

`long_scores.py` is what all of them become, one row per value. `recognition.py` says which form a source has, and
`lines.py`, `tables.py` and `objects.py` read it. `aggregates.py` refuses what has means only.
"""
