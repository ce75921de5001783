"""How many queries a policy takes to prove, before anything is judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.proof import Evidence, evidence_of
from surefoot.decide.gate.decision_words import condition_name
from surefoot.decide.gate.sample_size import queries_needed
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


def _imagined(rule: ConditionRule, known: int | None) -> Evidence:
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
