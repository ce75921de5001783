"""A sweep's result as plain data: the types of its JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

from surefoot.risk.assessment_data import Count, EachOnce, NotNegative, TrafficData, TrafficShares

SCHEMA: Literal["surefoot/sweep/1"] = "surefoot/sweep/1"

Pair: TypeAlias = Annotated[list[float], ("minItems", 2), ("maxItems", 2), "Risk and gain."]
Ends: TypeAlias = Annotated[list[float], ("minItems", 2), ("maxItems", 2)]
ByAlpha: TypeAlias = Annotated[dict[str, float | None], "By format(α, 'g')."]
Kind: TypeAlias = Literal["model", "mean of seeds", "blended", "selective", "random", "mixture"]


class StandardErrors(TypedDict):
    """Over queries; null for a single query."""

    gain: float | None
    risk: float | None


class PointIntervals(TypedDict):
    """95 % intervals over resampled queries, lower and upper ends."""

    mean: Ends
    gain: Ends
    risk: Ends


class FoldFigures(TypedDict):
    """A candidate against the first baseline on the queries of one fold; means over seeds."""

    mean: float
    queries: Count
    reward: NotNegative
    risk: NotNegative
    gain: float
    wins: NotNegative
    losses: NotNegative
    ties: float
    loss_over_20: NotNegative
    reward_over_risk: float | None
    risk_over_reward: float | None
    wins_over_losses: float | None
    losses_over_wins: float | None
    worst_mean: float | None
    geo_risk: NotRequired[
        Annotated[ByAlpha, "Where there are several baselines and queries count the same; null for a mixture."]
    ]
    share_reranked: NotRequired[Annotated[float, "Absent for a mixture, which gives two rankings by chance."]]
    weight: NotRequired[Annotated[float, "With traffic: how often these queries are asked in all."]]
    area: NotRequired[Annotated[float, "Under gain by share re-ranked; absent where more is re-ranked than by gain."]]
    standard_error: NotRequired[StandardErrors]


class DistanceBins(TypedDict):
    """Queries by the Kendall distance of their rankings to the baseline's, the nearest first."""

    share: list[float]
    reward: list[float]
    risk: list[float]


class SeedDeviation(TypedDict):
    """Standard deviations over seeds."""

    mean: float
    risk: float


class PartFigures(FoldFigures):
    """A candidate against the first baseline on all validation or all test queries; means over seeds."""

    measures: Annotated[dict[str, float], "The mean of each measure."]
    u_risk: ByAlpha
    traffic_shares: NotRequired[Annotated[TrafficShares, "Absent without traffic, and for a choice by chance."]]
    each_once: NotRequired[EachOnce]
    bins: NotRequired[DistanceBins]
    deviation: NotRequired[SeedDeviation]
    interval: NotRequired[PointIntervals]
    p_baseline: Annotated[float | None, "Of a paired test with the baseline, after Holm."]
    p_gain: NotRequired[Annotated[float | None, "The same with the gain-only model."]]


class FoldParts(TypedDict):
    """The figures of one fold."""

    valid: FoldFigures
    test: FoldFigures
    cross_validation: NotRequired[
        Annotated[FoldFigures, "On the training queries, each scored by a model that did not learn from it."]
    ]
    first_seed: NotRequired[Annotated[FoldFigures, "On test queries, of the first of several seeds: the saved model."]]


class MadeOf(TypedDict):
    """The models that a ranking is made of, and how."""

    setting: str
    seeds: Annotated[list[int], "One, or all where the model is their mean; with others, figures are means over all."]
    weight: NotRequired[Annotated[float, "Of the model in a blend with the first baseline."]]
    thresholds: NotRequired[Annotated[dict[str, float], "Of the aggregate, by fold, up to which the model is used."]]


class Convergence(TypedDict):
    """How fast a model learns; means over folds and seeds."""

    trees: Annotated[float, "Trees to 95 % of the final training effectiveness."]
    effectiveness: Annotated[list[float], "Training effectiveness after each tree."]


class CandidateRow(TypedDict):
    """A trained model, or what is made of trained models without training."""

    name: str
    kind: Kind
    objective: str
    alpha: float | None
    seeds: Annotated[int, ("minimum", 1)]
    parameters: Annotated[dict[str, dict[str, Any]], "The parameters of each fold's model."]
    valid: PartFigures
    test: PartFigures
    folds: dict[str, FoldParts]
    per_query: Annotated[list[float], "The leading measure of each test query, in the order of `names`."]
    convergence: NotRequired[Convergence]
    made_of: NotRequired[Annotated[MadeOf, "Absent for what gives two rankings by chance."]]


