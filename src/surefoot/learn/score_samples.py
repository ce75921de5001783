"""A sample of the scores that a model gives documents, in which percentiles of its scores are found."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.errors import ArgumentError

SAMPLE_DOCUMENTS = 20_000  # documents whose scores are a sample of the model's


def sampled_rows(documents: int, count: int = SAMPLE_DOCUMENTS) -> Ints:
    """Some of so many documents, evenly spaced."""
    return np.unique(np.linspace(0, documents - 1, count).astype(np.int64))


def score_sample(scores: Floats, size: int = 2001) -> list[float]:
    """Evenly spaced quantiles of scores that a model gives documents: its scores in little room."""
    if not np.isfinite(scores).all():
        raise ArgumentError(
            "the trees give scores that are not finite; lower learning_rate or raise lambda_l2 (XGBoost: reg_lambda)"
        )
    return [float(value) for value in np.quantile(scores, np.linspace(0, 1, min(size, len(scores))))]
