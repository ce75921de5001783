"""Labels from satisfied clicks that weigh the shown order too (Bennett et al., ICTIR 2015, §2.1).

A click says what one user wanted and nothing about the order of the rest. As labels of 0 and 1, clicks leave a learner
free to shuffle all other results for no gain. Preferences keep them where they were shown: a satisfied result is
preferred to every other one with weight α, and of two alike the one that was shown higher with a smaller weight β.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from surefoot.arguments import finite_number
from surefoot.arrays import Flags, Floats, Ints
from surefoot.errors import ArgumentError, shortened

_CELLS = 1 << 22  # pairs of results handled at once


def preference_gains(
    grades: npt.ArrayLike, lengths: npt.ArrayLike, alpha: float = 1.0, beta: float = 0.5, *, strict: bool = True
) -> Floats:
    """G of each result: the sum of what it is preferred to, G(i) = Σ_j pref(i ≻ j).

    `grades` are 0 for results that did not satisfy, list after list in the order shown; `lengths` are the lists'.
    pref(i ≻ j) is α·(grade_i − grade_j) where i has the higher grade, β where both have the same and i was shown above
    j, and 0 otherwise. G is the gain of nDCG as it is: train with `measure="nDCG@10"`, whose gains are linear.

    Only where α is above β do satisfied results come first; without `strict`, any above 0 will do, as the paper tries
    for lists that were cut below the lowest click.

    >>> preference_gains([0, 0, 1, 0], [4])
    array([1. , 0.5, 3. , 0. ])
    """
    levels, sizes = _checked(grades, lengths)
    upper, lower = finite_number(alpha), finite_number(beta)
    if upper is None or lower is None or not (upper > lower > 0 or (not strict and min(upper, lower) > 0)):
        raise ArgumentError(
            f"alpha is {shortened(alpha)} and beta {shortened(beta)}; both must be numbers, alpha above beta and beta "
            "above 0"
        )
    gains = np.zeros(len(levels))
    starts = np.cumsum(sizes) - sizes
    for length in np.unique(sizes).tolist():
        lists = starts[sizes == length]
        above = np.triu(np.ones((length, length), dtype=bool), 1)
        for first in range(0, len(lists), step := max(1, _CELLS // length**2)):
            rows = lists[first : first + step, None] + np.arange(length)
            mine, theirs = levels[rows][:, :, None], levels[rows][:, None, :]
            by_grade = upper * np.maximum(mine - theirs, 0).sum(axis=2)
            gains[rows] = by_grade + lower * ((mine == theirs) & above).sum(axis=2)
    return gains


def lowest_click_plus_one(grades: npt.ArrayLike, lengths: npt.ArrayLike) -> Flags:
    """Which results to learn from if only those count that were surely looked at: down to one below the lowest click.

    A list without a satisfied result has none.

    >>> lowest_click_plus_one([0, 1, 0, 0, 0, 0], [4, 2]).tolist()
    [True, True, True, False, False, False]
    """
    levels, sizes = _checked(grades, lengths)
    starts = np.cumsum(sizes) - sizes
    position = np.arange(len(levels)) - np.repeat(starts, sizes)
    lowest = np.maximum.reduceat(np.where(levels > 0, position, -2), starts) if len(sizes) else sizes
    return np.asarray(position <= np.repeat(lowest + 1, sizes))


def _checked(grades: npt.ArrayLike, lengths: npt.ArrayLike) -> tuple[Floats, Ints]:
    levels, sizes = np.asarray(grades, dtype=np.float64), np.asarray(lengths)
    if levels.ndim != 1 or not np.isfinite(levels).all() or (levels < 0).any():
        raise ArgumentError("grades must be finite numbers of at least 0, one for each result")
    if sizes.ndim != 1 or (sizes.size and sizes.dtype.kind not in "iu") or (sizes < 1).any():
        raise ArgumentError("lengths must be whole numbers of at least 1, one for each list")
    if int(sizes.sum()) != len(levels):
        raise ArgumentError(f"the lists' lengths add up to {int(sizes.sum()):,}, but there are {len(levels):,} grades")
    return levels, sizes.astype(np.int64)
