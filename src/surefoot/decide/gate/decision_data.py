"""A decision as plain data: the types of its JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from surefoot.decide.evidence.evidence_data import ConditionName, Method, PerQueryData, SampleData, UnansweredData
from surefoot.risk.assessment_data import Count, NotNegative

SCHEMA: Literal["surefoot/decision/1"] = "surefoot/decision/1"

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
    observed: Annotated[float | None, "The figure of the judged queries; null where none was judged."]
    bound: Annotated[float, "What is proved at delta: the most that risk may be, the least that gain may be."]
    bound_fails: Annotated[float, "What is proved at delta_fails from the other side: the least that risk is."]
    p_holds: Annotated[P, "Of the hypothesis that it does not hold; at most delta, and the bound agrees: it holds."]
    p_fails: Annotated[P, "Of the hypothesis that it holds; at most delta_fails, and bound_fails agrees: it fails."]
    status: ConditionStatus
    queries: Count
    queries_needed: Annotated[int | None, "Of an open condition on a segment: as that of the decision."]
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
    people_judgments: Annotated[Count, "Documents of the draws that people judged."]
    without: WithoutJudgeData


class LookData(TypedDict):
    """One look at a question."""

    queries: Annotated[Count, "Judged by then, draws counted each time."]
    decision: ReleaseDecision


class NamedQueries(TypedDict):
    """Some queries: how many, and the first of them."""

    queries: Count
    first: list[str]


class RecordUseData(TypedDict):
    """What the record knows of the question that was decided."""

    question: Annotated[int, ("minimum", 1), "Which of the record's questions it is."]
    number: Annotated[int, ("minimum", 1), "Which of its family, which shares queries: it says what it has of δ."]
    delta_requested: Annotated[float, "The policy's δ; delta is what the question has of it."]
    spent: Annotated[float, "What all questions of the family have together."]
    looks: Annotated[list[LookData], ("minItems", 1), "All looks so far, this one last."]
    budget: Annotated[int | None, "Of the anytime form: about how many queries will be judged at most."]
    waiting: Annotated[NamedQueries, "To be judged before the next batch counts."]
    changed: Annotated[NamedQueries, "Whose scores are no longer those of an earlier look, which stay."]
    sha256: Annotated[str, "Of the record up to this look."]


class HurtData(TypedDict):
    """A query that the candidate hurts."""

    query: str
    text: str | None
    baseline: float
    candidate: float
    difference: float


class DecisionData(TypedDict):
    """A decision on a release."""

    schema: Literal["surefoot/decision/1"]
    decision: ReleaseDecision
    exit_code: Literal[0, 1, 3]
    measure: str
    baseline: str
    candidate: str
    queries: Annotated[int, ("minimum", 1), "Judged queries; of draws, each draw counted."]
    batches: Annotated[list[int], ("minItems", 1), "How many of these came together, in the order of looks or draws."]
    sampled_from: Annotated[int | None, "Distinct queries of the traffic, of which these are a random sample."]
    delta: Annotated[float, "The level that p_holds is compared with: the policy's, or what the record leaves of it."]
    delta_fails: Annotated[float, "delta over the number of conditions: the level that p_fails is compared with."]
    conditions: Annotated[list[ConditionData], ("minItems", 1)]
    queries_needed: Annotated[
        int | None,
        "Where undecided: about how many judged queries in all would decide, in 80 % of resamples; null otherwise, or "
        "where even 10,000, or twice as many as are judged, would not.",
    ]
    record: Annotated[RecordUseData | None, "Null where this look stands alone."]
    sample: SampleData
    automatic: NotRequired[AutomaticDecisionData | None]
    policy: Annotated[
        dict[str, Any], "The policy by its own keys: delta, a key for each condition, and segments with tables of them."
    ]
    missing: Annotated[dict[str, int], "Judged queries that each system returned nothing for; they score 0."]
    answered: Annotated[int | None, "Queries that either run answers; null where only scores were given."]
    dropped: Annotated[int, "Judged queries that were left out, since a run lacks them."]
    unanswered: UnansweredData
    hurt: Annotated[Count, "Queries that are hurt at all."]
    most_hurt: Annotated[list[HurtData], "Those hurt most, the worst first."]
    per_query: PerQueryData
