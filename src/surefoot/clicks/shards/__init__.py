"""What DuckDB's shards are made of: the tables of `impressions.py` and `features.py`, by sorting arrays in memory.

Window functions over texts take most of the time of a log. Here a shard's texts become integers once, and what came
before is a difference of two places in a sorted array (`counting.py`). Spark, whose tables are on many machines, keeps
to the expressions of the folder above; tests hold the two to the same rows and values.
"""
