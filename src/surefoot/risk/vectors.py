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
