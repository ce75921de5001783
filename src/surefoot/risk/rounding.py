"""What rounding parts is not different: who wins, loses or ties, and which losses share a rank, all go by this rule.

Scores are decimals or computed from some, so that 0.3 − 0.2 and 0.4 − 0.3 differ in their last bit, and so do equal
values that were summed in two orders. A difference of two scores counts as none up to 10⁻¹² of the larger, and two
differences are equal up to that too. Whole numbers are exact: there every difference counts. Figures are not rounded.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Floats, Ints

ROUNDING = 1e-12  # of the larger score: what differs by no more is equal


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
    """By how much each difference may be off."""
    size = ROUNDING * np.maximum(np.abs(model), np.abs(baseline))
    return np.where(_uncertain(model, baseline, least), np.maximum(size, least), 0.0)


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


def _uncertain(model: Floats, baseline: Floats, least: float) -> np.ndarray:
    """Where the scores are not whole numbers, or rounding other than theirs is told of."""
    if least > 0:
        return np.ones(np.broadcast_shapes(np.shape(model), np.shape(baseline)), dtype=np.bool_)
    return np.asarray((model != np.rint(model)) | (baseline != np.rint(baseline)))
