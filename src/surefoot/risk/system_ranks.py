"""Systems ranked by each figure, and how far two such rankings agree (Kendall's τ_b); rounding parts no two systems."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.risk.assessment_data import Json
from surefoot.risk.churn import inversions
from surefoot.risk.rounding import ROUNDING, dense_ranks

RANKED_FIGURES = ("mean", "u_risk", "t_risk", "z_risk", "geo_risk")


def rank_systems(systems: list[Json], key: str) -> Json:
    """Add each system's rank under each figure at α; give Kendall's τ_b between the rankings."""
    columns = {
        name: [entry["mean"] if name == "mean" else entry["alpha"][key][name] for entry in systems]
        for name in RANKED_FIGURES
    }
    ranks = {name: ranks_of(values) for name, values in columns.items()}
    for position, entry in enumerate(systems):
        system_ranks = {name: values[position] for name, values in ranks.items()}
        entry["rank"] = system_ranks.pop("mean")
        entry["alpha"][key]["rank"] = system_ranks
    return {
        f"{first}~{other}": tau_b(columns[first], columns[other])
        for i, first in enumerate(RANKED_FIGURES)
        for other in RANKED_FIGURES[i + 1 :]
    }


def ranks_of(values: Sequence[float | None]) -> list[int | None]:
    """For each value one more than the number of better ones, those that differ by rounding only being equal.

    >>> ranks_of([0.5, None, 0.7, 0.7 + 1e-15, 0.1])
    [3, None, 1, 1, 4]
    """
    present = np.array([value for value in values if value is not None])
    ascending = np.sort(present)
    better = len(present) - np.searchsorted(ascending, present + _rounding(present), side="right")
    ranks = iter((better + 1).tolist())
    return [None if value is None else next(ranks) for value in values]


def tau_b(first: Sequence[float | None], other: Sequence[float | None]) -> float | None:
    """Kendall's τ_b of two figures of the same systems, of those that have both; None where one does not vary.

    >>> tau_b([1.0, 2.0, 3.0, None], [1.0, 3.0, 2.0, 5.0])
    0.3333333333333333
    """
    both = [(a, b) for a, b in zip(first, other, strict=True) if a is not None and b is not None]
    if len(both) < 2:
        return None
    x, y = (dense_ranks(column, _rounding(column)) for column in np.array(both).T)
    pairs = _pairs(np.array([len(both)]))
    tied_x, tied_y, tied_both = (_pairs(np.unique(codes, return_counts=True)[1]) for codes in (x, y, x * len(both) + y))
    order = np.lexsort((y, x))
    discordant = float(inversions(np.zeros(len(both), np.int64), y[order], 1)[0])
    norm = math.sqrt((pairs - tied_x) * (pairs - tied_y))
    return (pairs - tied_x - tied_y + tied_both - 2 * discordant) / norm if norm else None


def _rounding(values: Floats) -> float:
    return ROUNDING * float(np.abs(values).max(initial=0.0))


def _pairs(counts: Ints) -> float:
    return float((counts * (counts - 1) // 2).sum())
