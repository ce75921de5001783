"""LETOR data: the text of learning-to-rank collections and its Parquet form, in and out.

Threads parse blocks (`text.py`) with a compiled kernel (`kernel.py`) that stops at whatever is not regular; such a
block is read by `letor_lines.py`, in Python, line by line.
"""
