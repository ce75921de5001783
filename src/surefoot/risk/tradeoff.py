"""Reward and risk against a baseline, and their weighted sum U_Risk (Wang et al., SIGIR 2012)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arguments import finite_number
from surefoot.arrays import LARGEST_SCORE, Flags, Floats, exact_floats
from surefoot.errors import ArgumentError, shortened
from surefoot.risk.rounding import difference_of
from surefoot.risk.vectors import blocks

LARGEST_ALPHA = 1e6  # a loss that counts a million times has long drowned every gain
# More than 20 % of the baseline's score; a small tolerance keeps a loss of just that, as 0.9 − 0.72, from counting.
OVER_20_PERCENT = 0.2 * (1 + 1e-9)


def u_risk(model: ArrayLike, baseline: ArrayLike, alpha: float = 0.0) -> float:
    """Average gain over a baseline, with losses weighted 1 + α (Wang et al., SIGIR 2012, Eq. 4).

    >>> u_risk([0.5, 0.25], [0.25, 0.5], alpha=1)
    -0.125
    """
    return float(weigh_losses(paired_differences(model, baseline), alpha).mean())


def worst_mean(model: ArrayLike, baseline: ArrayLike, share: float = 0.05) -> float:
    """Mean of the worst share of differences, at least one query: the conditional value at risk.

    Not in the papers' formulas; Wang et al. (SIGIR 2012, §6) suggest it.

    >>> worst_mean([0.5, 0.0, 0.3, 0.4], [0.25, 0.5, 0.3, 0.5], share=0.5)
    -0.3
    """
    return lowest_mean(paired_differences(model, baseline), share)


def paired_differences(model: ArrayLike, baseline: ArrayLike) -> Floats:
    """δ_q = M_m(q) − M_b(q) of two vectors of scores, checked."""
    return difference_of(*paired_scores(model, baseline))


def paired_scores(model: ArrayLike, baseline: ArrayLike) -> tuple[Floats, Floats]:
    """Two vectors of scores of the same queries, checked."""
    scores, reference = _vector(model, "model"), _vector(baseline, "baseline")
    if scores.shape != reference.shape:
        raise ArgumentError(f"model has {scores.size} scores, baseline {reference.size}; both need one per query")
    return scores, reference


def weigh_losses(differences: Floats, alpha: float) -> Floats:
    """f_α(x): x where it is positive, (1 + α)·x elsewhere; as α ≥ 0, the lesser of the two."""
    weighted = (1 + check_alpha(alpha)) * differences
    return np.minimum(weighted, differences, out=weighted)


def lowest_mean(differences: Floats, share: float, weights: Floats | None = None) -> float:
    """Mean of the lowest share of the differences, at least one; with weights, of that share of the weight."""
    if not 0 < share <= 1:
        raise ArgumentError(f"share is {share}; it must be above 0 and at most 1")
    if weights is not None:
        return _lowest_mean_of_weight(np.asarray(differences), share, weights)
    # As the decimal that was written: the float 0.29 · 100 lies just below 29.
    count = max(1, math.floor(Fraction(repr(float(share))) * len(differences)))
    return float(np.partition(differences, count - 1)[:count].mean())


def _lowest_mean_of_weight(differences: Floats, share: float, weights: Floats) -> float:
    """Mean of the lowest share of the weight; the last query counts in part."""
    room, taken = share * float(weights.sum()), max(1, math.ceil(2 * share * len(differences)))
    lowest = np.arange(len(differences))
    while taken < len(differences):  # the lowest ones only, since a sort of all is slow
        some = np.flatnonzero(differences <= np.partition(differences, taken - 1)[taken - 1])
        if weights[some].sum() >= room:
            lowest = some
            break
        taken *= 2
    order = lowest[np.argsort(differences[lowest])]
    until = np.cumsum(weights[order])
    counted = np.clip(weights[order] - (until - room), 0, weights[order])
    return float(counted @ differences[order] / counted.sum())


def count_losing_over_20(differences: Floats, baseline: Floats) -> int:
    """Number of queries that lose more than 20 % of the baseline's score: δ_q / M_b(q) < −0.2."""
    pairs = zip(blocks(differences), blocks(baseline), strict=True)
    return sum(int(which_lose_over_20(part, base).sum()) for part, base in pairs)


def which_lose_over_20(differences: Floats, baseline: Floats) -> Flags:
    """Which queries lose more than 20 % of the baseline's score; those where it has none never do."""
    return (differences < -OVER_20_PERCENT * baseline) & (baseline > 0)


def check_alpha(alpha: Any) -> float:
    """α as a float, if it is one that risk measures know."""
    value = finite_number(alpha)
    if value is None or not 0 <= value <= LARGEST_ALPHA:
        given = shortened(alpha) if value is None else f"{value:g}"
        raise ArgumentError(
            f"alpha is {given}; it must be a number from 0 to {LARGEST_ALPHA:,.0f} (with 0, losses and gains count the "
            "same)"
        )
    return value


def _vector(values: ArrayLike, name: str) -> Floats:
    vector = exact_floats(values, name)
    if vector.ndim != 1 or not vector.size:
        raise ArgumentError(f"{name} must be a vector with one score per query, found shape {vector.shape}")
    wrong = ~(np.abs(vector) <= LARGEST_SCORE)
    if wrong.any():
        where = int(np.flatnonzero(wrong)[0])
        raise ArgumentError(
            f"{name}[{where}] is {vector[where]}; every score must be finite and within ±{LARGEST_SCORE:g}"
        )
    return vector
