"""Ibis, in which logs are read and counted, or the line that installs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.runtime import library

ibis: Any = library("ibis", "clicks", "reading click logs")  # what its functions take and give is known when they run
Table = Any  # an Ibis table, or one of its columns


def union(tables: Sequence[Table]) -> Table:
    """All rows of tables with the same columns."""
    first, *others = tables
    return first.union(*others, distinct=False) if others else first
