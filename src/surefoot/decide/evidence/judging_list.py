"""What is to be judged: the drawn queries, and how many documents of their lists have no judgment yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Ints
from surefoot.data.hashes import text_hash
from surefoot.data.types.runs import Qrels, Run
from surefoot.decide.evidence.automatic_judge import DrawnJudgeData, shown_documents
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.record import SampleEntry
from surefoot.errors import visible
from surefoot.measures.notation import Measure
from surefoot.report.escapes import csv_text
from surefoot.report.tables import terminal_table

if TYPE_CHECKING:
    from rich.console import RenderableType


def documents_to_judge(
    queries: Sequence[str], measure: Measure, candidate: Run, baseline: Run, judged: Qrels | None = None
) -> Ints:
    """For each query how many documents either list shows, down to the cut-off, that are not judged.

    A query that was judged before stays among those to judge, since leaving it out would bias what is proved; only its
    judged documents need not be looked at again.
    """
    code, query_number = shown_documents((candidate, baseline), queries, measure.depth)
    if judged is not None:
        query_number = query_number[judged.ranking.find(code) < 0]
    return np.bincount(query_number, minlength=len(queries))


def documents_shown_by_query(
    queries: Sequence[str], measure: Measure, candidate: Run, baseline: Run
) -> dict[str, list[str]]:
    """For people's tools: the documents of each query that either list shows, down to the cut-off.

    Queries come as given, documents in the order of a hash: neither says what a system or a judge thinks.
    """
    depth = measure.depth
    shown: dict[str, set[str]] = {query: set() for query in queries}
    for run in (candidate, baseline):
        positions = np.flatnonzero(run.ranking.ranks() <= (np.inf if depth is None else depth))
        numbers = run.ranking.query_of_position()[positions].tolist()
        for number, document in zip(numbers, run.documents(positions).to_list(), strict=True):
            if (query := run.queries[number]) in shown:
                shown[query].add(document)
    return {
        query: sorted(documents, key=lambda document: text_hash(f"{query}\n{document}"))
        for query, documents in shown.items()
    }


def draws_csv(draws: Draws, unjudged: Ints) -> str:
    """The queries for people who judge: those that could lose most first, or as they were drawn beside a judge.

    What an automatic judge says is not shown, and no order betrays it: people would follow it.
    """
    header = ["query", "times", "could_lose", *(["count"] if draws.counts is not None else []), "documents_to_judge"]
    order = _by_weight(draws) if draws.automatic is None else drawn_order(draws)
    return csv_text(header, [[*_row(draws, row), *_count(draws, row), int(unjudged[row])] for row in order])


def sample_csv(queries: Sequence[str], unjudged: Ints) -> str:
    """The queries of a uniform sample for people who judge, in their random order."""
    return csv_text(["query", "documents_to_judge"], zip(queries, unjudged.tolist(), strict=True))


def sample_tables(entry: SampleEntry, unjudged: Ints, most: int) -> list[RenderableType]:
    """The same for a terminal, the first of them."""
    from rich.text import Text

    queries = entry["queries"]
    summary = (
        f"{len(queries):,} queries, drawn at random from the {entry['size']:,} that the runs answer. You must judge "
        f"{int(unjudged.sum()):,} documents."
    )
    rows = [[query, f"{count:,}"] for query, count in zip(queries[:most], unjudged.tolist(), strict=False)]
    more = len(queries) - most
    table = terminal_table(["query", "documents to judge"], rows)
    return [Text(summary), table, *([Text(f"and {more:,} more queries")] if more > 0 else [])]


def drawn_order(draws: Draws) -> list[int]:
    """The places of the drawn queries, each where it was drawn first."""
    return list(dict.fromkeys(draws.sequence.tolist()))


def draws_tables(draws: Draws, unjudged: Ints, most: int) -> list[RenderableType]:
    """The same for a terminal, the first of them, with what was drawn from above it."""
    from rich.text import Text

    what = "lose" if draws.to_prove == "risk" else "lose or gain"
    asked = "" if draws.by_traffic is None else ", and queries that are asked more,"
    summary = (
        f"{draws.draws:,} draws from {draws.drawn_from:,} queries. Queries that could {what} more {draws.measure}"
        f"{asked} were drawn more often. You must judge {len(draws.queries):,} queries and "
        f"{int(unjudged.sum()):,} documents. A query could {what} "
        f"{draws.could_lose_mean:.4f} on average and at most {draws.could_lose_largest:.4f}."
    )
    if draws.by_traffic is not None and draws.by_traffic["left_out"]:
        summary += f" {draws.by_traffic['left_out']:,} queries of the runs have no traffic and were left out."
    rows = [
        [query, f"{times}", f"{weight:.4f}", *(f"{count:,g}" for count in _count(draws, row)), f"{unjudged[row]:,}"]
        for row in (_by_weight(draws) if draws.automatic is None else drawn_order(draws))[:most]
        for query, times, weight in [_row(draws, row)]
    ]
    counts = [] if draws.counts is None else ["asked"]
    table = terminal_table(["query", "times drawn", f"could {what}", *counts, "documents to judge"], rows)
    more = len(draws.queries) - most
    if draws.automatic is not None:
        summary += f" {automatic_note(draws.automatic)}"
    if draws.to_prove == "risk":
        summary += " These draws are for conditions on risk alone; for gain or U_Risk, draw with --to-prove gain."
    return [Text(visible(summary)), table, *([Text(f"and {more:,} more queries")] if more > 0 else [])]


def automatic_note(automatic: DrawnJudgeData) -> str:
    """Which automatic judgments the draws belong to, and what the judge left out."""
    note = f"The draws belong to the automatic judgments {automatic['name']}, which must not change now."
    if automatic["unjudged"]:
        note += (
            f" They have no judgment for {automatic['unjudged']:,} of the queries that could change. These count as no "
            "difference."
        )
    if automatic["holes"]:
        note += (
            f" {automatic['holes']:,} documents that the runs show have no automatic judgment. They count as not "
            "relevant."
        )
    return note


def _row(draws: Draws, row: int) -> tuple[str, int, float]:
    return draws.queries[row], int(draws.times[row]), float(draws.could_lose[row])


def _count(draws: Draws, row: int) -> list[float]:
    return [] if draws.counts is None else [float(draws.counts[row])]


def _by_weight(draws: Draws) -> list[int]:
    rows = range(len(draws.queries))
    return sorted(rows, key=lambda row: (-draws.could_lose[row], draws.queries[row]))
