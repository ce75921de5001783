"""Which function each measure picks: of two, on random subsets of queries and over time (Li et al., CIKM 2009); of all,
over resampled queries.

These studies see effectiveness only, so they take any score matrices.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

import numpy as np

from surefoot.arguments import MOST_DRAWS, integer
from surefoot.arrays import Floats
from surefoot.data.reading.query_tables import date_of
from surefoot.data.types.scores import Scores
from surefoot.errors import ArgumentError, other_queries_hint, shortened
from surefoot.progress import steps
from surefoot.risk.assessment_data import Json
from surefoot.risk.bootstrap import percentile_intervals, resamples
from surefoot.risk.tradeoff import ROUNDING, difference_of
from surefoot.stability.study import Study, matrices_of, traffic_block
from surefoot.stability.study_data import MOST_QUERIES_LISTED, PERIOD, PERIOD_SIZE, REPLICATES, SUBSET_SIZES, SUBSETS

_CELLS = 1 << 21  # subset × query cells handled at once


def subsets(
    scores: Scores | Sequence[Scores],
    systems: tuple[str, str] | None = None,
    *,
    sizes: Sequence[int] | None = None,
    subsets: int = SUBSETS,
    seed: int = 0,
) -> Study:
    """Which of two functions each measure picks over random subsets of K queries, against K.

    Each matrix of `scores` is one measure of the same systems on the same queries. On a subset a measure picks the
    function of the higher mean, the first in a tie. `rate` is the share of subsets on which it picks the winner on
    all queries, `variance` that of one such pick, rate·(1 − rate). All measures see the same subsets,
    drawn without replacement. Scores with weights (`score(…, traffic=…)`) are averaged by them.

    >>> scores = Scores([[0.6, 0.5, 0.4, 0.9], [0.5, 0.4, 0.6, 0.2]], ["f1", "f2"], ["a", "b", "c", "d"], "nDCG@5")
    >>> subsets(scores, sizes=[1, 4]).to_dict()["results"]["nDCG@5"]["rate"]
    [0.755, 1.0]
    """
    matrices, names = _two_functions(scores, systems)
    queries = len(matrices[0].queries)
    subset_sizes = _sizes(sizes, queries)
    _check_draws(subsets, seed)
    difference, weights, rounding = _differences(matrices, names), _weights(matrices), _rounding(matrices)
    first = _means(difference, weights) >= -rounding
    results: Json = {}
    rates = np.empty((len(matrices), len(subset_sizes)))
    for column, size in enumerate(steps(subset_sizes, "Drawing subsets")):
        picks = _draw_picks(difference, weights, size, subsets, rounding, np.random.default_rng([seed, size]))
        rates[:, column] = (picks == first[:, None]).mean(axis=1)
    for row, matrix in enumerate(matrices):
        results[matrix.measure] = {
            **_winner(matrix, names, bool(first[row])),
            **_rates(rates[row]),
        }
    return Study(
        {
            "schema": "surefoot/stability-subsets/1",
            "measures": [matrix.measure for matrix in matrices],
            "systems": list(names),
            "queries": queries,
            **traffic_block(matrices[0]),
            "sizes": subset_sizes,
            "subsets": subsets,
            "seed": seed,
            "results": results,
        }
    )


def time(
    scores: Scores | Sequence[Scores],
    dates: Mapping[str, datetime.date | str],
    systems: tuple[str, str] | None = None,
    *,
    period: str = PERIOD,
    size: int = PERIOD_SIZE,
    subsets: int = SUBSETS,
    seed: int = 0,
) -> Study:
    """Which of two functions each measure picks in each period of time, on random subsets of `size` of its queries.

    `dates` gives queries' dates; `period` is "day", "week" or "month". The winner is that on all dated queries.
    Periods of fewer than `size` queries are left out, and so are queries without a date; the result says which.
    The paper has nine days of 300 queries and subsets of 50.
    """
    matrices, names = _two_functions(scores, systems)
    _check_draws(subsets, seed)
    integer("size", size, 1)
    groups = _periods(matrices[0].queries, dates, period)
    large_enough = {label: rows for label, rows in groups.items() if len(rows) >= size}
    if not large_enough:
        most = max(len(rows) for rows in groups.values())
        raise ArgumentError(
            f"no {period} has {size} queries; the largest of the {len(groups)} {period}s has {most}. "
            f"Use smaller subsets (at most {most}) or a longer period (week, month)"
        )
    difference, weights, rounding = _differences(matrices, names), _weights(matrices), _rounding(matrices)
    dated = np.concatenate(list(groups.values()))
    first = _means(difference[:, dated], weights[dated]) >= -rounding
    rates = np.empty((len(matrices), len(large_enough)))
    differences = np.empty((len(matrices), len(large_enough)))
    for column, rows in enumerate(steps(list(large_enough.values()), "Drawing subsets")):
        rng = np.random.default_rng([seed, column])
        picks = _draw_picks(difference[:, rows], weights[rows], size, subsets, rounding, rng)
        rates[:, column] = (picks == first[:, None]).mean(axis=1)
        differences[:, column] = _means(difference[:, rows], weights[rows])
    return Study(
        {
            "schema": "surefoot/stability-time/1",
            "measures": [matrix.measure for matrix in matrices],
            "systems": list(names),
            "queries": len(matrices[0].queries),
            **traffic_block(matrices[0]),
            "undated": len(matrices[0].queries) - len(dated),
            "period": period,
            "periods": [{"period": label, "queries": len(rows)} for label, rows in large_enough.items()],
            "left_out": [
                {"period": label, "queries": len(rows)} for label, rows in groups.items() if label not in large_enough
            ],
            "size": size,
            "subsets": subsets,
            "seed": seed,
            "results": {
                matrix.measure: {
                    **_winner(matrix, names, bool(first[row]), dated),
                    "difference": differences[row].tolist(),
                    **_rates(rates[row]),
                }
                for row, matrix in enumerate(matrices)
            },
        }
    )


def _two_functions(
    scores: Scores | Sequence[Scores], systems: tuple[str, str] | None
) -> tuple[list[Scores], tuple[str, str]]:
    matrices = matrices_of(scores)
    names = matrices[0].systems if systems is None else tuple(systems)
    if len(names) != 2 or names[0] == names[1]:
        listed = ", ".join(map(shortened, names[:8]))
        raise ArgumentError(
            f"this study compares exactly two systems, but there are {len(names)} ({listed}); give two runs, or choose "
            "two of them by name"
        )
    for name in names:
        matrices[0]._row(name)
    return matrices, (names[0], names[1])


def _sizes(sizes: Sequence[int] | None, queries: int) -> list[int]:
    if sizes is None:
        return [size for size in SUBSET_SIZES if size < queries] + [queries]
    distinct = sorted({integer("a size of subsets", size, 1) for size in sizes})
    if not distinct:
        raise ArgumentError("no size of subsets was given; give at least one")
    if distinct[-1] > queries:
        raise ArgumentError(
            f"a subset of {distinct[-1]} queries is not possible, because there are {queries} queries; use sizes of at "
            f"most {queries}"
        )
    return distinct


def _check_draws(subsets: int, seed: int) -> None:
    integer("subsets", subsets, 1, MOST_DRAWS)
    integer("seed", seed, 0)


def _differences(matrices: Sequence[Scores], names: tuple[str, str]) -> Floats:
    """Of the two functions on each query, by each measure, times the query's weight."""
    return np.stack([difference_of(matrix[names[0]], matrix[names[1]]) for matrix in matrices]) * _weights(matrices)


