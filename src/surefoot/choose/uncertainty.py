"""How sure figures are that come of a sample of queries: intervals, standard errors, chances, by resampling queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Floats
from surefoot.risk.bootstrap import percentile_intervals, resamples

REPLICATES = 1000
SEED = 0


def resampled_means(columns: Sequence[Floats], replicates: int = REPLICATES, seed: int = SEED) -> Floats:
    """The mean of each column of queries' values in each resample of the queries: [column, replicate]."""
    matrix = np.stack(columns)
    means = np.empty((len(matrix), replicates))
    for part, counts in resamples(matrix.shape[1], replicates, seed):
        means[:, part] = matrix @ counts.T / matrix.shape[1]
    return means


def mean_intervals(columns: Sequence[Floats]) -> list[list[float]]:
    """The 95 % interval of each column's mean over resampled queries.

    >>> mean_intervals([np.array([1.0, 1.0, 1.0])])
    [[1.0, 1.0]]
    """
    ends: list[list[float]] = percentile_intervals(resampled_means(columns)).tolist()
    return ends


def standard_error(values: Floats) -> float | None:
    """Of the mean of queries' values; None for a single query.

    >>> standard_error(np.array([0.0, 2.0]))
    1.0
    """
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
