"""Sums over queries, a block at a time: what is computed of them stays in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surefoot.arrays import Floats

CHUNK = 1 << 15  # queries handled at a time


def blocks(vector: Floats) -> Iterator[Floats]:
    """The numbers, a block at a time.

    >>> [part.tolist() for part in blocks(np.array([1.0, 2.0]))]
    [[1.0, 2.0]]
    """
    for start in range(0, len(vector), CHUNK):
        yield vector[start : start + CHUNK]


def dot(one: Floats, other: Floats) -> float:
    """The sum of products, on one thread: BLAS wakes all threads for a block that one of them has done by then.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.einsum("i,i->", one, other))


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
