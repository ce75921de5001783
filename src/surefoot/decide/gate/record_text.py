"""What a record remembers, for a terminal: its questions with their looks and levels, and what is not judged yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from surefoot.decide.evidence.record import Question, Record, level_of
from surefoot.decide.gate.decision_words import condition_name, shown_name
from surefoot.errors import visible
from surefoot.report.tables import terminal_table

if TYPE_CHECKING:
    from rich.console import RenderableType

_MOST = 20  # queries that are listed


def record_tables(record: Record) -> list[RenderableType]:
    """The record as a person reads it."""
    from rich.text import Text

    parts: list[RenderableType] = [Text(f"Record {record.head[:12] or '(empty)'}", style="bold")]
    if record.questions:
        rows = [_row(record, question) for question in record.questions]
        parts.append(
            terminal_table(["", "question", "level", "family spent", "looks", "queries", "last"], rows, left=2)
        )
    seen = [batch["given"] for question in record.questions for batch in question.batches]
    for what, queries in _to_judge(record):
        looked = "looked at." if queries in seen else f"no look yet. To judge: {_listed(queries)}."
        parts.append(Text(f"{what}: {looked}"))
    largest = max((question.data["number"] for question in record.questions), default=0)
    parts.append(
        Text(
            "The next question about the same queries or the same candidate gets "
            f"{level_of(largest + 1, 1):.4g}·δ, one about others {level_of(1, 1):.4g}·δ.",
            style="dim",
        )
    )
    return parts


def _row(record: Record, question: Question) -> list[str]:
    data = question.data
    rules = " and ".join(condition_name(rule) for rule in data["rules"])
    looks = question.looks
    judged = sum(len(batch["judged"]["query"]) for batch in question.batches) or len(data["queries"])
    return [
        str(question.number), f"{shown_name(data['candidate']['name'])}: {rules}", f"{data['delta']:.4g}",
        f"{record.level_kept(question).spent:.4g}", str(len(looks) or 1), f"{judged:,}",
        looks[-1]["decision"] if looks else data["asked_by"],
    ]  # fmt: skip


def _to_judge(record: Record) -> Iterator[tuple[str, list[str]]]:
    """All that `judge next` gave out."""
    for draws in record.draws:
        names = f"{shown_name(draws.candidate['name'])} against {shown_name(draws.baseline['name'])}"
        yield f"{draws.draws:,} draws for {names} ({len(draws.queries):,} queries)", list(draws.queries)
    for entry in record.samples:
        yield f"{len(entry['queries']):,} queries of a random order of {entry['size']:,}", entry["queries"]


def _listed(queries: list[str]) -> str:
    more = len(queries) - _MOST
    return visible(", ".join(queries[:_MOST])) + (f" and {more:,} more" if more > 0 else "")
