"""Thresholds for targets that compare in float32, as features are float32.

A learner's rule here is x ≤ t in doubles. On float32 features it is x ≤ T with T the largest float32 that is not above
t, and x < T⁺ with T⁺ the float32 after T.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Float32s

LARGEST_FLOAT32 = np.finfo(np.float32).max
_SLACK = np.float32(1e-6)


def thresholds_at_most(thresholds: npt.ArrayLike) -> Float32s:
    """The largest float32 that is not above each threshold, for targets that test x ≤ T.

    A split between numbers and NaN has a threshold beyond float32, such as 1e300; no JSON number would be as large in
    float32, so it becomes the largest float32, which every feature is at most.

    >>> thresholds_at_most([0.1, 0.5, 1e300]).tolist()
    [0.09999999403953552, 0.5, 3.4028234663852886e+38]
    """
    exact = np.asarray(thresholds, np.float64)
    with np.errstate(over="ignore"):
        nearest = exact.astype(np.float32)
    below = np.where(nearest > exact, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    return np.clip(below, -LARGEST_FLOAT32, LARGEST_FLOAT32)


def thresholds_less_than(thresholds: npt.ArrayLike) -> Float32s:
    """The float32 after `thresholds_at_most`, for targets that test x < T.

    Nothing follows the largest float32: there a feature of just that value would go the other way.

    >>> thresholds_less_than([0.1, 0.5]).tolist()
    [0.10000000149011612, 0.5000000596046448]
    """
    with np.errstate(over="ignore"):
        return np.minimum(np.nextafter(thresholds_at_most(thresholds), np.float32(np.inf)), LARGEST_FLOAT32)


def before_slack(thresholds: npt.ArrayLike) -> tuple[Float32s, Float32s]:
    """For Solr, which tests x ≤ u + 1e-6 in float32: the u to write, and the sum that Solr makes of it.

    The sum is `thresholds_at_most` wherever some float32 u gives it. Where none does (T is so near to 0, or to a
    negative power of two, that float32 numbers are closer together at T than at u), it is the largest
    sum below T that one gives: a feature of 0 then still goes where it should, since u = -1e-6 gives 0; only features
    between the sum and T go the other way, in a gap of less than 2.3e-13 for |T| < 2e-6, and of less than |T| / 2^22
    beyond.

    >>> written, sums = before_slack([0.1, 100.0])
    >>> bool((written + np.float32(1e-6) == thresholds_at_most([0.1, 100.0])).all())
    True
    """
    intended = thresholds_at_most(thresholds)
    with np.errstate(over="ignore"):
        written = intended - _SLACK
        # u ↦ u + 1e-6 never falls, and the guess is a step or two off: climb as long as the sum stays at most T.
        for _ in range(4):
            written = np.where(written + _SLACK > intended, np.nextafter(written, np.float32(-np.inf)), written)
        for _ in range(4):
            higher = np.nextafter(written, np.float32(np.inf))
            written = np.where(higher + _SLACK <= intended, higher, written)
        written = np.clip(written, -LARGEST_FLOAT32, LARGEST_FLOAT32)
        return written, written + _SLACK
