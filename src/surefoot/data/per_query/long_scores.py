"""Values of systems on queries by measures, one row each: the form that all results of other programs become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.data.reading.columns import RowNamer

ALL = "all"  # in place of a query: what trec_eval and ir_measures say of all queries together


@dataclass(frozen=True)
class LongScores:
    """A row per system, query and measure, as they were written; `measures` is None where none is named.

    `called` is the file or table, for messages, and `where` says where a row of it stands.
    """

    called: str
    systems: Sequence[str]
    queries: Sequence[str]
    measures: Sequence[str] | None
    values: Sequence[Any]
    where: RowNamer

    def rows_of(self, measure: str | None) -> tuple[list[int], list[int]]:
        """The rows of a measure: those of queries, and those of all queries together."""
        rows = range(len(self.queries))
        chosen = rows if self.measures is None else [row for row in rows if self.measures[row] == measure]
        single: list[int] = []
        together: list[int] = []
        for row in chosen:
            (together if self.queries[row] == ALL else single).append(row)
        return single, together
