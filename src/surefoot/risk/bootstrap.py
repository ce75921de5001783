"""Resampling queries, and confidence intervals for U_Risk, Z_Risk and GeoRisk by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from surefoot.arguments import MOST_DRAWS, integer
from surefoot.arrays import Floats
from surefoot.progress import steps
from surefoot.risk.expectation import deviation, expectation, geo_risk_of_means
from surefoot.significance import CONFIDENCE

_CELLS = 1 << 22  # replicate × query cells handled at once, so that memory does not grow with either
_DRAWS = 1 << 25  # figures kept at once, for the same reason


def resamples(queries: int, replicates: int, seed: int) -> Iterator[tuple[slice, Floats]]:
    """How often each query is drawn in each replicate, some replicates at a time: where they stand, and the counts.

    The same seed draws the same queries.
    """
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // queries)
    for start in steps(range(0, replicates, step), "Resampling queries"):
        part = slice(start, min(start + step, replicates))
        counts = rng.multinomial(queries, np.full(queries, 1 / queries), size=part.stop - part.start)
        yield part, counts.astype(np.float64)


def percentile_intervals(draws: Floats) -> Floats:
    """Lower and upper ends of the draws along the last axis, as the new last axis."""
    return np.moveaxis(np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=-1), 0, -1)


def bootstrap_intervals(
    values: Floats,
    weighted: Sequence[Floats],
    alphas: Sequence[float],
    population: Sequence[int] | None,
    replicates: int,
    seed: int = 0,
    weights: Floats | None = None,
) -> dict[str, Floats | None]:
    """Percentile intervals over resampled queries, with expectations estimated again in each replicate.

    Lower and upper ends of each figure, indexed [α, system, end]; None where Z and Geo do not exist.

    `weighted` holds for each α the weighted differences x_q of every system, whose mean is U_Risk; `population` the
    rows that expectations are taken over, or None for no Z and Geo. The same seed gives the same intervals. Queries
    are resampled with their `weights`.
    """
    replicates, seed = integer("bootstrap", replicates, 2, MOST_DRAWS), integer("seed", seed, 0)
    intervals: dict[str, list[Floats]] = {"u_risk": [], "z_risk": [], "geo_risk": []}
    step = max(1, _DRAWS // (len(alphas) * replicates))
    for start in range(0, len(values), step):  # the seed draws the same queries for each group of systems
        rows = range(start, min(start + step, len(values)))
        for name, draws in _draws(values, weighted, alphas, population, rows, replicates, seed, weights).items():
            intervals[name].append(percentile_intervals(draws))
    absent = () if population is not None else ("z_risk", "geo_risk")
    return {name: None if name in absent else np.concatenate(parts, axis=1) for name, parts in intervals.items()}


def _draws(
    values: Floats,
    weighted: Sequence[Floats],
    alphas: Sequence[float],
    population: Sequence[int] | None,
    rows: range,
    replicates: int,
    seed: int,
    weights: Floats | None,
) -> dict[str, Floats]:
    """U, Z and Geo of some systems in each replicate, indexed [α, system, replicate]."""
    queries = values.shape[1]
    u = np.empty((len(alphas), len(rows), replicates))
    z = np.full(u.shape, np.nan)
    geo = np.full(u.shape, np.nan)
    for part, counts in resamples(queries, replicates, seed):
        times = counts if weights is None else counts * weights
        total = queries if weights is None else times.sum(axis=1)
        for i, x in enumerate(weighted):
            u[i, :, part] = x[rows.start : rows.stop] @ times.T / total
        if population is not None:
            _resampled_expectation(values, counts, alphas, population, rows, z[:, :, part], geo[:, :, part])
    return {"u_risk": u, "z_risk": z, "geo_risk": geo}


def _resampled_expectation(
    values: Floats,
    counts: Floats,
    alphas: Sequence[float],
    population: Sequence[int],
    rows: range,
    z: Floats,
    geo: Floats,
) -> None:
    """Fill in Z and GeoRisk of the rows that are of the population for resampled counts of the queries."""
    column = values[population].sum(axis=0)
    total = counts @ column
    queries = values.shape[1]
    for row in steps(sorted(set(rows).intersection(population)), "Systems"):
        at = row - rows.start
        row_total = counts @ values[row]
        row_deviations = deviation(values[row], expectation(row_total[:, None], total[:, None], column))
        below = (np.minimum(row_deviations, 0) * counts).sum(axis=1)
        everything = (row_deviations * counts).sum(axis=1)
        for i, alpha in enumerate(alphas):
            z[i, at] = everything + alpha * below
            geo[i, at] = geo_risk_of_means(row_total / queries, z[i, at] / queries)
