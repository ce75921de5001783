"""What is to be judged: the drawn queries, and how many documents of their lists have no judgment yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Rows
from surefoot.data.types.runs import Qrels, Run
from surefoot.decide.evidence.draws import Draws
from surefoot.errors import visible
from surefoot.measures.notation import Measure
from surefoot.report.escapes import csv_text
from surefoot.report.tables import terminal_table

if TYPE_CHECKING:
    from rich.console import RenderableType


def documents_to_judge(draws: Draws, candidate: Run, baseline: Run, judged: Qrels | None = None) -> Rows:
    """For each drawn query how many documents either list shows, down to the cut-off, that are not judged.

    A query that was judged before stays among the draws, since leaving it out would bias what is proved; only its
    judged documents need not be looked at again.
    """
    measure = Measure.parse(draws.measure)
    depth = measure.depth
    number_of = {query: number for number, query in enumerate(draws.queries)}
    codes, query_numbers = [], []
    for run in (candidate, baseline):
        to_drawn = np.array([number_of.get(query, -1) for query in run.queries], dtype=np.int64)
        drawn = to_drawn[run.ranking.query_of_position()]
        is_shown = drawn >= 0
        if depth is not None:
            is_shown &= run.ranking.ranks() <= depth
        codes.append(run.ranking.codes_at(np.flatnonzero(is_shown)))
        query_numbers.append(drawn[is_shown])
    code, first = np.unique(np.concatenate(codes), return_index=True)
    query_number = np.concatenate(query_numbers)[first]
    if judged is not None:
        query_number = query_number[judged.ranking.find(code) < 0]
    return np.bincount(query_number, minlength=len(draws.queries))


def draws_csv(draws: Draws, unjudged: Rows) -> str:
    """The queries for people who judge: those that could lose most first."""
    header = ["query", "times", "weight", "documents_to_judge"]
    return csv_text(header, [[*_row(draws, row), int(unjudged[row])] for row in _by_weight(draws)])


def draws_tables(draws: Draws, unjudged: Rows, most: int) -> list[RenderableType]:
    """The same for a terminal, the first of them, with what was drawn from above it."""
    from rich.text import Text

    what = "lose" if draws.drawn_for == "risk" else "lose or gain"
    summary = (
        f"{draws.draws:,} draws from {draws.traffic:,} queries. Queries that could {what} more {draws.measure} were "
        f"drawn more often. You must judge {len(draws.queries):,} queries and {int(unjudged.sum()):,} documents. "
        f"A query could {what} {draws.mean_weight:.4f} on average and at most {draws.largest_weight:.4f}."
    )
    rows = [
        [query, f"{times}", f"{weight:.4f}", f"{unjudged[row]:,}"]
        for row in _by_weight(draws)[:most]
        for query, times, weight in [_row(draws, row)]
    ]
    table = terminal_table(["query", "times drawn", f"could {what}", "documents to judge"], rows)
    more = len(draws.queries) - most
    return [Text(visible(summary)), table, *([Text(f"and {more:,} more queries")] if more > 0 else [])]


def _row(draws: Draws, row: int) -> tuple[str, int, float]:
    return draws.queries[row], int(draws.times[row]), float(draws.weights[row])


def _by_weight(draws: Draws) -> list[int]:
    rows = range(len(draws.queries))
    return sorted(rows, key=lambda row: (-draws.weights[row], draws.queries[row]))
