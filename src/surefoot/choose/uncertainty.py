"""How sure figures are that come of a sample of queries: intervals, standard errors, chances, by resampling queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Floats
from surefoot.risk.bootstrap import percentile_intervals, resamples
from surefoot.risk.vectors import weighted_mean

REPLICATES = 1000
SEED = 0


def resampled_means(
    columns: Sequence[Floats], weights: Floats | None = None, replicates: int = REPLICATES, seed: int = SEED
) -> Floats:
    """The mean of each column of queries' values in each resample of the queries: [column, replicate].

    Queries are drawn with their weights, all with the same chance.
    """
    matrix = np.stack(columns)
    means = np.empty((len(matrix), replicates))
    for part, counts in resamples(matrix.shape[1], replicates, seed):
        times = counts if weights is None else counts * weights
        means[:, part] = matrix @ times.T / (matrix.shape[1] if weights is None else times.sum(axis=1))
    return means


def mean_intervals(columns: Sequence[Floats], weights: Floats | None = None) -> list[list[float]]:
    """The 95 % interval of each column's mean over resampled queries.

    >>> mean_intervals([np.array([1.0, 1.0, 1.0])])
    [[1.0, 1.0]]
    """
    ends: list[list[float]] = percentile_intervals(resampled_means(columns, weights)).tolist()
    return ends


def standard_error(values: Floats, weights: Floats | None = None) -> float | None:
    """Of the mean of queries' values; None for a single query.

    With weights, whose mean is 1, it goes by the influence values w·(x − mean).

    >>> standard_error(np.array([0.0, 2.0])), round(standard_error(np.array([0.0, 2.0]), np.array([1.5, 0.5])), 6)
    (1.0, 0.75)
    """
    if weights is not None:
        values = weights * (values - weighted_mean(values, weights))
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
