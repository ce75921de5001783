"""What is proved of each condition, and the decision that follows."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.decide.evidence.proof import Evidence, Proof, proofs
from surefoot.decide.gate.decision_data import ConditionData, ReleaseDecision


def proved_conditions(
    evidence: Sequence[Evidence], delta: float, *, bounds: bool = True
) -> tuple[ReleaseDecision, list[ConditionData]]:
    """Stop where a condition fails, at its share of δ; ship where all hold; undecided otherwise.

    A condition of which both was once proved, as the path of the bets went up and down, is open.
    """
    failing_delta = delta / len(evidence)
    conditions = [
        _condition(condition_evidence, *both, delta, failing_delta)
        for condition_evidence, both in zip(
            evidence, proofs(evidence, delta, failing_delta, bounds=bounds), strict=True
        )
    ]
    if any(condition["status"] == "fails" for condition in conditions):
        return "stop", conditions
    return "ship" if all(condition["status"] == "holds" for condition in conditions) else "undecided", conditions


def _condition(evidence: Evidence, holding: Proof, failing: Proof, delta: float, failing_delta: float) -> ConditionData:
    holds, fails = holding.p <= delta, failing.p <= failing_delta
    if holds != fails:
        holds, fails = holds and holding.agrees, fails and failing.agrees
    return {
        "name": evidence.rule.name,
        "segment": evidence.rule.segment,
        "level": evidence.rule.level,
        "alpha": evidence.rule.alpha,
        "observed": evidence.observed,
        "bound": holding.bound,
        "bound_fails": failing.bound,
        "p_holds": holding.p,
        "p_fails": failing.p,
        "status": "open" if holds == fails else "fails" if fails else "holds",
        "queries": len(evidence.x),
        "queries_needed": None,
        "least_queries": evidence.least(delta),
        "method": evidence.method,
    }
