"""Labels of documents, and scores to rank them by: standardised in each query, blended, or a feature's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import LARGEST_LABEL_POWER, Flags, Floats, Ints
from surefoot.errors import DataError

if TYPE_CHECKING:
    from surefoot.data.types.ranking_data import RankingData


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
    surefoot.data.types.labels_and_scores.RowError: row 2: the label is 0.5; exponential gains (2^label - 1) need ...
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


def standardise(scores: Floats, lengths: Ints) -> Floats:
    """Scores less their query's mean, over their deviation within it; `lengths` are the queries' numbers of rows."""
    query = np.repeat(np.arange(len(lengths)), lengths)
    centred = scores - (np.bincount(query, scores) / lengths)[query]
    spread = np.sqrt(np.bincount(query, centred**2) / lengths)[query]
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0))


def blend_scores(model: Floats, baseline: Floats, lengths: Ints, weight: float) -> Floats:
    """(1 − w)·z_b + w·z_m, where z are scores standardised within each query.

    >>> blend_scores(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([2]), 0.75)
    array([ 0.5, -0.5])
    """
    return (1 - weight) * standardise(baseline, lengths) + weight * standardise(model, lengths)


_LARGEST_RANKED = 2**24  # of float32: whole numbers below it are exact


def feature_scores(data: RankingData, number: int) -> Floats:
    """A feature as scores to rank by, as a baseline needs them.

    Features are float32, as learners keep them. From 2²⁴ on it parts no neighbouring whole numbers, so that an order by
    times or ids would silently become another; such a feature may be learned from, but not ranked by.
    """
    column = data.feature(number).astype(np.float64)
    wrong = np.abs(column) >= _LARGEST_RANKED
    if wrong.any():
        row = int(wrong.argmax())
        raise RowError(
            row,
            f"feature {number} is {column[row]:g}, and features are float32, which parts no neighbouring whole numbers "
            "from 2^24 = 16,777,216 on: its order is not that of the file; give the baseline as a run, or as scores",
        )
    return column
