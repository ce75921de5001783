"""Names of the arrays that all of surefoot passes on, and how large scores and grades may be. Needs NumPy alone."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from surefoot.arguments import LARGEST_EXACT, is_rounded
from surefoot.errors import ArgumentError, shortened

Codes: TypeAlias = npt.NDArray[np.uint64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]
Float32s: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int64]
CompactInts: TypeAlias = npt.NDArray[np.integer]  # rows or positions held for long, in as few bytes as will do

LARGEST_SCORE = 1e100  # of scores: beyond it sums of squares, which every test takes, would overflow
ROUNDED = "whole numbers beyond 2^53 would be rounded, and different ones become equal: give smaller numbers"
LARGEST_POWER = 100.0  # of grades under 2^g − 1: beyond it sums of gains would overflow
LARGEST_LABEL_POWER = 31  # of labels to learn from: a gain of 2^31 − 1 is more than any scale of relevance needs


def exact_floats(values: npt.ArrayLike, what: str) -> Floats:
    """The values as float64; whole numbers that would be rounded, so that two may become equal, are refused."""
    try:
        floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what} must be numbers, found {shortened(values)}") from error
    if getattr(values, "dtype", None) not in (np.float64, np.float32) and (np.abs(floats) >= LARGEST_EXACT).any():
        for value in np.asarray(values, dtype=object).ravel():
            if is_rounded(value):
                raise ArgumentError(f"{what} contain {shortened(value)}; {ROUNDED}")
    return floats


def compact_type(count: int) -> type[np.integer]:
    """The type of `CompactInts` that holds this many numbers, from 0."""
    return np.uint32 if count <= 2**32 else np.int64


def stretch_starts(values: npt.NDArray[np.generic]) -> Ints:
    """Where stretches of equal values start: the first index, and those whose value differs from the one before."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
