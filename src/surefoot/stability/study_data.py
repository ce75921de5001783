"""Studies of stability as plain data: the types of their JSON, and what studies take by default."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from surefoot.risk.assessment_data import Count, Interval, Json, NotNegative, TrafficData

Least1: TypeAlias = Annotated[int, ("minimum", 1)]
FunctionPair: TypeAlias = Annotated[list[float], ("minItems", 2), ("maxItems", 2), "One of each of the two functions."]
TwoNames: TypeAlias = Annotated[list[str], ("minItems", 2), ("maxItems", 2)]


class Spread(TypedDict):
    """A measure under noise, a value for each size of it."""

    mean: list[float]
    deviation: list[float]
    low: list[float]
    high: list[float]
    deviation_over_first: Annotated[float | None, "The deviation over all sizes beside the first measure's."]


class NoisySystem(TypedDict):
    """A run under noise."""

    system: str
    measures: dict[str, Spread]


class Trace(TypedDict):
    """One query of the first run under a single growing noise."""

    system: str
    query: str
    sizes: list[float]
    values: dict[str, list[float]]
    largest_jump: dict[str, float]


class NoiseData(TypedDict):
    """Mean and spread of each measure as noise is added to scores."""

    schema: Literal["surefoot/stability-noise/1"]
    measures: list[str]
    normalize: str
    queries: Count
    traffic: NotRequired[TrafficData]
    sizes: Annotated[list[NotNegative], "Standard deviations of the noise."]
    repeats: Least1
    seed: Count
    systems: list[NoisySystem]
    trace: Trace


class Picks(TypedDict):
    """Which of two functions a measure picks, a value for each size of subsets or each period."""

    means: FunctionPair
    winner: str
    rate: Annotated[list[float], "The share of subsets on which the winner is picked."]
    variance: Annotated[list[float], "rate · (1 − rate)."]


class PeriodPicks(Picks):
    """The same by periods of time."""

    difference: Annotated[list[float], "Of the two functions' means in each period."]


class SubsetsData(TypedDict):
    """Which of two functions each measure picks on random subsets of queries."""

    schema: Literal["surefoot/stability-subsets/1"]
    measures: list[str]
    systems: TwoNames
    queries: Count
    traffic: NotRequired[TrafficData]
    sizes: list[Least1]
    subsets: Least1
    seed: Count
    results: dict[str, Picks]


class Period(TypedDict):
    """A period of time."""

    period: str
    queries: Count


class TimeData(TypedDict):
    """Which of two functions each measure picks in each period of time."""

    schema: Literal["surefoot/stability-time/1"]
    measures: list[str]
    systems: TwoNames
    queries: Count
    traffic: NotRequired[TrafficData]
    undated: Count
    period: Literal["day", "week", "month"]
    periods: list[Period]
    left_out: Annotated[list[Period], "Those of fewer queries than a subset."]
    size: Least1
    subsets: Least1
    seed: Count
    results: dict[str, PeriodPicks]


class RankedFunction(TypedDict):
    """A function as a measure ranks it."""

    system: str
    rank: Least1
    mean: float
    interval: Interval
    share_best: Annotated[float, "The share of resamples in which it is best."]


class PartingQuery(TypedDict):
    """A query on which two measures part."""

    query: str
    by_first: FunctionPair
    by_other: FunctionPair


class Disagreement(TypedDict):
    """A pair of functions that two measures order differently, or the two best, with `reversed` false."""

    measure: str
    against: str
    reversed: bool
    better_by_first: str
    better_by_other: str
    systems: TwoNames
    difference_by_first: float
    difference_by_other: float
    queries_reversed: Count
    queries_tied_by_first_only: Count
    queries: list[PartingQuery]


class FunctionsData(TypedDict):
    """How each measure ranks functions, and where measures disagree."""

    schema: Literal["surefoot/stability-functions/1"]
    measures: list[str]
    systems: list[str]
    queries: Count
    traffic: NotRequired[TrafficData]
    replicates: Annotated[int, ("minimum", 2)]
    seed: Count
    results: dict[str, list[RankedFunction]]
    disagreements: list[Disagreement]


def kind(data: Json) -> str:
    """Which study the data is of: noise, subsets, time or functions."""
    return str(data["schema"]).split("-", 1)[1].split("/", 1)[0]


MEASURES = ("nDCG@5", "rNDCG@5", "SoftNDCG@5")
NOISE_SIZES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)  # standard deviations
REPEATS = 10  # seeds for each size of noise
SUBSET_SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)  # as far as there are queries, and then all
SUBSETS = 1000
PERIOD = "day"
PERIOD_SIZE = 50  # queries in a subset of a period's: the paper's
REPLICATES = 1000
MOST_QUERIES_LISTED = 10  # queries listed where measures disagree
