"""Differences to a baseline; of these reward and risk, and their weighted sum U_Risk (Wang et al., SIGIR 2012).

What rounding parts is not different: who wins, loses or ties, and which losses share a rank, all go by this rule.
Scores are decimals or computed from some, so that 0.3 − 0.2 and 0.4 − 0.3 differ in their last bit, and so do equal
values that were summed in two orders. A difference of two scores counts as none up to 10⁻¹² of the larger, and two
differences are equal up to that too. Whole numbers are exact: there every difference counts. Figures are not rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arguments import finite_number
from surefoot.arrays import LARGEST_SCORE, Flags, Floats, Ints, exact_floats
from surefoot.errors import ArgumentError, shortened

LARGEST_ALPHA = 1e6  # a loss that counts a million times has long drowned every gain
# More than 20 % of the baseline's score; a small tolerance keeps a loss of just that, as 0.9 − 0.72, from counting.
OVER_20_PERCENT = 0.2 * (1 + 1e-9)
ROUNDING = 1e-12  # of the larger score: what differs by no more is equal


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


def difference_of(model: Floats, baseline: Floats, least: float = 0.0) -> Floats:
    """model − baseline, and 0 where rounding alone parts the two; `least` is what else counts as rounding.

    >>> difference_of(np.array([0.1 + 0.2, 0.4]), np.array([0.3, 0.3])).tolist()
    [0.0, 0.10000000000000003]
    """
    apart = np.asarray(model - baseline)
    near = np.abs(apart) <= np.maximum(2 * ROUNDING * np.abs(baseline), least)  # a little wide, and soon looked at
    near &= apart != 0
    if near.any():
        model, baseline = (np.broadcast_to(each, apart.shape)[near] for each in (model, baseline))
        near[near] = np.abs(apart[near]) <= rounding_of(model, baseline, least)
        apart[near] = 0.0
    return apart


def rounding_of(model: Floats, baseline: Floats, least: float = 0.0) -> Floats:
    """By how much each difference may be off: not at all of whole numbers, unless `least` is above 0."""
    size = ROUNDING * np.maximum(np.abs(model), np.abs(baseline))
    uncertain = (model != np.rint(model)) | (baseline != np.rint(baseline)) | (least > 0)
    return np.where(uncertain, np.maximum(size, least), 0.0)


def dense_ranks(values: Floats, rounding: Floats | float) -> Ints:
    """The place of each value among the distinct ones, from 0; those that rounding alone parts share one.

    >>> dense_ranks(np.array([0.4 - 0.3, 0.5, 0.3 - 0.2]), 1e-12).tolist()
    [0, 1, 0]
    """
    order = np.argsort(values, kind="stable")
    off = np.broadcast_to(rounding, values.shape)[order]
    rises = np.diff(values[order]) > np.maximum(off[1:], off[:-1])
    places = np.empty(len(values), dtype=np.int64)
    places[order] = np.concatenate([[0], np.cumsum(rises)])[: len(values)]
    return places


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
    return int(which_lose_over_20(differences, baseline).sum())


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


def alpha_key(alpha: float) -> str:
    """How α is written as a key: `format(alpha, "g")`."""
    return format(alpha, "g")


def distinct_alphas(alphas: Sequence[float]) -> dict[str, float]:
    """The α by their keys, if each has one of its own."""
    by_key: dict[str, float] = {}
    for value in map(check_alpha, np.atleast_1d(np.asarray(alphas, dtype=object))):
        other = by_key.setdefault(alpha_key(value), value)
        if other != value:
            raise ArgumentError(
                f"the alphas {other!r} and {value!r} both appear as {alpha_key(value)} in the output, so you could not "
                "tell them apart; remove one of them, or use fewer digits"
            )
    if not by_key:
        raise ArgumentError("no alpha was given; give at least one, such as 0")
    return by_key


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
