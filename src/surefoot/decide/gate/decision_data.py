"""A decision as plain data: the types of its JSON, from which `decide/gate/decision.schema.json` is made.

`python -m surefoot.decide.gate.decision_data` prints the schema; a test holds the package's file to it.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from surefoot.decide.evidence.conditions import ConditionName
from surefoot.decide.evidence.nothing_to_lose import NothingToLoseData
from surefoot.decide.evidence.proof import Method
from surefoot.decide.evidence.strata import StratumData
from surefoot.decide.evidence.traffic import DrawnFor, DrawnTraffic
from surefoot.report.schema import schema_of
from surefoot.risk.assessment_data import Count, Json, NotNegative

SCHEMA: Literal["surefoot/decision/2"] = "surefoot/decision/2"
SCHEMA_OF_VERSION_1 = "surefoot/decision/1"

P = Annotated[float, ("minimum", 0), ("maximum", 1)]
ReleaseDecision = Literal["ship", "stop", "undecided"]
ConditionStatus = Literal["holds", "fails", "open"]


class AutomaticConditionData(TypedDict):
    """What an automatic judge added to a condition."""

    weight: Annotated[NotNegative, "λ after all draws: how much the judge's values count."]
    correlation: Annotated[float | None, "ρ of people's and the judge's values over the draws."]
    adjusted: Annotated[float, "The observed figure, corrected by what the judge says of the draws and of all traffic."]


class ConditionData(TypedDict):
    """One condition, and what the judged queries prove of it."""

    name: ConditionName
    segment: Annotated[str | None, "The segment whose queries it is about; null for all."]
    level: Annotated[float, "What the figure must be at most (risk, share_hurt) or above (gain, u_risk)."]
    alpha: Annotated[float | None, "Of u_risk."]
    observed: Annotated[float, "The figure of the judged queries."]
    bound: Annotated[float, "What is proved at delta: the most that risk may be, the least that gain may be."]
    bound_fails: Annotated[float, "What is proved at delta_fails from the other side: the least that risk is."]
    p_holds: Annotated[P, "Of the hypothesis that it does not hold; at most delta, and the bound agrees: it holds."]
    p_fails: Annotated[P, "Of the hypothesis that it holds; at most delta_fails, and bound_fails agrees: it fails."]
    status: ConditionStatus
    queries: Annotated[int, ("minimum", 1)]
    least_queries: Annotated[int | None, "The fewest queries that can prove it at all, where known."]
    method: Method
    automatic: NotRequired[Annotated[AutomaticConditionData, "Where there is an automatic judge."]]


class WithoutJudgeData(TypedDict):
    """What would have been decided on the same draws without the automatic judge."""

    decision: ReleaseDecision
    queries_needed: Annotated[int | None, "As that of the decision."]
    conditions: list[ConditionData]


class AutomaticDecisionData(TypedDict):
    """An automatic judge's part in a decision."""

    name: str
    sha256: Annotated[str, "Of its judgments, as the draws have it."]
    unjudged: Annotated[Count, "Queries of the traffic that could change and that it did not judge: no difference."]
    holes: Annotated[Count, "Documents that a run shows there and that it did not judge: not relevant."]
    people_queries: Annotated[Count, "Queries that people judged, each once."]
    people_judgments: Annotated[Count, "Documents of these queries that people judged."]
    without: WithoutJudgeData


class LedgerData(TypedDict):
    """Which use of its queries the decision is, and what that leaves of δ."""

    use: Annotated[int, ("minimum", 1)]
    repeated: Annotated[bool, "The same scores and policy were decided on before; no new use."]
    queries: Annotated[str, "SHA-256 of the set of queries."]
    delta_requested: Annotated[float, "The policy's δ; delta is what is left of it."]
    unused_draws: Annotated[Count, "Draws that the ledger knows of and that were never decided on."]


