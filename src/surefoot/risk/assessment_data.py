"""An assessment as plain data: the types of its JSON.

Absent figures are None, with the reason beside them. A text in `Annotated` describes a value, a pair bounds it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

from surefoot.significance import CONFIDENCE_PERCENT, SIGNIFICANCE

SCHEMA: Literal["surefoot/assessment/1"] = "surefoot/assessment/1"

Json: TypeAlias = dict[str, Any]  # plain data without a type of its own
Count: TypeAlias = Annotated[int, ("minimum", 0)]
NotNegative: TypeAlias = Annotated[float, ("minimum", 0)]
Interval: TypeAlias = Annotated[list[float], ("minItems", 2), ("maxItems", 2)]
Outcome: TypeAlias = Literal["better", "worse", "same", "unclear"]


class Ranks(TypedDict):
    """A system's ranks at α."""

    u_risk: int | None
    t_risk: int | None
    z_risk: int | None
    geo_risk: int | None


class Reasons(TypedDict):
    """Why figures are absent; null where they are there."""

    t_risk: Annotated[str | None, "Of T_Risk and its p-values."]
    z_risk: Annotated[str | None, "Of Z_Risk and GeoRisk."]


class AtAlpha(TypedDict):
    """A system's figures at one α."""

    u_risk: float
    t_risk: float | None
    p_value: Annotated[float | None, "Two-sided p of T_Risk by Student's t, as published; not calibrated above α = 0."]
    df: int
    se: float | None
    se_jackknife: float | None
    trusted: Annotated[bool | None, "Whether the two standard errors agree; null with traffic, where they need not."]
    t_skewness: Annotated[float | None, "T_Risk corrected for the skewness of the weighted differences (Hall 1992)."]
    p_skewness: Annotated[float | None, "Two-sided p of t_skewness; null against several baselines."]
    u_risk_interval: Annotated[
        Interval | None,
        f"{CONFIDENCE_PERCENT}, by the same correction, with traffic by t_traffic; null against several baselines, and "
        "where one query has nearly all of the traffic.",
    ]
    t_robust: Annotated[
        float | None, "t_skewness as one more query as bad as the worst (as good as the best) would leave it."
    ]
    p_robust: Annotated[float | None, "Two-sided p of t_robust; never below p_skewness."]
    t_traffic: NotRequired[
        Annotated[
            float | None,
            "With traffic: t_risk as one more query as bad as the worst (as good as the best), asked as often as a "
            "typical request's query, would leave it.",
        ]
    ]
    p_traffic: NotRequired[Annotated[float | None, "Two-sided p of t_traffic, with df_traffic degrees of freedom."]]
    df_traffic: NotRequired[Annotated[float | None, "Effective queries − 1."]]
    p_holm: Annotated[
        float | None,
        "p_robust (with traffic the larger of it and p_traffic) corrected for the number of systems (Holm); outcome "
        "goes by it.",
    ]
    outcome: Annotated[
        Outcome | None,
        f"Better or worse than the baseline at α, by p_holm < {SIGNIFICANCE:g}; the same where no query differs; null "
        "for the baseline itself, and where there is no test.",
    ]
    outcome_without_extra_query: Annotated[
        Outcome | None,
        "The same by p_skewness (with traffic the larger of it and the p of t_risk with df_traffic degrees): where it "
        "differs from outcome, one more query would change it.",
    ]
    z_risk: float | None
    geo_risk: float | None
    reasons: Annotated[Reasons, "Why figures are absent."]
    rank: Ranks
    u_risk_bootstrap: NotRequired[Interval | None]
    z_risk_interval: NotRequired[Interval | None]
    geo_risk_interval: NotRequired[Interval | None]


class OutcomeFrom(TypedDict):
    """An outcome, and the α from which it holds."""

    alpha: float
    outcome: Outcome


class Bin(TypedDict):
    """Queries whose rankings moved by a Kendall distance, and what that gained and lost."""

    distance: Interval
    queries: Count
    reward: NotNegative
    risk: NotNegative