def _weights(matrices: Sequence[Scores]) -> Floats:
    """The relative weights of the queries; 1 where all count the same."""
    weights = matrices[0]._relative_weights
    return np.ones(len(matrices[0].queries)) if weights is None else weights


def _rounding(matrices: Sequence[Scores]) -> Floats:
    """By how much means of each measure may differ through rounding."""
    return ROUNDING * np.array([matrix._largest() for matrix in matrices])


def _means(weighted: Floats, weights: Floats) -> Floats:
    """Weighted means over the last axis, of values that have been multiplied by the weights."""
    return np.asarray(weighted.sum(axis=-1) / weights.sum(axis=-1))


def _draw_picks(
    difference: Floats, weights: Floats, size: int, subsets: int, rounding: Floats, rng: np.random.Generator
) -> Floats:  # fmt: skip
    """For each measure and subset whether the first function is picked; the same subsets for every measure."""
    measures, queries = difference.shape
    picks = np.empty((measures, subsets), dtype=bool)
    step = max(1, _CELLS // queries)
    for start in range(0, subsets, step):
        part = slice(start, min(start + step, subsets))
        # A random size-K subset is where the K smallest of as many random numbers as queries stand.
        drawn = rng.random((part.stop - part.start, queries))
        chosen = np.argpartition(drawn, size - 1, axis=1)[:, :size]
        drawn_weights = weights[chosen]
        for row in range(measures):
            picks[row, part] = _means(difference[row][chosen], drawn_weights) >= -rounding[row]
    return picks


def _winner(matrix: Scores, names: tuple[str, str], first: bool, rows: np.ndarray | slice = slice(None)) -> Json:
    weights = matrix._relative_weights
    own = None if weights is None else weights[rows]
    return {
        "means": [float(np.average(matrix[name][rows], weights=own)) for name in names],
        "winner": names[0] if first else names[1],
    }


def _rates(rates: Floats) -> Json:
    """How often the winner is picked, and the variance of one pick."""
    return {"rate": rates.tolist(), "variance": (rates * (1 - rates)).tolist()}


def _periods(queries: Sequence[str], dates: Mapping[str, datetime.date | str], period: str) -> dict[str, np.ndarray]:
    """The rows of each period's queries, in order of time."""
    labels = {
        "day": lambda date: date.isoformat(),
        "week": lambda date: (date - datetime.timedelta(days=date.weekday())).isoformat(),
        "month": lambda date: date.isoformat()[:7],
    }
    if period not in labels:
        raise ArgumentError(f"period is {shortened(period)}; write day, week or month")
    groups: dict[str, list[int]] = {}
    for row, query in enumerate(queries):
        date = dates.get(query)
        if date is None:
            continue
        known = date_of(str(date))
        if known is None:
            raise ArgumentError(f"the date of query {shortened(query)} is {shortened(date)}; write it as 2026-11-15")
        groups.setdefault(labels[period](known), []).append(row)
    if not groups:
        raise ArgumentError(
            f"none of the {len(queries):,} queries has a date: {other_queries_hint('dates', dates, queries)}"
        )
    return {label: np.array(groups[label]) for label in sorted(groups)}


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
