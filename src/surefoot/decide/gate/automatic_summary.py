"""What an automatic judge added to a decision: how many people's judgments there were, λ, ρ, and all without it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from surefoot.data.types.runs import Qrels
from surefoot.decide.evidence.automatic_judge import AutomaticJudge
from surefoot.decide.evidence.proof import Evidence
from surefoot.decide.gate.decision_data import AutomaticDecisionData, ConditionData
from surefoot.decide.gate.proved_conditions import proved_conditions
from surefoot.decide.gate.sample_size import queries_needed


def automatic_summary(
    evidence: Sequence[Evidence], conditions: Sequence[ConditionData], judge: AutomaticJudge, measure: str,
    queries: Sequence[str], delta: float, documents: int, *, again: bool = False,
) -> AutomaticDecisionData:  # fmt: skip
    """The judge's part in a decision; each of the conditions is given what it added there.

    `queries` are the draws, and `documents` how many of theirs people judged.
    """
    for one, condition in zip(evidence, conditions, strict=True):
        condition["automatic"] = {
            "weight": one.judge_weight,
            "correlation": one.correlation,
            "adjusted": one.figure(one.adjusted_mean),
        }
    alone = [one.without_judge(measure) for one in evidence]
    decision, conditions_alone = proved_conditions(alone, delta)
    return {
        **judge.data,
        "people_judgments": documents,
        "without": {
            "decision": decision,
            "queries_needed": queries_needed(alone, len(queries), delta, again=again)
            if decision == "undecided"
            else None,
            "conditions": conditions_alone,
        },
    }


def people_judgments(qrels: Qrels | None, queries: Iterable[str]) -> int:
    """How many documents of these queries people judged; 0 where judgments are not at hand."""
    if qrels is None:
        return 0
    drawn = set(queries)
    is_drawn = np.array([query in drawn for query in qrels.queries])
    return int(qrels.ranking.lengths[is_drawn].sum())