class ChurnData(TypedDict):
    """How far a system's rankings moved from the baseline's."""

    depth: int | None
    share_reranked: float
    mean_tau: float | None
    mean_tau_reranked: float | None
    gain_per_reranked: float | None
    left_out: Count
    bins: list[Bin]


class OrdinaryTest(TypedDict):
    """One of the usual tests of a system against the baseline, two-sided, of plain differences."""

    statistic: float
    p_value: float
    p_holm: NotRequired[Annotated[float | None, "p_value corrected for the number of systems (Holm)."]]
    exact: NotRequired[Annotated[bool, "Whether all signs were counted; else an approximation, or draws."]]


class OrdinaryTests(TypedDict):
    """The usual tests of a system against the baseline; null where one cannot be made."""

    t: Annotated[OrdinaryTest | None, "The paired t-test (Student)."]
    wilcoxon: Annotated[OrdinaryTest | None, "Wilcoxon's signed-rank test, zeros by Pratt; the statistic is W+."]
    randomisation: Annotated[OrdinaryTest | None, "Fisher's randomisation test of the mean difference."]
    hsd: Annotated[OrdinaryTest | None, "Tukey's HSD over all pairs of systems, by itself corrected for all of them."]


class TestSettings(TypedDict):
    """How the usual tests were made."""

    draws: Annotated[int, "Draws of signs, where there are too many queries to count all."]
    seed: int
    hsd: Literal["studentized range", "randomised"]
    hsd_draws: int | None
    hsd_systems: int
    hsd_reason: Annotated[str | None, "Why there is no HSD."]


class TrafficShares(TypedDict):
    """Which part of the traffic a system helps and hurts; means over baselines where there are several."""

    wins: NotNegative
    losses: NotNegative
    ties: NotNegative
    loss_over_20: NotNegative


class EachOnce(TypedDict):
    """A system's figures with every query counted once."""

    gain: float
    mean: float
    reward: NotNegative
    risk: NotNegative


class TrafficData(TypedDict):
    """How often the queries are asked."""

    queries: Annotated[int, ("minimum", 1)]
    effective_queries: Annotated[
        float, ("minimum", 0), "As many queries that are asked equally often tell as much: (Σn)²/Σn²."
    ]
    largest_share: Annotated[float, "Of the traffic of these queries, to the one that is asked most."]
    left_out: Annotated[Count, "Judged queries that have no traffic, and do not count."]
    traffic_share: Annotated[float, "Of all traffic given, to these queries."]
    equal: Annotated[bool, "Whether all counts are equal: then they change no figure."]


class SystemData(TypedDict):
    """A system's figures; counts are means over baselines where there are several."""

    system: str
    is_baseline: bool
    rank: Annotated[int, ("minimum", 1), "By mean."]
    mean: float
    geometric_mean: float
    reward: NotNegative
    risk: NotNegative
    gain: float
    wins: NotNegative
    losses: NotNegative
    ties: NotNegative
    loss_over_20: NotNegative
    reward_over_risk: float | None
    risk_over_reward: float | None
    wins_over_losses: float | None
    losses_over_wins: float | None
    worst_mean: float
    alpha: dict[str, AtAlpha]
    outcome_by_alpha: Annotated[
        list[OutcomeFrom] | None, "From α = 0 on, each α at which another outcome begins; null where there is no test."
    ]
    churn: NotRequired[ChurnData]
    tests: NotRequired[OrdinaryTests]
    traffic_shares: NotRequired[Annotated[TrafficShares, "With traffic."]]
    each_once: NotRequired[Annotated[EachOnce, "With traffic."]]


class SegmentData(TypedDict):
    """The systems on the queries of one segment."""

    segment: str
    queries: Annotated[int, ("minimum", 1)]
    effective_queries: NotRequired[float]
    traffic_share: NotRequired[Annotated[float, "Of the traffic of all assessed queries, to those of this segment."]]
    systems: list[SystemData]


