"""Why a query got worse, in a terminal: the queries that a system hurts most, and their two top lists side by side."""

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
from surefoot.risk.assessment_data import AssessmentData, SystemData
from surefoot.risk.tradeoff import alpha_key

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


_LONGEST_QUERY_TEXT = 50  # letters of a query's text that are shown


def query_tables(
    data: AssessmentData, rows: Sequence[SystemData], most: int = 10, texts: Mapping[str, str] | None = None
) -> list[RenderableType]:
    """For each system, in the order of `rows`, the queries it hurts most, the significant ones marked.

    `data` must hold `per_query`; `texts` are what queries say, shown beside their ids.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    block = data["per_query"]
    parts: list[RenderableType] = []
    baseline = block["baseline"]
    if baseline is None:
        return [
            Text("With several baselines, a query has several differences, so this table is not shown.", style="dim")
        ]
    keys = [alpha_key(alpha) for alpha in data["alphas"]]
    for system in (row["system"] for row in rows):
        columns = block["systems"][system]
        differences = columns["difference"] or []
        lost = sorted((i for i, difference in enumerate(differences) if difference < 0), key=differences.__getitem__)
        if not lost:
            continue
        words = (
            f"{visible(system)} hurts {len(lost):,} of {data['queries']:,} queries. "
            "The queries that it hurts most (*: significant):"
        )
        table = Table(
            title=Text(f"\n{words}"),
            title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
        )  # fmt: skip
        counts = block.get("counts")
        last = "z" if counts is None else "traffic"
        for heading in ("query", "baseline", "score", "difference", last, *(f"T_J, α={key}" for key in keys)):
            table.add_column(heading, justify="left" if heading == "query" else "right")
        for i in lost[:most]:
            cells = [
                fixed(baseline[i], 4),
                fixed(columns["score"][i], 4),
                fixed(differences[i], 4),
            ]
            if counts is None:
                cells.append(ABSENT if columns["z"] is None else fixed(columns["z"][i], 3))
            else:
                cells.append(f"{counts[i]:,g}")
            for key in keys:
                at = columns["alpha"][key]
                t_j, significant = at["t_j"], at["significant"] or []
                cells.append(ABSENT if t_j is None else f"{fixed(t_j[i], 2)}{'*' if significant[i] else ' '}")
            table.add_row(Text(visible(with_text(block["queries"][i], texts or {}))), *cells)
        parts.append(table)
    return parts


def with_text(query: str, texts: Mapping[str, str]) -> str:
    """A query's id, and what it says where that is known."""
    text = " ".join(texts.get(query, "").split())
    short = text if len(text) <= _LONGEST_QUERY_TEXT else f"{text[: _LONGEST_QUERY_TEXT - 1]}…"
    return f"{query} ({short})" if short else query
