"""Users' files, tables and arrays in: formats, columns, lines, and errors that name the place.

`formats.py` recognises once for all what a file of runs or judgments is, by its name and its first bytes.
`run_lines.py` parses a block of lines with Polars as if it were regular; a block that is not is made regular and parsed
again, and only one that fails twice is read line by line, which finds the line that is wrong. So the common file costs
one fast pass, and every mistake has its line number. Three threads parse blocks into what is stored of them, in the
file's order; columns grow in place, so that memory never holds a column twice. Ids stay in the file: they are needed to
break ties and to show documents, for which it is read again (`held_rows.py`).

Tables, dicts and arrays go through `frames.py`, their ids and numbers through `columns.py`. A forked child has lost
Polars' threads: `polars_process.py` knows, and such a child reads line by line or says what to do.
"""
