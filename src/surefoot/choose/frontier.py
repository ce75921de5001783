"""The plane of risk and gain: what mixtures reach, which points are worth having, and where to stop.

Points are (risk, gain) against the baseline, which is the origin. Two models mixed query by query with probability p
reach every point between theirs, so what a set of models can do is its upper convex hull (Wang et al., SIGIR 2012, §5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError


class RiskGainPoint(NamedTuple):
    """What a model risks and gains against the baseline, means over all queries."""

    risk: float
    gain: float


BASELINE_POINT = RiskGainPoint(0.0, 0.0)  # the baseline itself


def mixture_hull(points: Sequence[RiskGainPoint]) -> list[RiskGainPoint]:
    """The upper hull of the points and the baseline, by rising risk, up to the greatest gain.

    >>> mixture_hull([RiskGainPoint(1, 1), RiskGainPoint(2, 3), RiskGainPoint(3, 2), RiskGainPoint(2.5, 1)])
    [RiskGainPoint(risk=0.0, gain=0.0), RiskGainPoint(risk=2, gain=3)]
    """
    hull: list[RiskGainPoint] = []
    for point in sorted({BASELINE_POINT, *_checked(points)}, key=lambda point: (point.risk, -point.gain)):
        if hull and (point.gain <= hull[-1].gain or point.risk == hull[-1].risk):
            continue
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    return hull


def undominated(points: Sequence[RiskGainPoint]) -> list[int]:
    """Which points no other one beats: none has as much gain at less risk, or more gain at as little.

    >>> undominated([RiskGainPoint(1, 1), RiskGainPoint(2, 3), RiskGainPoint(2, 2), RiskGainPoint(3, 3)])
    [0, 1]
    """
    known = _checked(points)
    return [
        number
        for number, (risk, gain) in enumerate(known)
        if not any(
            other.risk <= risk and other.gain >= gain and (other.risk < risk or other.gain > gain) for other in known
        )
    ]


def proportional_gain(full: RiskGainPoint, risk: float) -> float:
    """The gain left at a risk if risk and gain are reduced alike: the line from baseline to full model.

    >>> proportional_gain(RiskGainPoint(0.04, 0.1), 0.01)
    0.025
    """
    return full.gain * min(1.0, risk / full.risk) if full.risk else full.gain


def last_alpha(full: RiskGainPoint) -> float:
    """Where a sweep of α may stop: gain / risk of the gain-only model on training data.

    Beyond it a coin flip between model and baseline does as well. Infinite for a model without risk.
    """
    return full.gain / full.risk if full.risk else float("inf")


def reranking_area(share_reranked: float, gain: float, full_share: float, full_gain: float) -> float:
    """The area under (0, 0) → (share re-ranked, gain) → the full model's point → (1, its gain) (Bennett et al., 2015).

    >>> reranking_area(0.25, 0.5, 0.5, 1.0)
    0.75
    """
    shares, gains = np.array([0.0, share_reranked, full_share, 1.0]), np.array([0.0, gain, full_gain, full_gain])
    if not (np.diff(shares) >= 0).all():
        raise ArgumentError(
            f"the share re-ranked is {share_reranked:g}, by the full model {full_share:g}; both must be from 0 to 1, "
            "and the full model's must not be smaller"
        )
    return float((np.diff(shares) * (gains[1:] + gains[:-1]) / 2).sum())


def selective_curve(
    differences: Floats, feature: Floats, weights: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Thresholds of a query feature, and risk and gain if the model is used only where the feature is at most that.

    Queries of one value go together. `differences` are the model's M(q) minus the baseline's; `weights` of the queries
    have a mean of 1.
    """
    if differences.shape != feature.shape or not np.isfinite(feature).all():
        raise ArgumentError("every query needs one difference and one finite value of the feature")
    order = np.argsort(feature, kind="stable")
    values, moved = feature[order], (differences if weights is None else weights * differences)[order]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    gain = np.cumsum(moved)[last] / len(moved)
    risk = np.cumsum(np.maximum(-moved, 0))[last] / len(moved)
    return values[last], risk, gain


def _turn(a: RiskGainPoint, b: RiskGainPoint, c: RiskGainPoint) -> float:
    """Above 0 where the way over the three points turns to the left, so that the middle one lies below."""
    return (b.risk - a.risk) * (c.gain - a.gain) - (b.gain - a.gain) * (c.risk - a.risk)


def _checked(points: Sequence[RiskGainPoint]) -> list[RiskGainPoint]:
    checked = [RiskGainPoint(*point) for point in points]
    for point in checked:
        if not (np.isfinite(point).all() and point.risk >= 0):
            raise ArgumentError(f"{point} is not a point; risk must be at least 0, and both numbers finite")
    return checked