class SegmentColumn(TypedDict):
    """The segments of one column, the largest first."""

    column: str
    unassigned: Count
    segments: list[SegmentData]


class Bootstrap(TypedDict):
    """How intervals were resampled."""

    replicates: Annotated[int, ("minimum", 2)]
    seed: int
    confidence: float


class GSquared(TypedDict):
    """How far the systems' profiles over queries differ."""

    value: float
    df: int
    p_value: float | None
    reason: str | None


class QueryAtAlpha(TypedDict):
    """A system's T_R and T_J on each query at one α."""

    t_r: list[float] | None
    t_j: list[float] | None
    significant: list[bool] | None


class QueryFigures(TypedDict):
    """A system's figures on each query."""

    score: list[float]
    difference: list[float] | None
    expected: list[float] | None
    z: list[float] | None
    alpha: dict[str, QueryAtAlpha]


class PerQuery(TypedDict):
    """Each query's figures."""

    queries: list[str]
    baseline: list[float] | None
    counts: NotRequired[Annotated[list[float], "How often each query is asked."]]
    systems: dict[str, QueryFigures]
    segments: NotRequired[
        Annotated[
            dict[str, list[str | None]],
            "For each column of segments the segment of each query; null where it has none.",
        ]
    ]


class JudgmentsData(TypedDict):
    """Who made the judgments, as far as their file says."""

    made_by: Literal["people", "machine", "people and machine"] | None
    judges: list[str]
    rated_by_several: Annotated[Count, "Documents that several judges rated."]
    differ: Annotated[Count, "Of these, to which not all judges gave the same grade."]


class SystemHolesData(TypedDict):
    """What filling holes changed for one system."""

    system: str
    holes: Annotated[Count, "Documents that it shows, down to the cut-off, and that people did not judge."]
    judged: Annotated[Count, "Of these, that the automatic judge judged."]
    mean_without: float
    mean_with: float
    p_value: Annotated[float | None, "Of a paired t-test: filling changes this system as it changes the baseline."]


class AutomaticHolesData(TypedDict):
    """Holes in people's judgments that an automatic judge filled."""

    judge: str
    systems: list[SystemHolesData]
    favours: Annotated[list[str], "Systems that filling raises above the baseline, with p below 0.05."]


class AssessmentData(TypedDict):
    """What systems gain and risk against a baseline, by one measure."""

    schema: Literal["surefoot/assessment/1"]
    measure: str
    baseline: str | Annotated[list[str], ("minItems", 1)]
    population: Annotated[list[str], ("minItems", 1)]
    queries: Annotated[int, ("minimum", 1)]
    missing: Annotated[dict[str, Count], "Judged queries that each system lacks; they count 0 unless dropped."]
    dropped: Annotated[Count, "Judged queries left out because some system lacks them."]
    no_relevant: int | None
    tie_rule: str | None
    alphas: Annotated[list[NotNegative], ("minItems", 1)]
    critical_value: float | None
    worst_share: Annotated[float, ("exclusiveMinimum", 0), ("maximum", 1)]
    bootstrap: Bootstrap | None
    score_range: Interval
    g_squared: GSquared | None
    systems: list[SystemData]
    agreement: Annotated[
        dict[str, dict[str, float | None]],
        "At each α, Kendall's τ_b between the orders of the systems by two figures, such as mean~u_risk.",
    ]
    segments: list[SegmentColumn]
    per_query: NotRequired[PerQuery]
    traffic: NotRequired[Annotated[TrafficData, "Where queries count as often as they are asked."]]
    judgments: NotRequired[JudgmentsData]
    automatic: NotRequired[AutomaticHolesData]
    tests: NotRequired[TestSettings]


class SeveralMeasures(TypedDict):
    """An assessment by several measures, the leading one first."""

    schema: Literal["surefoot/assessment/1"]
    measures: Annotated[list[AssessmentData], ("minItems", 2)]
