"""What each threshold would lose and gain on the judged queries: the curve on which a certificate marks its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.decide.evidence.proof import upper_bounds
from surefoot.decide.guard.certificate_data import ThresholdPoint
from surefoot.decide.guard.thresholds import Calibration

_MOST_POINTS = 24  # quantiles of the scores at which the curve has a point, beside the chosen threshold


def threshold_curve(calibration: Calibration, chosen: float | None, *, bounded: bool = True) -> list[ThresholdPoint]:
    """A point for each of some thresholds, the chosen one among them, in ascending order.

    The bounds hold of each threshold taken alone, and only the chosen one is certified. Without `bounded` there are
    none.
    """
    quantiles = np.quantile(calibration.scores, np.linspace(0, 1, _MOST_POINTS), method="nearest")
    thresholds = np.unique(np.append(quantiles, [] if chosen is None else [chosen]))
    gains = calibration.gains(thresholds)
    shares = calibration.sums(calibration.traffic_weight, thresholds) / len(calibration)
    thresholded = [
        [
            replace(evidence, x=np.where(calibration.scores >= threshold, evidence.x, 0.0))
            for threshold in thresholds.tolist()
        ]
        for evidence in calibration.evidence
    ]
    bounds = [
        upper_bounds(by_threshold, calibration.delta) if bounded else [None] * len(by_threshold)
        for by_threshold in thresholded
    ]
    points: list[ThresholdPoint] = []
    for at, threshold in enumerate(thresholds.tolist()):
        proved = chosen is not None and threshold >= chosen  # safer than the one that is certified
        points.append(
            {
                "threshold": threshold,
                "share_shown": min(1.0, float(shares[at])),
                "gain": float(gains[at]),
                "observed": {own[at].rule.name: own[at].figure(float(own[at].x.mean())) for own in thresholded},
                # The certificate proves the level itself there; a bound of the adaptive bet may lie a little above it.
                "bound": {
                    by_threshold[at].rule.name: _at_most(own[at], by_threshold[at].rule.level if proved else None)
                    for own, by_threshold in zip(bounds, thresholded, strict=True)
                },
            }
        )
    return points


def _at_most(bound: float | None, level: float | None) -> float | None:
    return None if bound is None else min(1.0, bound if level is None else min(bound, level))
