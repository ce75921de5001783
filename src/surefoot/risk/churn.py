"""How far rankings moved from the baseline's: Kendall's τ, share re-ranked, distance bins.

Wang et al. (SIGIR 2012, §5.9) and Bennett et al. (ICTIR 2015, §3.1). Systems are ranked by each figure too, and τ_b
says how far two such rankings agree; rounding parts no two systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Flags, Floats, Ints
from surefoot.risk.tradeoff import ROUNDING, dense_ranks
from surefoot.risk.vectors import weighted_mean

if TYPE_CHECKING:
    from surefoot.data.types.runs import Run
    from surefoot.risk.assessment_data import Bin, Json

BINS = 10
RANKED_FIGURES = ("mean", "u_risk", "t_risk", "z_risk", "geo_risk")


@dataclass(frozen=True)
class Churn:
    """What changed between two runs, query by query.

    `tau` is NaN for the queries with fewer than two documents in common, which `left_out` counts.
    """

    tau: Floats
    reranked: Flags
    left_out: int

    weights: Floats | None = None  # relative ones, by which all means and shares are weighted

    @property
    def share_reranked(self) -> float:
        """R: the share of queries whose list is not the baseline's."""
        return min(1.0, weighted_mean(self.reranked.astype(np.float64), self.weights))  # rounding may give more

    @property
    def mean_tau(self) -> float | None:
        """K-τ: mean τ over all queries that have one."""
        return self._mean_tau(np.isfinite(self.tau))

    @property
    def mean_tau_reranked(self) -> float | None:
        """K-τ|R: mean τ over the re-ranked queries that have one."""
        return self._mean_tau(np.isfinite(self.tau) & self.reranked)

    def _mean_tau(self, of: Flags) -> float | None:
        if not of.any():
            return None
        return float(np.average(self.tau[of], weights=None if self.weights is None else self.weights[of]))

    def bins(self) -> Ints:
        """The distance bin of each query, min(9, ⌊10·(1 − τ)/2⌋), −1 where it has no τ."""
        defined = np.isfinite(self.tau)
        distance = (1 - np.where(defined, self.tau, 1)) / 2
        # A small tolerance keeps 0.3, which floats hold as 0.29999…, out of the bin below.
        return np.where(defined, np.minimum(BINS - 1, np.floor(BINS * distance + 1e-9)).astype(np.int64), -1)

    def bin_figures(self, difference: Floats) -> list[Bin]:
        """Each bin's queries, reward and risk; these two are divided by all queries, so that the bins add up to all."""
        bins = self.bins()
        if self.weights is not None:
            difference = self.weights * difference
        return [
            {
                "distance": [number / BINS, (number + 1) / BINS],
                "queries": int((bins == number).sum()),
                "reward": float(np.maximum(difference, 0)[bins == number].sum() / len(bins)),
                "risk": float(np.maximum(-difference, 0)[bins == number].sum() / len(bins)),
            }
            for number in range(BINS)
        ]


def compare_rankings(
    run: Run, baseline: Run, queries: tuple[str, ...] | None = None, depth: int | None = None
) -> Churn:
    """Compare a run's rankings with a baseline's, over `queries` (the baseline's by default) down to `depth`.

    >>> from surefoot.data.types.runs import Run
    >>> today = Run._read({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> new = Run._read({"q": {"a": 3.0, "c": 2.0, "b": 1.0}})
    >>> compare_rankings(new, today).tau.round(4)
    array([0.3333])
    """
    queries = baseline.queries if queries is None else queries
    mine, theirs = run.ranking.match(baseline.ranking)
    if depth is not None:
        near = (run.ranking.rank_at(mine) <= depth) & (baseline.ranking.rank_at(theirs) <= depth)
        mine, theirs = mine[near], theirs[near]
    by_rank = np.argsort(mine)
    mine, theirs = mine[by_rank], theirs[by_rank]
    number = {query: i for i, query in enumerate(queries)}
    to_query = np.array([number.get(query, -1) for query in run.queries], dtype=np.int64)
    group = to_query[run.ranking.query_at(mine)]
    listed = group >= 0
    group, theirs, same_rank = (
        group[listed],
        theirs[listed],
        (run.ranking.rank_at(mine) == baseline.ranking.rank_at(theirs))[listed],
    )
    common = np.bincount(group, minlength=len(queries))
    identical = np.bincount(group[same_rank], minlength=len(queries))
    mine_length, their_length = _lengths(run, queries, depth), _lengths(baseline, queries, depth)
    return Churn(
        tau=kendall_tau(group, theirs, common),
        reranked=(identical < mine_length) | (identical < their_length),
        left_out=int((common < 2).sum()),
    )


def kendall_tau(group: Ints, theirs: Ints, lengths: Ints) -> Floats:
    """τ of each group of places that `theirs` gives documents in our order; NaN where a group has but one.

    >>> kendall_tau(np.array([0, 0, 0]), np.array([1, 0, 2]), np.array([3])).round(4)
    array([0.3333])
    """
    pairs = lengths * (lengths - 1) / 2
    tau = np.full(len(lengths), np.nan)
    np.divide(pairs - 2 * inversions(group, theirs, len(lengths)), pairs, out=tau, where=lengths > 1)
    return tau


def inversions(group: Ints, values: Ints, groups: int) -> Floats:
    """For each group the number of pairs i < j with values[i] > values[j], in O(n log n), all groups at once.

    The values are sorted bit by bit, from the top; a pair is inverted
    at the first bit where its values part, if the one with the set bit comes first.
    """
    total = np.zeros(groups)
    if not len(values):
        return total
    by_group = np.argsort(group, kind="stable")
    group, values = group[by_group], values[by_group]
    first = np.searchsorted(group, group)  # where each entry's group starts
    rank = np.empty_like(group)
    rank[np.lexsort((values, group))] = np.arange(len(group))
    rank -= first  # a permutation of 0 … n−1 within each group
    block = np.zeros_like(rank)  # the bits decided so far
    for bit in range(int(rank.max()).bit_length() - 1, -1, -1):
        is_set = (rank >> bit) & 1
        key = first + (block << (bit + 1))  # where the block of entries that agree so far starts
        ones = np.cumsum(is_set) - is_set
        ones_before = ones - ones[key]
        zero = is_set == 0
        total += np.bincount(group[zero], ones_before[zero], minlength=groups)
        # Stable partition of each block: zeros keep their order in front, ones follow.
        within = np.arange(len(rank)) - key
        target = key + np.where(zero, within - ones_before, (1 << bit) + ones_before)
        new_rank, new_block = np.empty_like(rank), np.empty_like(block)
        new_rank[target], new_block[target] = rank, (block << 1) | is_set
        rank, block = new_rank, new_block
    return total


def _lengths(run: Run, queries: tuple[str, ...], depth: int | None) -> Ints:
    length = dict(zip(run.queries, run.ranking.lengths.tolist(), strict=True))
    lengths = np.array([length.get(query, 0) for query in queries], dtype=np.int64)
    return lengths if depth is None else np.minimum(lengths, depth)


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
