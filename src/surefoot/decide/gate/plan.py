"""What a gate says without judgments: what a record remembers, and how many queries a policy takes to prove."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.proof import ConditionEvidence, evidence_of
from surefoot.decide.evidence.record import Question, Record, level_of
from surefoot.decide.gate.decision_words import condition_name, shown_name
from surefoot.decide.gate.sample_size import queries_needed
from surefoot.errors import visible
from surefoot.report.tables import terminal_table

if TYPE_CHECKING:
    from rich.console import RenderableType

_QUERIES = 1_000  # imagined, from which samples are drawn
_LOSS = 0.25  # of an imagined query that loses
_BETTER = 0.05  # how far an imagined gain is above its level
_SPREAD = 0.2  # of imagined differences


def plan_tables(
    rules: Sequence[ConditionRule], delta: float, known: int | None = None, sizes: dict[str, int] | None = None
) -> list[RenderableType]:
    """For each condition the fewest queries that can prove it, and how many a good candidate would take."""
    from rich.text import Text

    rows = []
    for rule in rules:
        evidence = _imagined(rule, known if rule.segment is None else (sizes or {}).get(rule.segment))
        least = evidence.least(delta)
        needed = queries_needed([evidence], _QUERIES, delta, parts=len(rules))
        rows.append(
            [condition_name(rule.to_dict()), *("–" if count is None else f"{count:,}" for count in (least, needed))]
        )
    return [
        terminal_table(["condition", "queries at least", "probably enough"], rows),
        Text(
            f"“Queries at least”: with fewer, not even a candidate that never loses passes at δ = {delta:.4g}. "
            f"“Probably enough”: a good candidate passes in 8 of 10 cases, one with half the risk, or half the share "
            f"hurt, that is allowed (each loss {_LOSS:g}), or a gain {_BETTER:g} above the level. All figures are for "
            "one look at queries drawn at random; draws by what could be lost (surefoot judge next) often need fewer.",
            style="dim",
        ),
    ]


def _imagined(rule: ConditionRule, known: int | None) -> ConditionEvidence:
    """A condition on imagined queries of a candidate that keeps to it well."""
    baseline = np.full(_QUERIES, 0.5)
    part = np.arange(_QUERIES) / _QUERIES
    if rule.condition.at_most:
        loss = 0.5 if rule.condition.is_share else _LOSS
        difference = np.where(part < rule.level / 2 / (1 if rule.condition.is_share else loss), -loss, 0.0)
    else:  # as often above its mean as below
        alpha = rule.alpha or 0.0
        mean = rule.level + _BETTER + (alpha / 2) * _SPREAD / 2 if alpha else rule.level + _BETTER
        difference = np.clip(mean + np.where(part < 0.5, -_SPREAD, _SPREAD), -0.5, 0.5)
    sample = JudgedQueries(tuple(map(str, range(_QUERIES))), baseline, baseline + difference)
    whole = ConditionRule(rule.name, rule.level, rule.alpha)
    return evidence_of(whole, sample, "nDCG@10", batches=(_QUERIES,), known=known)


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
