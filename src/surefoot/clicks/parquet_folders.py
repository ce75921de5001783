"""Folders of Parquet files that stages write, each name taken as it is.

DuckDB and Polars take a name such as `log[1]` for a pattern of names, and a folder `day=3`, anywhere in the path, for a
column `day` that is 3 in every row. A user's folders may have such names: so every path goes through `pattern`, and
every reader is told `hive_partitioning=False`.
"""

from __future__ import annotations

import glob
from pathlib import Path

import polars as pl


def pattern(path: Path) -> str:
    """What to ask for: a file, or the Parquet files of a folder and of the folders in it.

    >>> pattern(Path("log[1].tsv"))
    'log[[]1].tsv'
    """
    name = glob.escape(str(path))
    return f"{name}/**/*.parquet" if path.is_dir() else name


def scan(folder: Path) -> pl.LazyFrame:
    """The rows of a folder, lazily, in no order."""
    return pl.scan_parquet(pattern(folder), hive_partitioning=False)
