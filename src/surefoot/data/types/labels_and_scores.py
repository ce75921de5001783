"""Labels of documents, and the row that one cannot have."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import LARGEST_LABEL_POWER, Flags, Floats
from surefoot.errors import DataError


class RowError(DataError):
    """A row that cannot be; `row` (from 0) and `first`, the earlier row it clashes with, say where."""

    def __init__(self, row: int, message: str, first: int | None = None) -> None:
        earlier = "" if first is None else f" (first at row {first + 1})"
        super().__init__(f"row {row + 1}: {message}{earlier}")
        self.row, self.message, self.first = row, message, first


def check_labels(y: Floats, *, exponential: bool) -> None:
    """Refuse labels without a gain: negative or not finite; for exponential gains 2^label − 1 also fractions, and > 31.

    >>> check_labels(np.array([0.0, 0.5]), exponential=False)
    >>> check_labels(np.array([0.0, 0.5]), exponential=True)
    Traceback (most recent call last):
    ...
    surefoot.data.types.labels_and_scores.RowError: row 2: the label is 0.5; exponential gains (2^label - 1) need whole labels, ...
    """
    _refuse(~np.isfinite(y), y, "every label must be a finite number")
    _refuse(y < 0, y, "labels must be 0 (not relevant) or more; raise negative grades to 0")
    if exponential:
        _refuse(
            y > LARGEST_LABEL_POWER,
            y,
            f"exponential gains (2^label - 1) overflow above {LARGEST_LABEL_POWER}; use linear gains or smaller labels",
        )
        _refuse(
            y != np.floor(y),
            y,
            "exponential gains (2^label - 1) need whole labels, such as 0 to 4; use linear gains or whole labels",
        )


def _refuse(wrong: Flags, y: Floats, why: str) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise RowError(row, f"the label is {y[row]:g}; {why}")
