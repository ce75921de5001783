"""What an automatic judge added to a decision: how many people's judgments there were, λ, ρ, and all without it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.data.types.runs import Qrels
from surefoot.decide.evidence.automatic_judge import AutomaticJudge
from surefoot.decide.evidence.proof import Evidence
from surefoot.decide.gate.decision_data import AutomaticDecisionData, ConditionData
from surefoot.decide.gate.proved_conditions import proved_conditions
from surefoot.decide.gate.sample_size import queries_needed


def automatic_summary(
    evidence: Sequence[Evidence], conditions: Sequence[ConditionData], judge: AutomaticJudge, measure: str,
    draws: int, delta: float, people: tuple[int, int],
) -> AutomaticDecisionData:  # fmt: skip
    """The judge's part in a decision; each of the conditions is given what it added there.

    `people` are the queries and documents that people judged.
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
        "people_queries": people[0],
        "people_judgments": people[1],
        "without": {
            "decision": decision,
            "queries_needed": queries_needed(alone, draws, delta) if decision == "undecided" else None,
            "conditions": conditions_alone,
        },
    }


def people_judgments(qrels: Qrels | None, queries: Sequence[str]) -> tuple[int, int]:
    """How many queries there are, each once, and how many documents of theirs people judged."""
    drawn = set(queries)
    if qrels is None:
        return len(drawn), 0
    is_drawn = np.array([query in drawn for query in qrels.queries])
    return len(drawn), int(qrels.ranking.lengths[is_drawn].sum())
