"""Traffic: how often each query is asked, so that a query asked a million times counts a million times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.data.reading.columns import RowOrTableNamer, first_repeated, floats_of, ids_of
from surefoot.data.reading.frames import is_columns, keys_of
from surefoot.data.reading.query_tables import query_table
from surefoot.errors import ArgumentError, DataError, other_queries_hint, shortened

Traffic: TypeAlias = Mapping[str, float]  # how often each query is asked
LARGEST_WEIGHT = 1e15  # so that sums of cubes of weights are numbers still; the least above 0 is its inverse
COUNT_COLUMNS = ("count", "weight", "traffic", "frequency")
_ACCEPTED = "a file, a dict {query: count}, or a pandas, polars or Arrow table"


@dataclass(frozen=True)
class QueryWeights:
    """The weights of those of some queries that are asked at all.

    `positions` are the numbers of these queries, in order, and `weights` theirs, all above 0. `left_out` counts the
    queries that have no count or a count of 0, and `share` is the part of all given traffic that the weights hold.
    """

    positions: Ints
    weights: Floats
    left_out: int
    share: float

    @property
    def equal(self) -> bool:
        """Whether all weigh the same: then weights change no figure."""
        return bool((self.weights == self.weights[0]).all())


def read_traffic(source: Any) -> dict[str, float]:
    """How often each query is asked: from a CSV, TSV or Parquet file with columns `query,count`, a dict or a table.

    A table with more columns has its counts in the one named count, weight, traffic or frequency. Counts are 0, or
    numbers from 10⁻¹⁵ to 10¹⁵, and need not be whole; each query appears once.

    >>> read_traffic({"q1": 1000, "q2": 3})
    {'q1': 1000.0, 'q2': 3.0}
    """
    if isinstance(source, Mapping) and not is_columns(source):
        ids = keys_of(source, "traffic, query").to_list() if source else []
        return _checked(ids, list(source.values()), lambda row: "traffic" if row is None else _named(ids[row]))
    names, columns, where = query_table(source, "traffic", "count", _ACCEPTED)
    count = _count_column(names, where)
    return _checked(ids_of(columns[0], "the query", where).to_list(), columns[count], where)


def query_weights(traffic: Traffic, queries: Sequence[str]) -> QueryWeights:
    """The weights of these queries; one that traffic does not name was not asked, and has weight 0.

    >>> query_weights({"q1": 6, "q2": 0, "q3": 2}, ["q3", "q2", "q4", "q1"]).weights
    array([2., 6.])
    """
    counts = np.array([traffic.get(query, 0.0) for query in queries], dtype=np.float64)
    positions = np.flatnonzero(counts > 0)
    if not len(positions):
        raise ArgumentError(f"no query has traffic: {other_queries_hint('counts', traffic, queries)}")
    weights = counts[positions]
    share = min(1.0, float(weights.sum() / sum(traffic.values())))
    return QueryWeights(positions, weights, len(counts) - len(positions), share)


def effective_queries(weights: Floats) -> float:
    """c_eff = (Σw)²/Σw²: as many queries of equal weight tell as much.

    >>> effective_queries(np.array([1.0, 1.0])), effective_queries(np.array([2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]))
    (2.0, 6.4)
    """
    relative = weights / weights.max()  # squares of huge weights overflow
    return float(relative.sum() ** 2 / (relative @ relative))


def _count_column(names: Sequence[str], where: RowOrTableNamer) -> int:
    if len(names) == 2:
        return 1
    named = [at for at, name in enumerate(names) if at and name.lower() in COUNT_COLUMNS]
    if len(named) == 1:
        return named[0]
    found = "several of them are" if named else "none of its columns is"
    raise DataError(
        f"{where(None)}: expected two columns, the query and its count, found {len(names)}, and {found} named "
        f"{', '.join(COUNT_COLUMNS[:-1])} or {COUNT_COLUMNS[-1]}"
    )


def _checked(queries: list[str], values: Any, where: RowOrTableNamer) -> dict[str, float]:
    if not queries:
        raise DataError(f"{where(None)}: there is no query; expected a query and its count on each line")
    counts = floats_of(values, "the count", where)
    wrong = ~((counts == 0) | ((counts >= 1 / LARGEST_WEIGHT) & (counts <= LARGEST_WEIGHT)))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"{where(row)}: the count of query {shortened(queries[row])} is {counts[row]:g}; it must be 0, or a "
            f"number from {1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
        )
    if not counts.any():
        raise DataError(f"{where(None)}: every count is 0; give how often each query is asked")
    twice = first_repeated(queries)
    if twice is not None:
        row = len(queries) - 1 - queries[::-1].index(twice)
        raise DataError(f"{where(row)}: query {shortened(twice)} appears twice; give its counts as one sum")
    return dict(zip(queries, counts.tolist(), strict=True))


def _named(query: str) -> str:
    return f"traffic, query {shortened(query)}"
