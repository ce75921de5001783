"""A certificate as plain data: the types of its JSON."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from surefoot.decide.evidence.nothing_to_lose import NothingToLoseData
from surefoot.decide.gate.decision_data import StratumData
from surefoot.risk.plain_data import Count, NotNegative

SCHEMA: Literal["surefoot/certificate/1"] = "surefoot/certificate/1"
Share: TypeAlias = Annotated[float, ("minimum", 0), ("maximum", 1)]
LossName: TypeAlias = Literal["risk", "share_hurt"]
MethodName: TypeAlias = Literal["betting", "binomial", "hoeffding-bentkus", "crc", "anytime betting"]


class Held(TypedDict):
    """What one loss was held to."""

    loss: LossName
    level: Share
    observed: Annotated[float, "What the judged queries lost, with the threshold that was taken."]
    bound: Annotated[float, "What is proved: the level, or 0 where nothing but the baseline is shown."]


class Figures(TypedDict):
    """What the judged queries said of a way to show lists, over all of them."""

    share_shown: Annotated[Share, "The share of queries that get the candidate's list."]
    risk: NotNegative
    share_hurt: Share
    gain: float


class Weights(TypedDict):
    """How the judged queries stand for traffic: drawn plainly, in proportion to what they could lose, or in strata."""

    kind: Literal["plain", "drawn", "strata"]
    draws: Annotated[Count, "Draws, a query that was drawn twice counted twice."]
    mean_weight: float | None
    strata: list[StratumData]


class CurvePoint(TypedDict):
    """What another level would have kept; it certifies nothing."""

    level: Annotated[list[float], "Of each loss."]
    gain: float
    gain_kept: float | None
    share_shown: Share


class CertificateData(TypedDict):
    """What a controller proves, how, and of what."""

    schema: Literal["surefoot/certificate/1"]
    candidate: str
    baseline: str
    measure: str
    loss: LossName
    level: Share
    observed: float
    bound: float
    also: Annotated[list[Held], "Further losses that are held at once."]
    delta: Share
    method: MethodName
    budget: Annotated[int | None, "Of the anytime form: about how many queries will be judged at most."]
    gate: str
    blend: float | None
    movement_cap: int | None
    threshold: Annotated[float | None, "The least gate score at which the candidate is shown; null: nowhere."]
    certified: Annotated[Count, "How many thresholds passed, of those tried."]
    tried: Count
    n: Annotated[Count, "Judged queries, draws counted each time."]
    nothing_to_lose: NotRequired[NothingToLoseData]  # which files of version 0.1 lack
    least_n: Annotated[int | None, "The fewest with which anything can be proved."]
    shown: Figures
    whole: Annotated[Figures, "The candidate shown everywhere."]
    gain_kept: Annotated[float | None, "Of the candidate's whole gain; null where that is not above 0."]
    largest_loss: Annotated[float, "What a loss can be at most, B."]
    weights: Weights
    drift: Annotated[float, "How many times as frequent a query may become."]
    queries_sha256: Annotated[str, "Of the set of judged queries."]
    uses: Annotated[int, "How often this set was used to decide, this time included."]
    training_known: Annotated[bool, "Whether the model says on which queries it was trained."]
    assumptions: list[str]
    reason: Annotated[str | None, "Why nothing but the baseline is shown."]
    sentence: str
    curve: list[CurvePoint]
    sha256: Annotated[str, "Of all else in this certificate."]
