"""What was judged, and how it stands for traffic, as plain data: of decisions, certificates and records.

The types alone, which need no library: the schemas of the package are made from them where it is built.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from surefoot.risk.assessment_data import Count, NotNegative

LossName: TypeAlias = Annotated[str, ("enum", ["risk", "share_hurt"])]
ConditionName: TypeAlias = Annotated[str, ("enum", ["risk", "share_hurt", "gain", "u_risk"])]
Method = Literal["betting", "binomial", "anytime", "stratified"]
ToProve = Literal["risk", "gain"]
Sha256: TypeAlias = Annotated[str, ("pattern", "[0-9a-f]{64}")]


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


class UnansweredData(TypedDict):
    """How many judged queries there are on which nothing can be lost, and what became of them."""

    treatment: Literal["leave-out", "count"]
    left_out: Annotated[Count, "Of the queries without an answer or a relevant document."]
    no_answer: Annotated[Count, "Neither system shows anything."]
    no_relevant: Annotated[Count, "No document is judged relevant, though a system shows some."]
    both_zero: Annotated[Count, "Without judgments at hand: both systems score 0. These always count."]


class DrawnTraffic(TypedDict):
    """How often the queries are asked: a hash of all counts, their sum, and how many of the runs' queries have none."""

    sha256: Sha256
    total: Annotated[float, ("exclusiveMinimum", 0)]
    left_out: Annotated[int, ("minimum", 0)]


class StratumData(TypedDict):
    """A stratum's share of traffic, and how many of its queries were judged."""

    stratum: str
    share: float
    queries: Count


class SampleData(TypedDict):
    """A plain random sample, draws by what queries could lose, or a sample of each stratum."""

    kind: Literal["plain", "draws", "strata"]
    to_prove: NotRequired[Annotated[ToProve, "What the queries were drawn for."]]
    draws: NotRequired[Annotated[Count, "A query that was drawn twice counts twice."]]
    people_queries: NotRequired[Annotated[Count, "Queries that people judged for these draws, each once."]]
    could_lose_mean: NotRequired[Annotated[NotNegative, "What a query could lose, on average over all."]]
    drawn_from: NotRequired[Annotated[Count, "Queries that were drawn from, each once."]]
    by_traffic: NotRequired[Annotated[DrawnTraffic, "Where queries were drawn by how often they are asked, too."]]
    unjudged_documents: NotRequired[
        Annotated[Count | None, "Documents that a list shows for a drawn query of this batch, and nobody judged."]
    ]
    strata: NotRequired[list[StratumData]]
