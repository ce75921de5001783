"""Releases over time: past decisions and assessments of a folder, by date, and the queries that were hurt repeatedly.

`history_files.py` finds, dates and reads the files, and makes one comparison of a candidate with a baseline of
each; `history.py` puts them into series that may be compared with each other, and `history_view.py` renders them.
"""
