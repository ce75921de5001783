"""A personalization as plain data: the types of its JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

from surefoot.risk.assessment_data import Count, NotNegative

SCHEMA: Literal["surefoot/personalization/1"] = "surefoot/personalization/1"

SharePoint: TypeAlias = Annotated[list[float], ("minItems", 2), ("maxItems", 2), "Share re-ranked and gain."]


class RerankingFigures(TypedDict):
    """A ranking against the shown order."""

    mean: float
    gain: float
    reward: NotNegative
    risk: NotNegative
    wins: NotNegative
    losses: NotNegative
    share_reranked: NotNegative
    tau: Annotated[float | None, "Kendall's τ with the shown order, the mean of all lists."]
    tau_reranked: Annotated[float | None, "The same of the lists whose order changed."]
    gain_per_reranked: float | None


class JudgedFigures(RerankingFigures):
    """A ranking against the shown order and the standard model, on validation or test lists."""

    share_of_gain: Annotated[float | None, "Of the standard model's."]
    share_of_risk: Annotated[float | None, "Of the standard model's."]
    area: Annotated[float | None, "Under gain by share re-ranked; null where more is re-ranked than by the standard."]
    p: NotRequired[Annotated[float | None, "Of a paired test with the shown order, after Holm; on test lists."]]


class SegmentFigures(RerankingFigures):
    """A ranking on the lists of one segment."""

    lists: Count


class ModelRow(TypedDict):
    """A trained model: a method and its parameters."""

    method: str
    beta: float | None
    alpha: float | None
    name: str
    parameters: Annotated[str, "As tables show them."]
    features: NotRequired[Annotated[str, "The one group that it learned from: session or long-term; else all."]]
    valid: JudgedFigures
    test: JudgedFigures


class ChosenRow(ModelRow):
    """A row of the paper's Table 2."""

    label: str
    segments: NotRequired[Annotated[dict[str, dict[str, SegmentFigures]], "By column and segment, on test lists."]]


class EntropyPoint(TypedDict):
    """Selective re-ranking up to a threshold of the least entropy."""

    valid: SharePoint
    test: SharePoint


class ShownList(TypedDict):
    """A list of results: what was shown and clicked, and how each model orders it."""

    impression: str
    query: str
    documents: list[str]
    clicked: list[bool]
    grade: list[int]
    known: Annotated[list[dict[str, float]], "For each result, its features that differ within the list and are not 0."]
    orders: Annotated[dict[str, list[int]], "Each model's order, as places in the shown list."]


class SessionData(TypedDict):
    """A session to look at."""

    session: str
    lists: list[ShownList]


class LogCounts(TypedDict):
    """What was read of the log, and what was left out."""

    lists: Count
    sessions: Count
    users: Count
    queries: Count
    clicks: Count
    satisfied_lists: Count
    repeated: Count
    duplicate_lists: Count
    clicks_out_of_order: Count
    set_aside: Annotated[dict[str, Count], "Clicks, by the reason."]
    rejected: Annotated[dict[str, Count], "Lines, by the reason."]


class ListCounts(TypedDict):
    """Lists in each part of the data."""

    train: Count
    valid: Count
    test: Count


class ShownMeans(TypedDict):
    """The mean measure of the shown order."""

    valid: float
    test: float


class RecommendedReranker(TypedDict):
    """The model to serve: taken on validation lists, judged on test lists, whose figures these are."""

    choice: Literal["take", "keep", "unclear"]
    name: Annotated[str | None, "The model that the rule takes; null where none gains on validation lists."]
    rule: Annotated[str, "In words."]
    label: NotRequired[str]
    parameters: NotRequired[str]
    model: NotRequired[Annotated[str, "Its folder, below the study's."]]
    p: NotRequired[Annotated[float | None, "Of a paired test with the shown order, after Holm."]]
    gain: NotRequired[float]
    risk: NotRequired[NotNegative]
    share_reranked: NotRequired[NotNegative]
    share_of_gain: NotRequired[Annotated[float | None, "Of the standard model's."]]
    share_of_risk: NotRequired[Annotated[float | None, "Of the standard model's."]]


class PositionBias(TypedDict):
    """How often each position is looked at, if that depends on position alone; shown, and used for nothing."""

    status: Literal["present", "not found", "cannot be estimated"]
    reason: Annotated[str | None, "Why it cannot be estimated; else null."]
    p: Annotated[list[float], "By position, as shares of the first; empty where they cannot be estimated."]
    standard_errors: Annotated[list[float], "Of ln p, by position."]
    low: Annotated[list[float], "Where the 95 % interval of each p starts."]
    high: Annotated[list[float], "Where it ends."]
    q: Annotated[float | None, "Heterogeneity of the ratios between positions."]
    df: Annotated[int | None, "Degrees of freedom of q."]
    position_alone_refuted: Annotated[bool | None, "Whether q/df is above 2; false proves nothing."]


class PersonalizationData(TypedDict):
    """What re-rankers learned from a click log gain and risk, and how often they re-rank."""

    schema: Literal["surefoot/personalization/1"]
    measure: str
    labels: Literal["satisfied", "grades", "last"]
    preset: str
    split: Literal["user", "session", "time"]
    ranker: Annotated[dict[str, Any], "The parameters of every model."]
    features: list[str]
    counts: LogCounts
    lists: ListCounts
    shown: ShownMeans
    rows: list[ModelRow]
    chosen: list[ChosenRow]
    selective: list[EntropyPoint]
    models: Annotated[dict[str, str], "The folder of each chosen model, below the study's."]
    sessions: list[SessionData]
    recommendation: RecommendedReranker
    position_bias: PositionBias
