"""A certificate as plain data: the types of its JSON."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from surefoot.decide.evidence.evidence_data import LossName, SampleData, UnansweredData
from surefoot.risk.assessment_data import Count, NotNegative

SCHEMA: Literal["surefoot/certificate/1"] = "surefoot/certificate/1"
Share: TypeAlias = Annotated[float, ("minimum", 0), ("maximum", 1)]
ANYTIME = "anytime betting"  # the method of thresholds that open batch by batch
MethodName: TypeAlias = Annotated[str, ("enum", ["betting", "binomial", ANYTIME])]


class BoundedLoss(TypedDict):
    """A condition on what may be lost, and what is proved of it."""

    name: LossName
    level: Share
    observed: Annotated[float, "What the judged queries lost, with the threshold that was taken."]
    bound: Annotated[float, "What is proved: the level, or 0 where nothing but the baseline is shown."]


class Figures(TypedDict):
    """What the judged queries said of a way to show lists, over all of them."""

    share_shown: Annotated[Share, "The share of queries that get the candidate's list."]
    risk: NotNegative
    share_hurt: Share
    gain: float


class DrawnUnit(TypedDict):
    """What was drawn at random where lists are not independent: one list of each unit."""

    name: Annotated[str, "Such as user."]
    drawn: Annotated[Count, "Units, each with one list."]
    left_out: Annotated[Count, "Their other lists."]
    seed: int


class CurvePoint(TypedDict):
    """What another level would have kept; it certifies nothing."""

    level: Annotated[dict[str, float], "Of each condition."]
    gain: float
    gain_kept: float | None
    share_shown: Share


class ThresholdPoint(TypedDict):
    """What the judged queries said of one threshold; only the chosen one is certified."""

    threshold: float
    share_shown: Share
    gain: float
    observed: Annotated[dict[str, float], "The figure of each condition."]
    bound: Annotated[dict[str, float | None], "What is proved of each, taken alone; null where nothing is."]


class CertificateRecordData(TypedDict):
    """The record's question that a calibration was."""

    question: Annotated[int, ("minimum", 1)]
    number: Annotated[int, ("minimum", 1), "Which of those that share queries or a candidate."]
    delta_requested: Annotated[float, "delta is what the record leaves of it."]
    sha256: Annotated[str, "Of the record up to this question."]


class CertificateData(TypedDict):
    """What a guard proves, how, and of what."""

    schema: Literal["surefoot/certificate/1"]
    candidate: str
    baseline: str
    measure: str
    conditions: Annotated[list[BoundedLoss], ("minItems", 1)]
    delta: Share
    method: MethodName
    budget: Annotated[int | None, "Of the anytime form: about how many queries will be judged at most."]
    scorer: str
    blend: float | None
    threshold: Annotated[float | None, "The least score at which the candidate is shown; null: nowhere."]
    thresholds_proved: Annotated[Count, "Of those that were tried."]
    thresholds_tried: Count
    queries: Annotated[Count, "Judged queries, draws counted each time."]
    unanswered: UnansweredData
    least_queries: Annotated[int | None, "The fewest with which anything can be proved."]
    guarded: Annotated[Figures, "The candidate shown from the threshold on."]
    unguarded: Annotated[Figures, "The candidate shown everywhere."]
    gain_kept: Annotated[float | None, "Of the candidate's gain unguarded; null where that is not above 0."]
    largest_loss: Annotated[float, "What a loss can be at most, B."]
    sample: SampleData
    unit: NotRequired[DrawnUnit]
    queries_sha256: Annotated[str, "Of the set of judged queries."]
    record: CertificateRecordData | None
    training_known: Annotated[bool, "Whether the model says on which queries it was trained."]
    assumptions: list[str]
    reason: Annotated[str | None, "Why nothing but the baseline is shown."]
    sentence: str
    curve: list[CurvePoint]
    thresholds: list[ThresholdPoint]
    sha256: Annotated[str, "Of all else in this certificate."]
