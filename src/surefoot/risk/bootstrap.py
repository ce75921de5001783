"""Confidence intervals for U_Risk, Z_Risk and GeoRisk by resampling queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.data.ranking import Floats
from surefoot.errors import ArgumentError
from surefoot.risk.expectation import combine

_CELLS = 1 << 22  # replicate × query cells handled at once, so that memory does not grow with either


@dataclass(frozen=True)
class Intervals:
    """Lower and upper ends, indexed [α, system, end]; Z and Geo are None where they do not exist."""

    u_risk: Floats
    z_risk: Floats | None
    geo_risk: Floats | None


def bootstrap_intervals(
    values: Floats,
    weighted: Sequence[Floats],
    alphas: Sequence[float],
    population: Sequence[int] | None,
    replicates: int,
    seed: int = 0,
    confidence: float = 0.95,
) -> Intervals:
    """Percentile intervals over resampled queries, the expectations estimated anew in each replicate.

    `weighted` holds for each α the weighted differences x_q of every system, whose mean is U_Risk; `population` the
    rows that expectations are taken over, or None for no Z and Geo. The same seed gives the same intervals.
    """
    if replicates < 2:
        raise ArgumentError(f"bootstrap is {replicates}; it needs at least 2 replicates (1000 is usual)")
    systems, queries = values.shape
    rng = np.random.default_rng(seed)
    u = np.empty((len(alphas), systems, replicates))
    z = np.full((len(alphas), systems, replicates), np.nan)
    geo = np.full_like(z, np.nan)
    step = max(1, _CELLS // queries)
    for start in range(0, replicates, step):
        part = slice(start, min(start + step, replicates))
        counts = rng.multinomial(queries, np.full(queries, 1 / queries), size=part.stop - part.start).astype(np.float64)
        for i, x in enumerate(weighted):
            u[i, :, part] = x @ counts.T / queries
        if population is not None:
            _resampled_expectation(values, counts, alphas, population, z[:, :, part], geo[:, :, part])
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    return Intervals(
        _quantiles(u, ends),
        None if population is None else _quantiles(z, ends),
        None if population is None else _quantiles(geo, ends),
    )


def _resampled_expectation(
    values: Floats, counts: Floats, alphas: Sequence[float], population: Sequence[int], z: Floats, geo: Floats
) -> None:
    """Fill in Z and GeoRisk of each system of the population for resampled counts of the queries."""
    column = values[population].sum(axis=0)
    total = counts @ column
    queries = values.shape[1]
    for row in population:
        row_total = counts @ values[row]
        share = np.divide(row_total, total, out=np.zeros_like(total), where=total > 0)
        expectation = share[:, None] * column
        deviation = np.divide(
            values[row] - expectation,
            np.sqrt(expectation),
            out=np.zeros_like(expectation),
            where=expectation > 0,
        )
        below = (np.minimum(deviation, 0) * counts).sum(axis=1)
        everything = (deviation * counts).sum(axis=1)
        for i, alpha in enumerate(alphas):
            z[i, row] = everything + alpha * below
            geo[i, row] = combine(row_total / queries, z[i, row] / queries)


def _quantiles(draws: Floats, ends: list[float]) -> Floats:
    return np.moveaxis(np.quantile(draws, ends, axis=-1), 0, -1)
