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
    place_of = {query: place for place, query in enumerate(draws.queries)}
    codes, places = [], []
    for run in (candidate, baseline):
        to_drawn = np.array([place_of.get(query, -1) for query in run.queries], dtype=np.int64)
        drawn = to_drawn[run.ranking.query_of_position()]
        shown = drawn >= 0
        if depth is not None:
            shown &= run.ranking.ranks() <= depth
        codes.append(run.ranking.codes_at(np.flatnonzero(shown)))
        places.append(drawn[shown])
    code, first = np.unique(np.concatenate(codes), return_index=True)
    place = np.concatenate(places)[first]
    if judged is not None:
        place = place[judged.ranking.find(code) < 0]
    return np.bincount(place, minlength=len(draws.queries))


def draws_csv(draws: Draws, unjudged: Rows) -> str:
    """The queries for people who judge: those that could lose most first."""
    header = ["query", "times", "weight", "documents_to_judge"]
    return csv_text(header, [[*_row(draws, place), int(unjudged[place])] for place in _by_weight(draws)])


def draws_tables(draws: Draws, unjudged: Rows, most: int) -> list[RenderableType]:
    """The same for a terminal, the first of them, with what was drawn from above it."""
    from rich.text import Text

    what = "lose" if draws.drawn_for == "risk" else "lose or gain"
    summary = (
        f"{draws.draws:,} draws of {draws.traffic:,} queries, in proportion to what each could {what} by "
        f"{draws.measure}: {len(draws.queries):,} queries and {int(unjudged.sum()):,} documents to judge. "
        f"On average a query could {what} {draws.mean_weight:.4f}, at most {draws.largest_weight:.4f}."
    )
    rows = [
        [query, f"{times}", f"{weight:.4f}", f"{unjudged[place]:,}"]
        for place in _by_weight(draws)[:most]
        for query, times, weight in [_row(draws, place)]
    ]
    table = terminal_table(["query", "times drawn", f"could {what}", "documents to judge"], rows)
    more = len(draws.queries) - most
    return [Text(visible(summary)), table, *([Text(f"and {more:,} more queries")] if more > 0 else [])]


def _row(draws: Draws, place: int) -> tuple[str, int, float]:
    return draws.queries[place], int(draws.times[place]), float(draws.weights[place])


def _by_weight(draws: Draws) -> list[int]:
    places = range(len(draws.queries))
    return sorted(places, key=lambda place: (-draws.weights[place], draws.queries[place]))
