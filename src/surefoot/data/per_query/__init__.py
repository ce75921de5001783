"""What other programs measured on each query: trec_eval's and ir_measures' lines, long tables, dicts and ranx' runs.

`long_scores.py` is what all of them become, one row per value; it refuses what has means only. `recognition.py` says
which form a source has, and reads it; `trec_eval_lines.py` reads lines.
"""
