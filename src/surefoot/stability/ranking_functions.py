"""Choosing among functions: how each measure ranks them, how surely, and where nDCG and the robust ones part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arguments import MOST_DRAWS, integer
from surefoot.arrays import Floats
from surefoot.data.types.scores import Scores
from surefoot.errors import ArgumentError
from surefoot.risk.assessment_data import Json
from surefoot.risk.bootstrap import percentile_intervals, resamples
from surefoot.risk.tradeoff import ROUNDING, difference_of
from surefoot.stability.options import MOST_QUERIES_LISTED, REPLICATES
from surefoot.stability.study import Study, matrices_of, traffic_block


def measures(
    scores: Scores | Sequence[Scores], *, replicates: int = REPLICATES, seed: int = 0, most: int = MOST_QUERIES_LISTED
) -> Study:
    """Rank functions by each measure with bootstrap confidence, and say where measures disagree, and on which queries.

    Each matrix of `scores` is one measure of the same systems on the same queries; the first (nDCG) is the one
    the others are compared with. `share_best` is the share of resamples of the queries in which a
    function is best (ties are shared), `interval` the 95 % percentile interval of its mean. A disagreement is a
    pair of functions that the two measures order differently; its queries are the `most` on which they part furthest.
    Where all pairs agree, the queries are those of the two best functions.

    >>> ndcg = Scores([[0.9, 0.8, 0.1], [0.5, 0.6, 0.6]], ["f1", "f2"], ["a", "b", "c"], "nDCG@5")
    >>> soft = Scores([[0.5, 0.5, 0.1], [0.5, 0.6, 0.5]], ["f1", "f2"], ["a", "b", "c"], "SoftNDCG@5")
    >>> pair = measures([ndcg, soft]).to_dict()["disagreements"][0]
    >>> pair["better_by_first"], pair["better_by_other"], pair["queries"][0]["query"]
    ('f1', 'f2', 'b')
    """
    matrices = matrices_of(scores)
    if len(matrices[0].systems) < 2:
        raise ArgumentError(f"you gave only {matrices[0].systems[0]!r}; a comparison needs at least two systems")
    integer("replicates", replicates, 2, MOST_DRAWS)
    integer("seed", seed, 0)
    integer("most", most, 0)
    first = matrices[0]
    resampled = _resampled_means(matrices, replicates, seed)
    measures: Json = {}
    for matrix, drawn in zip(matrices, resampled, strict=True):
        measures[matrix.measure] = _rank_functions(matrix, drawn)
    disagreements = [pair for other in matrices[1:] for pair in _disagreements(first, other, most)]
    return Study(
        {
            "schema": "surefoot/stability-functions/1",
            "measures": [matrix.measure for matrix in matrices],
            "systems": list(first.systems),
            "queries": len(first.queries),
            **traffic_block(first),
            "replicates": replicates,
            "seed": seed,
            "results": measures,
            "disagreements": disagreements,
        }
    )


def _resampled_means(matrices: Sequence[Scores], replicates: int, seed: int) -> list[Floats]:
    """Means [system, replicate] of each measure over the same resampled queries."""
    queries = len(matrices[0].queries)
    drawn = [np.empty((len(matrix.systems), replicates)) for matrix in matrices]
    weights = matrices[0]._relative_weights
    for part, counts in resamples(queries, replicates, seed):
        times = counts if weights is None else counts * weights
        for means, matrix in zip(drawn, matrices, strict=True):
            means[:, part] = matrix.values @ times.T / (queries if weights is None else times.sum(axis=1))
    return drawn


def _rank_functions(matrix: Scores, drawn: Floats) -> list[Json]:
    means, rounding = matrix.mean(), ROUNDING * matrix._largest()
    best = drawn >= drawn.max(axis=0) - rounding
    share_best = (best / best.sum(axis=0)).mean(axis=1)
    intervals = percentile_intervals(drawn)
    order = np.argsort(-means, kind="stable")
    return [
        {
            "system": matrix.systems[row],
            "rank": 1 + int((means > means[row] + rounding).sum()),
            "mean": float(means[row]),
            "interval": intervals[row].tolist(),
            "share_best": float(share_best[row]),
        }
        for row in order
    ]


def _disagreements(first: Scores, other: Scores, most: int) -> list[Json]:
    """Pairs of functions that two measures order differently; or the two best, with `reversed` false, if none."""
    a, b = first.mean(), other.mean()
    off_a, off_b = (ROUNDING * matrix._largest() for matrix in (first, other))
    order = np.argsort(-a, kind="stable").tolist()
    pairs = [
        (row_a, row_b)
        for i, row_a in enumerate(order)
        for row_b in order[i + 1 :]
        if a[row_a] > a[row_b] + off_a and b[row_b] > b[row_a] + off_b
    ]
    reversed_ = bool(pairs)
    disagreements = []
    for row_a, row_b in pairs or [(order[0], order[1])]:
        disagreements.append(
            {
                "measure": other.measure,
                "against": first.measure,
                "reversed": reversed_,
                "better_by_first": first.systems[row_a],
                "better_by_other": first.systems[row_b if reversed_ else row_a],
                "systems": [first.systems[row_a], first.systems[row_b]],
                "difference_by_first": float(a[row_a] - a[row_b]),
                "difference_by_other": float(b[row_a] - b[row_b]),
                **_parting_queries(first, other, row_a, row_b, most),
            }
        )
    return disagreements


def _parting_queries(first: Scores, other: Scores, row_a: int, row_b: int, most: int) -> Json:
    """The queries on which the measures prefer different functions, those they part furthest on first."""
    x, y = (difference_of(matrix.values[row_a], matrix.values[row_b]) for matrix in (first, other))
    part = np.flatnonzero(np.sign(x) * np.sign(y) < 0)
    only = np.flatnonzero((x == 0) & (y != 0))
    # Where no query is reversed outright, those on which the measures differ most still say why.
    gap = np.abs(x - y)
    listed_queries = part if len(part) else np.flatnonzero(gap > ROUNDING)
    listed_queries = listed_queries[np.argsort(-gap[listed_queries], kind="stable")][:most]
    return {
        "queries_reversed": len(part),
        "queries_tied_by_first_only": len(only),
        "queries": [
            {
                "query": first.queries[i],
                "by_first": [float(first.values[row_a, i]), float(first.values[row_b, i])],
                "by_other": [float(other.values[row_a, i]), float(other.values[row_b, i])],
            }
            for i in listed_queries.tolist()
        ],
    }
