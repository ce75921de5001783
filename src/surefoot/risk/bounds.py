"""What n judged queries prove of a mean loss: exact and other p-values, and bounds.

A p here is of the hypothesis E[x] ≥ m for x within [0, 1]: at most δ, the mean is below m with confidence 1 − δ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincc

from surefoot.arguments import LARGEST_COUNT
from surefoot.arrays import Floats
from surefoot.risk.betting import (
    check_delta,
    least_anytime,
    least_by_betting,
    levels_within,
    settle_trivial_levels,
)

GRID, COARSE_GRID = 512, 128  # levels tried at a time by a search for a bound; of very many queries
_HALVINGS = 40  # of the interval in which a bound lies


def binomial_p(successes: ArrayLike, n: int, m: ArrayLike) -> Floats:
    """The exact tail P(Bin(n, m) ≤ successes): p of the hypothesis that a share is at least m.

    >>> round(float(binomial_p(0, 149, 0.02)), 4), round(float(binomial_p(2, 300, 0.02)), 4)
    (0.0493, 0.0602)
    """
    k, level = np.asarray(successes, np.float64), np.asarray(m, np.float64)
    inside = levels_within(level)
    few = np.minimum(k, n - 1)  # of n successes the tail is all there is
    return settle_trivial_levels(level, np.where(k >= n, 1.0, betaincc(few + 1, n - few, inside)))


def least_queries(m: float, delta: float, method: Literal["betting", "binomial", "anytime"] = "betting") -> int | None:
    """n₀: the fewest queries, all without a loss, that can prove a mean below m; None where no number of them can.

    Nor can numbers beyond two thousand million, which nobody judges.

    >>> [least_queries(0.02, 0.05, method) for method in ("betting", "anytime", "binomial")]
    [150, 172, 149]
    """
    check_delta(delta)
    if m <= 0:
        return None
    if m >= 1:
        return 1
    if method == "binomial":
        with np.errstate(over="ignore", divide="ignore"):
            least = float(np.ceil(np.log(delta) / np.log1p(-m)))
    else:
        least = least_by_betting(m, delta)
    if least > LARGEST_COUNT:
        return None
    return least_anytime(m, delta) if method == "anytime" else int(least)


class Bound(NamedTuple):
    """For each test the largest level that is not refuted, its mean at least, and one just above, which is."""

    not_refuted: Floats
    refuted: Floats


def bound_by_grid(p_of: Callable[[Floats], Floats], means: Floats, deltas: Floats, grid: int = GRID) -> Bound:
    """For each test the largest level above its mean, to two grids, at which p is above δ; 1 where none is refuted.

    `p_of` gives p of a matrix of levels, a row for each test. p is not monotone in m for the adaptive bet, so levels
    are searched from above: a grid of `grid` levels, denser near the mean, then as many where p first exceeds δ. It
    is 512 by default, and 128 (`COARSE_GRID`) for many queries.
    """
    low, high = np.minimum(means, 1.0), np.ones(len(means))
    fraction = np.arange(grid + 1) / grid
    for spread in (fraction * fraction, fraction):
        levels = low[:, None] + (high - low)[:, None] * spread
        above = p_of(levels)[:, :-1] > deltas[:, None]
        last = np.where(above.any(axis=1), grid - 1 - above[:, ::-1].argmax(axis=1), 0)
        tests = np.arange(len(means))
        low, high = levels[tests, last], levels[tests, last + 1]
    return Bound(low, high)


def bound_by_halving(p_of: Callable[[Floats], Floats], means: Floats, deltas: Floats) -> Bound:
    """The same where p only falls as the level grows, as it does but for the adaptive bet: by halving."""
    low, high = np.minimum(means, 1.0), np.ones(len(means))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = p_of(middle[:, None])[:, 0] > deltas
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return Bound(low, high)
