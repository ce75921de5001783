"""Features as scores to rank by: only where float32, in which they are kept, has the order of what was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.labels_and_scores import RowError

if TYPE_CHECKING:
    from surefoot.data.types.ranking_data import RankingData

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