class DrawnData(TypedDict):
    """How the judged queries were drawn."""

    drawn_for: DrawnFor
    draws: Count
    mean_weight: NotNegative
    traffic: Annotated[Count, "Distinct queries that were drawn from."]
    by_traffic: NotRequired[Annotated[DrawnTraffic, "Where queries were drawn by how often they are asked, too."]]
    unjudged_documents: NotRequired[
        Annotated[Count | None, "Documents that a list shows for a drawn query of this batch, and nobody judged."]
    ]


class BudgetData(TypedDict):
    """The anytime form: how many queries may be judged, and how many came in how many batches."""

    queries: Count
    seen: Count
    batches: Count


class HurtData(TypedDict):
    """A query that the candidate hurts."""

    query: str
    text: str | None
    baseline: float
    candidate: float
    difference: float


class PerQueryData(TypedDict):
    """What was bet on, in that order: everything that the decision can be computed from."""

    query: list[str]
    baseline: list[float]
    candidate: list[float]
    weight: Annotated[list[float] | None, "What each query was drawn by."]
    share: Annotated[
        list[float] | None, "The weight of each query's stratum, its share of traffic over its share here."
    ]
    segments: Annotated[dict[str, list[bool]], "Which queries are of each segment that has a condition."]
    automatic_baseline: NotRequired[Annotated[list[float] | None, "The baseline's scores by an automatic judge."]]
    automatic_candidate: NotRequired[Annotated[list[float] | None, "The candidate's scores by an automatic judge."]]


class RuleData(TypedDict):
    """A condition as the policy has it."""

    name: str
    segment: str | None
    level: float
    alpha: float | None


class PolicyData(TypedDict):
    """The policy that was given."""

    delta: float
    rules: list[RuleData]


class DecisionData(TypedDict):
    """A decision on a release."""

    schema: Literal["surefoot/decision/2"]
    decision: ReleaseDecision
    exit_code: Literal[0, 1, 3]
    measure: str
    baseline: str
    candidate: str
    queries: Annotated[int, ("minimum", 1)]
    delta: Annotated[float, "The level that p_holds is compared with, after the ledger's correction."]
    delta_fails: Annotated[float, "delta over the number of conditions: the level that p_fails is compared with."]
    conditions: Annotated[list[ConditionData], ("minItems", 1)]
    queries_needed: Annotated[
        int | None,
        "Where undecided: about how many judged queries in all would decide, in 80 % of resamples; null otherwise, or "
        "where even 10,000, or twice as many as are judged, would not.",
    ]
    ledger: LedgerData | None
    budget: BudgetData | None
    strata: list[StratumData] | None
    drawn: DrawnData | None
    automatic: NotRequired[AutomaticDecisionData | None]
    policy: PolicyData
    missing: Annotated[dict[str, int], "Judged queries that each system returned nothing for; they score 0."]
    dropped: Annotated[int, "Judged queries that were left out, since a run lacks them."]
    nothing_to_lose: NothingToLoseData
    hurt: Annotated[list[HurtData], "The queries hurt most, the worst first."]
    losses: Annotated[int, "How many queries are hurt at all."]
    per_query: PerQueryData


def from_version_1(data: Json) -> Json:
    """The plain data of a decision as version 1 wrote it, with the keys of today."""
    ledger, names = data["ledger"], {"again": "repeated", "delta_asked": "delta_requested"}
    return data | {
        "schema": SCHEMA,
        "conditions": [_renamed(condition, {"found": "status"}) for condition in data["conditions"]],
        "ledger": None if ledger is None else _renamed(ledger, names),
    }


def _renamed(data: Json, names: dict[str, str]) -> Json:
    return {names.get(key, key): value for key, value in data.items()}


def decision_schema(*, strict: bool = False) -> dict[str, Any]:
    """The schema of `Decision.to_dict`; a strict one takes no keys that the types do not have."""
    return schema_of(
        "surefoot decision",
        "Whether to ship a candidate: ship where every condition's p_holds is at most delta, stop where any p_fails is "
        "at most delta_fails, undecided otherwise.",
        (DecisionData,),
        strict=strict,
    )


if __name__ == "__main__":
    print(json.dumps(decision_schema(), indent=2, ensure_ascii=False))
