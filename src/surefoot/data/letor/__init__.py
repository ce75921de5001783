"""LETOR data: the text of learning-to-rank collections and its Parquet form, in and out."""
