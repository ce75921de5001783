"""Ibis, in which logs are read and counted, or the line that installs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.runtime import library

IbisTable = Any  # an Ibis table, or one of its columns


def need_ibis() -> Any:
    """Ibis; where it is not installed, the error that says how to install it."""
    return library("ibis", "clicks", "reading click logs")


class _Ibis:
    """Ibis, imported when something of it is first used: layouts can be listed without it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(need_ibis(), name)


ibis: Any = _Ibis()  # what its functions take and give is known when they run


def union(tables: Sequence[IbisTable]) -> IbisTable:
    """All rows of tables with the same columns."""
    first, *others = tables
    return first.union(*others, distinct=False) if others else first
