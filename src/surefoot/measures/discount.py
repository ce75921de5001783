"""The discount of DCG, 1 / log2(1 + r) at rank r (Järvelin and Kekäläinen, TOIS 2002)."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Floats, Ints


def divisor(rank: Ints) -> Floats:
    """log2(1 + r), by which a gain at rank r is divided."""
    return np.asarray(np.log2(1.0 + rank))


def discount(rank: Ints, cutoff: float | None = None) -> Floats:
    """D(r) = 1 / log2(1 + r), 0 beyond the cut-off.

    >>> discount(np.array([1, 3, 7]), cutoff=3)
    array([1. , 0.5, 0. ])
    """
    factor = 1.0 / divisor(rank)
    return np.asarray(factor if cutoff is None else np.where(rank <= cutoff, factor, 0.0))


def discounts(length: int, cutoff: float | None = None) -> Floats:
    """D(r) of ranks 1 to `length`."""
    return discount(np.arange(1, length + 1), cutoff)