class BaselineFigures(TypedDict):
    """A baseline's own means."""

    mean: float
    measures: dict[str, float]


class BaselineRow(TypedDict):
    """A baseline; the first is the one that candidates are compared with."""

    name: str
    valid: BaselineFigures
    test: BaselineFigures
    per_query: list[float]


class SelectivePoint(TypedDict):
    """Selective re-ranking up to a threshold of the aggregate."""

    share: Annotated[float, "The threshold as the share of the fold's queries at or below it."]
    risk: NotNegative
    gain: float


class Curves(TypedDict):
    """The lines of the plane of risk and gain."""

    lines: Annotated[dict[str, list[Pair]], "For each objective: gain alone, its models by α, the baseline."]
    hull: Annotated[list[Pair], "What mixtures of models reach."]
    proportional: Annotated[list[Pair] | None, "From the baseline to the gain-only model."]
    selective: list[SelectivePoint]
    undominated: Annotated[list[str], "Candidates that no other one beats in both."]


class CurvesByPart(TypedDict):
    """The curves of each part of the data."""

    valid: Curves
    test: Curves


class QueryCounts(TypedDict):
    """Queries in all folds together."""

    valid: Count
    test: Count


class FailureData(TypedDict):
    """A training that could not be done."""

    name: str
    message: str


class Finding(TypedDict):
    """A question of the papers, and what the sweep says about it."""

    question: str
    answer: str
    about: NotRequired[Literal["reduction", "convergence", "distance", "both"]]
    holds: NotRequired[Literal["yes", "in part", "no"]]


class KeptShares(TypedDict):
    """Gain and risk, also as shares of the gain-only model's; null where that has none."""

    gain: float
    risk: NotNegative
    share_of_gain: float | None
    share_of_risk: float | None


class FoldChoices(TypedDict):
    """What the rule takes on each fold's own validation queries, and what that comes to on all test queries."""

    chosen: Annotated[dict[str, str], "The candidate of each fold."]
    test: KeptShares


class StrategyShares(TypedDict):
    """What is made of the gain-only model and has less risk by the same rule."""

    name: str
    valid: KeptShares
    test: KeptShares


class RecommendedCandidate(TypedDict):
    """The model to choose: taken on validation queries, judged on test queries."""

    choice: Literal["take", "keep", "unclear"]
    name: Annotated[str | None, "The model that the rule takes; null where none gains on validation queries."]
    rule: Annotated[str, "In words."]
    valid: NotRequired[KeptShares]
    test: NotRequired[KeptShares]
    p_baseline: NotRequired[float | None]
    by_fold: NotRequired[Annotated[FoldChoices | None, "Null where no model gains on some fold."]]
    strategy: NotRequired[StrategyShares | None]


class TradeOffsData(TypedDict):
    """What every candidate of a sweep risks and gains on validation and test data."""

    schema: Literal["surefoot/sweep/1"]
    origin: Annotated[str, "A hash of the sweep's settings."]
    measure: str
    measures: Annotated[list[str], "The measure that was optimised, and nDCG(exp) at 1 and 10."]
    baselines: Annotated[list[BaselineRow], ("minItems", 1)]
    folds: list[str]
    seeds: list[int]
    alphas: list[float]
    queries: QueryCounts
    names: Annotated[list[str], "The test queries."]
    traffic: NotRequired[Annotated[TrafficData, "How often the test queries are asked: figures are weighted by it."]]
    traffic_sha256: NotRequired[Annotated[str, "Of the traffic by which queries count."]]
    counts: NotRequired[Annotated[list[float], "How often each test query is asked, in the order of `names`."]]
    tie_rule: str
    rule: Annotated[str, "How parameters were found."]
    selective: Annotated[str | None, "The aggregate of selective re-ranking."]
    inner_folds: NotRequired[Annotated[int, "Of the training queries, for cross-validation; 0 where there is none."]]
    round_name: NotRequired[
        Annotated[Literal["trees", "epochs"], "What training counts: trees, or a network's epochs."]
    ]
    last_alpha: Annotated[float | None, "Gain over risk of the gain-only model on training data; null where infinite."]
    rows: list[CandidateRow]
    curves: CurvesByPart
    left_out: Annotated[list[str], "Settings that were not trained on every fold."]
    failures: list[FailureData]
    failed_trials: list[FailureData]
    answers: list[Finding]
    recommendation: RecommendedCandidate
