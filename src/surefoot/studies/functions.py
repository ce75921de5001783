"""Choosing among functions: how each measure ranks them, how surely, and where nDCG and the robust ones part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arguments import MOST_DRAWS, integer
from surefoot.arrays import Floats
from surefoot.data.types.scores import Scores
from surefoot.errors import ArgumentError
from surefoot.risk.bootstrap import percentile_intervals, resamples
from surefoot.risk.plain_data import Json
from surefoot.studies.options import MOST, REPLICATES
from surefoot.studies.study import SAME, Study, matrices_of
from surefoot.studies.study_data import schema_name


def compare_functions(
    scores: Scores | Sequence[Scores], *, replicates: int = REPLICATES, seed: int = 0, most: int = MOST
) -> Study:
    """Rank functions by each measure with bootstrap confidence, and say where measures disagree, and on which queries.

    Each matrix of `scores` is one measure of the same systems on the same queries; the first (nDCG) is the one
    the others are compared with. `share_best` is the share of resamples of the queries in which a
    function is best (ties are shared), `interval` the 95 % percentile interval of its mean. A disagreement is a
    pair of functions that the two measures order differently; its queries are the `most` on which they part furthest.
    Where all pairs agree, the queries are those of the two best functions.

    >>> ndcg = Scores([[0.9, 0.8, 0.1], [0.5, 0.6, 0.6]], ["f1", "f2"], ["a", "b", "c"], "nDCG@5")
    >>> soft = Scores([[0.5, 0.5, 0.1], [0.5, 0.6, 0.5]], ["f1", "f2"], ["a", "b", "c"], "SoftNDCG@5")
    >>> pair = compare_functions([ndcg, soft]).to_dict()["disagreements"][0]
    >>> pair["better_by_first"], pair["better_by_other"], pair["queries"][0]["query"]
    ('f1', 'f2', 'b')
    """
    matrices = matrices_of(scores)
    if len(matrices[0].systems) < 2:
        raise ArgumentError(f"only {matrices[0].systems[0]!r} was given; comparing takes at least two functions")
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
            "schema": schema_name("functions"),
            "measures": [matrix.measure for matrix in matrices],
            "systems": list(first.systems),
            "queries": len(first.queries),
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
    for part, counts in resamples(queries, replicates, seed):
        for means, matrix in zip(drawn, matrices, strict=True):
            means[:, part] = matrix.values @ counts.T / queries
    return drawn


def _rank_functions(matrix: Scores, drawn: Floats) -> list[Json]:
    means = matrix.mean()
    best = drawn >= drawn.max(axis=0) - SAME
    share = (best / best.sum(axis=0)).mean(axis=1)
    intervals = percentile_intervals(drawn)
    order = np.argsort(-means, kind="stable")
    return [
        {
            "system": matrix.systems[row],
            "rank": 1 + int((means > means[row] + SAME).sum()),
            "mean": float(means[row]),
            "interval": intervals[row].tolist(),
            "share_best": float(share[row]),
        }
        for row in order
    ]


def _disagreements(first: Scores, other: Scores, most: int) -> list[Json]:
    """Pairs of functions that two measures order differently; or the two best, with `reversed` false, if none."""
    a, b = first.mean(), other.mean()
    order = np.argsort(-a, kind="stable").tolist()
    pairs = [
        (one, two)
        for i, one in enumerate(order)
        for two in order[i + 1 :]
        if a[one] > a[two] + SAME and b[two] > b[one] + SAME
    ]
    reversed_ = bool(pairs)
    disagreements = []
    for one, two in pairs or [(order[0], order[1])]:
        disagreements.append(
            {
                "measure": other.measure,
                "against": first.measure,
                "reversed": reversed_,
                "better_by_first": first.systems[one],
                "better_by_other": first.systems[two if reversed_ else one],
                "systems": [first.systems[one], first.systems[two]],
                "difference_by_first": float(a[one] - a[two]),
                "difference_by_other": float(b[one] - b[two]),
                **_parting_queries(first, other, one, two, most),
            }
        )
    return disagreements


def _parting_queries(first: Scores, other: Scores, one: int, two: int, most: int) -> Json:
    """The queries on which the measures prefer different functions, those they part furthest on first."""
    x = first.values[one] - first.values[two]
    y = other.values[one] - other.values[two]
    part = np.flatnonzero(((x > SAME) & (y < -SAME)) | ((x < -SAME) & (y > SAME)))
    only = np.flatnonzero((np.abs(x) <= SAME) & (np.abs(y) > SAME))
    # Where no query is reversed outright, those on which the measures differ most still say why.
    gap = np.abs(x - y)
    shown = part if len(part) else np.flatnonzero(gap > SAME)
    shown = shown[np.argsort(-gap[shown], kind="stable")][:most]
    return {
        "queries_reversed": len(part),
        "queries_tied_by_first_only": len(only),
        "queries": [
            {
                "query": first.queries[i],
                "by_first": [float(first.values[one, i]), float(first.values[two, i])],
                "by_other": [float(other.values[one, i]), float(other.values[two, i])],
            }
            for i in shown.tolist()
        ],
    }
