"""Means over queries that count differently: by how often each is asked."""

from __future__ import annotations

from surefoot.arrays import Floats


def relative_weights(weights: Floats) -> Floats:
    """w̃ = w / w̄: weights whose mean is 1, so that scaling all of them changes nothing.

    >>> import numpy as np
    >>> relative_weights(np.array([1.0, 3.0]))
    array([0.5, 1.5])
    """
    return weights / weights.mean()


def weighted_mean(x: Floats, relative: Floats | None) -> float:
    """The mean Σ w·x / Σ w of queries' values, by weights whose mean is 1; the plain mean without weights.

    >>> import numpy as np
    >>> weighted_mean(np.array([1.0, 0.0]), np.array([0.5, 1.5])), weighted_mean(np.array([1.0, 0.0]), None)
    (0.25, 0.5)
    """
    return float(x.mean() if relative is None else relative @ x / len(x))
