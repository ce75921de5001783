"""The rank-binomial distribution: at which rank a document stands when its score is uncertain.

Each score is a normal variable N(s, σ²), so document i outranks j with chance π_ij = Φ((s_i − s_j)/(σ√2)). The contests
are taken as independent, and the ranks are built by adding the other documents one at a time (Taylor et al.,
WSDM 2008; Li et al., CIKM 2009): P_j(r) ← P_j(r−1)·π_ij + P_j(r)·(1 − π_ij). Here in the clear, list by list, with the
gradient in σ; `surefoot.measures.expected_discount` is the fast form for runs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.arguments import finite_number, is_real
from surefoot.arrays import Floats
from surefoot.errors import MeasureError, shortened

_LARGE = 1e300


def sigma_problem(sigma: Any) -> str | None:
    """What is wrong with a σ, as the rest of a message, or None."""
    if not is_real(sigma):
        return "is not a number; write one above 0, such as 0.2"
    number = finite_number(sigma)  # a whole number may be too large for a float
    if number is None or number <= 0:
        return "must be a finite number above 0; it is the scale over which scores nearly tie"
    return None


def check_sigma(sigma: Any, what: str = "sigma") -> float:
    """σ as a float, or an error that says what was found."""
    problem = sigma_problem(sigma)
    if problem:
        raise MeasureError(f"{what} is {shortened(sigma)}: it {problem}")
    return float(sigma)


def avoid_overflow(scores: Floats, sigma: float) -> tuple[Floats, float]:
    """The same scores and σ in units in which no difference overflows; exact, since only exponents change."""
    largest = np.max(np.abs(scores), initial=0.0, where=np.isfinite(scores))
    return (scores * 0.0625, sigma * 0.0625) if largest > _LARGE else (scores, sigma)


def in_deviations(difference: Floats, sigma: float) -> Floats:
    """Differences in standard deviations of a difference, σ√2; beyond double precision they are infinite."""
    with np.errstate(over="ignore"):
        return difference / sigma / math.sqrt(2)


def _contests(scores: Floats, sigma: float) -> tuple[Floats, Floats]:
    """π[i, j, …] and dπ/dσ; both 0 where there is no contest."""
    from scipy.special import ndtr

    scores, unit = avoid_overflow(scores, sigma)
    absent = np.isneginf(scores)
    finite = np.where(absent, 0.0, scores)
    x = in_deviations(finite[:, None] - finite[None], unit)
    # φ(x)·x is 0 far out, where x itself may be infinite.
    near = np.clip(x, -40, 40)
    chance, slope = ndtr(x), np.exp(-0.5 * near * near) * near * (-1.0 / (math.sqrt(2 * math.pi) * sigma))
    for values in (chance, slope):
        values[np.diag_indices(len(scores))] = 0.0
        if absent.any():
            values[absent[:, None] | absent[None]] = 0.0
    return chance, slope


def rank_distribution(scores: npt.ArrayLike, sigma: float, cutoff: int | None = None) -> tuple[Floats, Floats]:
    """The rank distribution [j, r, …] and its derivative in σ, carried along the same recursion.

    dP_j(r) ← dP_j(r−1)·π + dP_j(r)·(1 − π) + dπ·(P_j(r−1) − P_j(r)). The scores are [document, …]: lists stand
    side by side along the last axes, which is what arrays are quick at. A score of −inf is no document: it outranks
    nobody and nobody outranks it. The first `cutoff` ranks (or all) are given.

    >>> rank_distribution([0.6, 0.4], sigma=0.2)[0].round(4)
    array([[0.7602, 0.2398],
           [0.2398, 0.7602]])
    """
    values = np.asarray(scores, dtype=np.float64)
    chance, slope = _contests(values, check_sigma(sigma))
    n = len(values)
    ranks = n if cutoff is None else min(int(cutoff), n)
    p = np.zeros((n, ranks, *values.shape[1:]))
    p[:, 0] = 1.0
    dp = np.zeros_like(p)
    for i in range(n):
        pi, dpi = chance[i][:, None], slope[i][:, None]
        stays = 1.0 - pi
        change = dp * stays - p * dpi
        change[:, 1:] += dp[:, :-1] * pi + p[:, :-1] * dpi
        # Not p + π(…): with π = 1 this is exactly the rank below, with π = 0 exactly the same rank.
        moved = p * stays
        moved[:, 1:] += p[:, :-1] * pi
        p, dp = moved, change
    return p, dp
