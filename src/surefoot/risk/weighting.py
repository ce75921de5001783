"""Queries that count differently: weights by traffic, and means with them."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Floats


def relative_weights(weights: Floats) -> Floats:
    """w̃ = w/w̄: weights whose mean is 1.

    >>> relative_weights(np.array([30.0, 10.0]))
    array([1.5, 0.5])
    """
    return np.asarray(weights / weights.mean())


def weighted_mean(x: Floats, relative: Floats | None) -> float:
    """Σ w_q·x_q/Σ w_q by relative weights; the plain mean without weights.

    >>> weighted_mean(np.array([1.0, 0.0]), np.array([1.5, 0.5])), weighted_mean(np.array([1.0, 0.0]), None)
    (0.75, 0.5)
    """
    return float(x.mean()) if relative is None else float(relative @ x) / len(x)
