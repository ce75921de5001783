"""One number per query, in memory or not: figures are made of blocks, so that they need no more than one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from surefoot.arrays import Floats

CHUNK = 1 << 15  # queries handled at a time: what is computed of them stays in the processor's cache


class StreamedVector(Protocol):
    """Numbers that are read anew, a block at a time, whenever they are needed."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def blocks(self) -> Iterator[Floats]:
        """All of them, in order."""
        ...


Vector: TypeAlias = Floats | StreamedVector


def blocks(vector: Vector) -> Iterator[Floats]:
    """The numbers, a block at a time.

    >>> [part.tolist() for part in blocks(np.array([1.0, 2.0]))]
    [[1.0, 2.0]]
    """
    if isinstance(vector, np.ndarray):
        for start in range(0, len(vector), CHUNK):
            yield vector[start : start + CHUNK]
    else:
        yield from vector.blocks()


def dot(one: Floats, other: Floats) -> float:
    """The sum of products, on one thread: BLAS wakes all threads for a block that one of them has done by then.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.einsum("i,i->", one, other))


class ScoreMatrix(Protocol):
    """A score matrix, in memory or not: what every figure of an assessment can be made of."""

    @property
    def systems(self) -> Sequence[str]:
        """The rows' names."""
        ...

    @property
    def _count(self) -> int:
        """How many queries there are."""
        ...

    @property
    def _totals(self) -> Floats:
        """The sum over queries, one value per system."""
        ...

    def _row(self, system: str) -> int:
        """The row of a system, by name."""
        ...

    def _vector(self, row: int) -> Vector:
        """One system's scores."""
        ...

    def _blocks(self, rows: Sequence[int]) -> Iterator[Floats]:
        """The scores of some systems, systems × queries, a block of queries at a time."""
        ...

    def mean(self) -> Floats:
        """Arithmetic mean over queries, one value per system."""
        ...

    def geometric_mean(self) -> Floats:
        """Geometric mean over queries, one value per system."""
        ...

    def _ends(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        ...

    def _largest(self) -> float:
        """The greatest score without its sign."""
        ...


@dataclass(frozen=True)
class DerivedVector:
    """Numbers computed of others, block by block."""

    length: int
    compute: Callable[[], Iterator[Floats]]

    def __len__(self) -> int:
        """How many there are."""
        return self.length

    def blocks(self) -> Iterator[Floats]:
        """All of them, in order."""
        return self.compute()
