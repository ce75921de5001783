"""Why a query got worse, in a terminal: the two top lists of the queries that a system hurts most, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from surefoot.data.types.scores import Scores
from surefoot.errors import visible
from surefoot.measures.notation import named_measure
from surefoot.report.columns import ABSENT
from surefoot.report.numbers import fixed, signed
from surefoot.report.page_results import TOP_RESULTS, TopResults, grades_of, ranks_in
from surefoot.report.query_tables import with_text
from surefoot.risk.assessment_data import AssessmentData, SystemData

if TYPE_CHECKING:
    from rich.console import RenderableType

WORST = 3  # queries of each system
_SHOWN = 10  # results, where the measure has no cutoff


def top_list_tables(
    data: AssessmentData,
    rows: Sequence[SystemData],
    scores: Scores,
    texts: Mapping[str, str] | None = None,
    worst: int = WORST,
) -> list[RenderableType]:
    """For each system, in the order of `rows`, both lists of the queries it hurts most; `data` holds `per_query`."""
    from rich.text import Text

    block = data["per_query"]
    baseline, values = data["baseline"], block["baseline"]
    if not isinstance(baseline, str) or values is None:
        return [Text("With several baselines, no one list stands beside a system's, so none are shown.", style="dim")]
    runs = {run.name: run for run in scores.runs}
    if baseline not in runs:
        return [Text(f"{visible(baseline)} has no list of its own, so none are shown.", style="dim")]
    number = {query: i for i, query in enumerate(scores.queries)}
    measure = named_measure(data["measure"])
    cutoff = None if measure is None else measure.cutoff
    top = min(TOP_RESULTS, cutoff) if isinstance(cutoff, int) else _SHOWN  # that of IPrec is a level of recall
    parts: list[RenderableType] = []
    for system in (row["system"] for row in rows if row["system"] in runs):
        columns = block["systems"][system]
        differences = columns["difference"] or []
        hurt = sorted((i for i, one in enumerate(differences) if one < 0), key=differences.__getitem__)[:worst]
        queries = np.array(sorted(number[block["queries"][i]] for i in hurt), dtype=np.int64)
        lists = [_Lists(TopResults(runs[name], scores.queries, queries, top), scores) for name in (baseline, system)]
        for i in hurt:
            query = block["queries"][i]
            title = (
                f"Query {visible(with_text(query, texts or {}))}: {visible(baseline)} {fixed(values[i], 4)}, "
                f"{visible(system)} {fixed(columns['score'][i], 4)} ({signed(differences[i], 4)})"
            )
            at = int(np.searchsorted(queries, number[query]))
            parts.append(_table(title, (baseline, system), lists, at))
    return parts


class _Lists:
    """The top results of some queries: documents, grades and codes, a slice for each query."""

    def __init__(self, results: TopResults, scores: Scores) -> None:
        self.results = results
        self.ids = results.ids().to_list()
        self.grades = grades_of(scores, results.codes)

    def part(self, at: int) -> slice:
        """Where the results of one of the queries are."""
        end = int(self.results.ends[at])
        return slice(end - int(self.results.lengths[at]), end)


def _table(title: str, names: tuple[str, str], lists: Sequence[_Lists], at: int) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"\n{title}"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rank", justify="right")
    sides = []
    # An arrow says how the document moves from the baseline's list to the other, so it turns round on its side.
    for name, moves, arrows, own, its in zip(
        names, ("goes to", "comes from"), ("↑↓", "↓↑"), lists, reversed(lists), strict=True
    ):
        table.add_column(Text(visible(name)))
        table.add_column("grade", justify="right")
        table.add_column(moves, justify="right")
        part = own.part(at)
        there = ranks_in(its.results.run.ranking, own.results.codes[part])
        sides.append(
            [
                (
                    Text(visible(document)),
                    ABSENT if np.isnan(grade) else f"{grade:g}",
                    ABSENT if not rank else "same" if rank == place else f"{arrows[int(rank > place)]} {rank}",
                )
                for place, (document, grade, rank) in enumerate(
                    zip(own.ids[part], own.grades[part].tolist(), there.tolist(), strict=True), 1
                )
            ]
        )
    nothing = (Text(""), "", "")
    for place in range(max(map(len, sides))):
        cells = [cell for side in sides for cell in (side[place] if place < len(side) else nothing)]
        table.add_row(str(place + 1), *cells)
    return table
