"""Which threshold of a scorer's scores is safe: tried from the highest down, as far as evidence reaches.

The risk R(λ) = E[ℓ·1{s ≥ λ}] only falls as λ grows. So thresholds can be tested one after the other, from the safest,
each at the full δ, up to the first that fails: for a wrong certificate the first unsafe one must pass, which
happens with probability at most δ. All that passed are certified together, and any of them may be taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.decide.evidence.proof import ConditionEvidence, upper_bounds
from surefoot.decide.guard.certificate_data import CurvePoint, ThresholdPoint
from surefoot.errors import ArgumentError
from surefoot.risk.betting import stratified_p, thresholded_p
from surefoot.risk.bounds import binomial_p, least_queries

MOST_SCORES_TRIED = 5_000  # queries up to which each of their scores is tried: the search is quadratic
FIXED_QUANTILES = 1_000  # of the scores that `fit_scorer` saw, beyond that
_MOST_CURVE_SCORES = 32  # thresholds of the curve of level against gain, which certifies nothing
_LEVEL_MULTIPLES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)  # of that curve, as multiples of the level
_CELLS = 1 << 22  # of a matrix of thresholds by queries at a time


@dataclass(frozen=True)
class Calibration:
    """Judged queries in betting order, a drawn one as often as it was drawn.

    `scores` are the scorer's, `differences` M_m − M_b, `traffic_weight` what each query counts in an average over
    traffic (1 for plain draws), and `evidence` holds x and m of each loss.
    """

    scores: Floats
    differences: Floats
    traffic_weight: Floats
    evidence: tuple[ConditionEvidence, ...]
    delta: float

    def __len__(self) -> int:
        """How many draws there are."""
        return len(self.scores)

    def least(self) -> int | None:
        """n₀: the fewest queries with which all losses can be certified at all; None where that is not known."""
        if any(evidence.method == "stratified" for evidence in self.evidence):
            return None
        least = [least_queries(evidence.m, self.delta, evidence.method) for evidence in self.evidence]  # type: ignore[arg-type]
        return None if None in least else max(each for each in least if each is not None)

    def p_values(self, thresholds: Floats, times: Floats | None = None) -> Floats:
        """For each threshold the greatest p of all losses; with `times` for each multiple of the levels a row."""
        scale = np.ones(1) if times is None else times
        p = np.max([self._p(evidence, thresholds, evidence.m * scale[:, None]) for evidence in self.evidence], axis=0)
        return np.asarray(p[0] if times is None else p)

    def _p(self, evidence: ConditionEvidence, thresholds: Floats, m: Floats) -> Floats:
        if evidence.method == "stratified":
            return _stratified(evidence.x, self.scores, thresholds, m)
        if evidence.method == "binomial":
            return binomial_p(self.sums(evidence.x, thresholds), len(self), m)
        # Only queries that lose tell thresholds apart: between two of them all have the same losses, and so one p.
        losing = np.sort(self.scores[evidence.x > 0])
        _, first, inverse = np.unique(np.searchsorted(losing, thresholds), return_index=True, return_inverse=True)
        return thresholded_p(evidence.x, self.scores, thresholds[first], m, self.delta)[..., inverse]

    def sums(self, values: Floats, thresholds: Floats) -> Floats:
        """Σ values over the queries whose score is at least each threshold."""
        order = np.argsort(-self.scores, kind="stable")
        total = np.concatenate([[0.0], np.cumsum(values[order])])
        return np.asarray(total[np.searchsorted(-self.scores[order], -thresholds, side="right")])

    def gains(self, thresholds: Floats) -> Floats:
        """The observed gain over the baseline with each threshold, over all queries."""
        return self.sums(self.differences * self.traffic_weight, thresholds) / len(self)


def _stratified(x: Floats, scores: Floats, thresholds: Floats, m: Floats) -> Floats:
    """p of each threshold, by the fixed bets, which no order of queries changes."""
    rows = max(1, _CELLS // len(x))
    parts = []
    for start in range(0, len(thresholds), rows):
        thresholded = np.where(scores >= thresholds[start : start + rows, None], x, 0.0)
        parts.append(np.stack([stratified_p(thresholded, level) for level in m[:, 0]]))
    return np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class SafeThreshold:
    """The threshold that is taken, None for the baseline alone, and how many were certified of how many."""

    threshold: float | None
    certified: int
    tried: int
    gain: float


def find_threshold(calibration: Calibration, thresholds: Floats) -> SafeThreshold:
    """From the highest threshold down to the first with p > δ; of those before it, the one of the greatest gain."""
    descending = np.unique(thresholds)[::-1]
    passed = passing(calibration.p_values(descending), calibration.delta)
    return best_of(calibration.gains(descending), descending, int(passed))


def passing(p: Floats, delta: float) -> Ints:
    """How many of the thresholds, along the last axis, pass before the first that does not."""
    fails = p > delta
    return np.asarray(np.where(fails.any(axis=-1), fails.argmax(axis=-1), p.shape[-1]))


def best_of(gains: Floats, thresholds: Floats, passed: int) -> SafeThreshold:
    """Of the first thresholds, which passed, the one of the greatest gain, if that is above 0."""
    if not passed:
        return SafeThreshold(None, 0, len(thresholds), 0.0)
    at = int(np.argmax(gains[:passed]))
    gain = float(gains[at])
    return SafeThreshold(float(thresholds[at]) if gain > 0 else None, passed, len(thresholds), max(gain, 0.0))


def thresholds_for(scores: Floats, quantiles: Floats | None) -> Floats:
    """The thresholds to try: each calibration score, or where there are too many those that `fit_scorer` fixed.

    A choice among calibration scores, such as every tenth, would depend on what it is to prove, and has no proof.
    """
    if len(scores) <= MOST_SCORES_TRIED:
        return scores
    if quantiles is None:
        raise ArgumentError(
            f"there are {len(scores):,} queries for calibration, but without fixed thresholds at most "
            f"{MOST_SCORES_TRIED:,} "
            "are possible; call fit_scorer on other queries first"
        )
    return quantiles


def fixed_quantiles(scores: Floats) -> Floats:
    """Up to 1,000 quantiles of the scores of other queries."""
    return np.unique(np.quantile(scores, np.linspace(0, 1, FIXED_QUANTILES), method="nearest"))


def curve(calibration: Calibration, levels: Mapping[str, float], everywhere: float) -> list[CurvePoint]:
    """What other levels would have kept: for each multiple the gain, its share of that `everywhere`, and what is shown.

    It is drawn to choose a level by, on another set of queries; it certifies nothing.
    """
    thresholds = np.unique(np.quantile(calibration.scores, np.linspace(0, 1, _MOST_CURVE_SCORES), method="nearest"))[
        ::-1
    ]
    gains, shares_shown = (
        calibration.gains(thresholds),
        calibration.sums(calibration.traffic_weight, thresholds) / len(calibration),
    )
    times = np.array(_LEVEL_MULTIPLES)
    points: list[CurvePoint] = []
    for multiple, passed in zip(
        _LEVEL_MULTIPLES, passing(calibration.p_values(thresholds, times), calibration.delta), strict=True
    ):
        best = best_of(gains, thresholds, int(passed))
        share_shown = (
            0.0 if best.threshold is None else float(shares_shown[np.flatnonzero(thresholds == best.threshold)[0]])
        )
        scaled = {name: multiple * level for name, level in levels.items()}
        points.append(
            {
                "level": scaled, "gain": best.gain, "gain_kept": share_of_gain(best.gain, everywhere),
                "share_shown": min(1.0, share_shown),
            }
        )  # fmt: skip
    return points


def share_of_gain(gain: float, everywhere: float) -> float | None:
    """The share of the gain everywhere; it is above 1 where leaving queries out gains."""
    return gain / everywhere if everywhere > 0 else None


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
