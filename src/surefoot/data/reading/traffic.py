"""Traffic: how often each query is asked, so that a query asked a million times counts a million times."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.data.reading.columns import RowOrTableNamer, first_repeated, floats_of, ids_of
from surefoot.data.reading.frames import is_columns, is_pandas, is_table, keys_of
from surefoot.data.reading.query_tables import query_table
from surefoot.errors import ArgumentError, DataError, other_queries_hint, shortened

Traffic: TypeAlias = Mapping[str, float]  # how often each query is asked
LARGEST_WEIGHT = 1e15  # so that sums of cubes of weights are numbers still; the least above 0 is its inverse
_RANGE = f"it must be 0, or a number from {1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
COUNT_COLUMNS = ("count", "weight", "traffic", "frequency")
_ACCEPTED = "a file, a dict {query: count}, or a pandas, polars or Arrow table"


@dataclass(frozen=True)
class TrafficWeights:
    """How often each query is asked; `left_out` queries are not asked, and `share` of all traffic goes to the rest.

    Weights are above 0; such that are all `equal` change no figure: `relative` is None then.
    """

    weights: Floats
    left_out: int
    share: float
    equal: bool

    def only(self, columns: Ints | list[int]) -> TrafficWeights:
        """The weighting of some of the queries: of a segment, in which weights that happen to be equal count as any."""
        return replace(self, weights=self.weights[columns])

    @cached_property
    def relative(self) -> Floats | None:
        """w̃ = w/w̄, or None where all weights are equal."""
        return None if self.equal else self.weights / self.weights.mean()

    @property
    def effective(self) -> float:
        """c_eff: as many queries of equal weight tell as much."""
        return effective_queries(self.weights)


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


def query_weights(traffic: Traffic, queries: Sequence[str]) -> tuple[Ints, TrafficWeights]:
    """Which of these queries are asked, by their positions, and their weights; one that traffic does not name is not.

    >>> asked, weighting = query_weights({"q1": 6, "q2": 0, "q3": 2}, ["q3", "q2", "q4", "q1"])
    >>> asked, weighting.weights
    (array([0, 3]), array([2., 6.]))
    """
    counts = np.array([traffic.get(query, 0.0) for query in queries], dtype=np.float64)
    positions = np.flatnonzero(counts > 0)
    if not len(positions):
        raise ArgumentError(f"no query has traffic: {other_queries_hint('counts', traffic, queries)}")
    weights = counts[positions]
    share = min(1.0, float(weights.sum() / sum(traffic.values())))
    equal = bool((weights == weights[0]).all())
    return positions, TrafficWeights(weights, len(counts) - len(positions), share, equal)


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
    row = _first_wrong(counts)
    if row is not None:
        raise DataError(f"{where(row)}: the count of query {shortened(queries[row])} is {counts[row]:g}; {_RANGE}")
    if not counts.any():
        raise DataError(f"{where(None)}: every count is 0; give how often each query is asked")
    twice = first_repeated(queries)
    if twice is not None:
        row = len(queries) - 1 - queries[::-1].index(twice)
        raise DataError(f"{where(row)}: query {shortened(twice)} appears twice; give its counts as one sum")
    return dict(zip(queries, counts.tolist(), strict=True))


def _first_wrong(weights: Floats) -> int | None:
    wrong = ~((weights == 0) | ((weights >= 1 / LARGEST_WEIGHT) & (weights <= LARGEST_WEIGHT)))
    return int(wrong.argmax()) if wrong.any() else None


def _named(query: str) -> str:
    return f"traffic, query {shortened(query)}"


@dataclass(frozen=True)
class QueryWeighting:
    """Weights above 0, one per query; `left_out` names the queries that were dropped, because nobody asks them.

    `total` is the sum of all traffic that was given, None where it was given for these queries alone.
    """

    values: Floats
    left_out: tuple[str, ...] = ()
    total: float | None = None

    @property
    def equal(self) -> bool:
        """Whether all weigh the same: then weights change nothing."""
        return bool((self.values == self.values[0]).all())

    def select(self, queries: Ints) -> QueryWeighting:
        """Of these queries only."""
        return replace(self, values=self.values[queries])


def is_traffic(source: Any) -> bool:
    """Whether weights go by query id: a dict, a table, or a file of them; else they are numbers in the data's order."""
    if isinstance(source, str | os.PathLike | Mapping) or _is_named_series(source):
        return True
    columns = hasattr(source, "columns") or hasattr(source, "column_names")  # of a table: one column alone has numbers
    return columns and (is_pandas(source) or is_table(source))


def _is_named_series(source: Any) -> bool:
    """Whether it is a pandas Series that names its values by texts, as `groupby("query").size()` does."""
    return _is_series(source) and source.index.dtype.kind not in "iu"


def _is_series(source: Any) -> bool:
    return hasattr(source, "iloc") and hasattr(source, "index") and not hasattr(source, "columns")


def by_query(source: Any, queries: Sequence[str], lengths: Ints) -> Any:
    """The weights with their query ids as a dict, where a pandas Series names queries by numbers, as LETOR does.

    Numbers that are positions, or rows of documents, name nothing, and the source stays as it is. A Series with a
    number per query whose index is neither is refused: its order may not be that of the data.
    """
    if not _is_series(source) or _is_named_series(source):
        return source
    labels, known = [str(label) for label in source.index], set(queries)
    distinct = len(set(labels)) == len(labels)
    positions = labels == [str(place) for place in range(len(labels))]
    if positions and labels == list(queries):  # both are the same, and say nothing of validation data
        return source
    if distinct and known.issuperset(labels):
        return dict(zip(labels, source.tolist(), strict=True))
    rows = len(labels) != len(queries) and len(labels) == int(lengths.sum())
    if positions or (rows and (distinct or labels == np.repeat(queries, lengths).tolist())):
        return source
    strange = next((label for label in labels if label not in known), None)
    found = "names a query twice" if strange is None else f"has {shortened(strange)}, which is no query of the data"
    raise ArgumentError(
        f"the index of sample_weight {found}, and is not 0, 1, 2, … either; give a dict {{query: count}} to go by "
        "query id, or series.to_numpy() to go by the order of the queries"
    )


def read_weighting(source: Any, queries: Sequence[str], lengths: Ints) -> tuple[Ints, QueryWeighting]:
    """Which of the queries are asked at all, and their weights.

    `source` is traffic by query id, or one number per query, or one per document that is the same for all documents
    of a query; `lengths` are the queries' numbers of documents.
    """
    source = by_query(source, queries, lengths)
    if is_traffic(source):
        traffic = read_traffic(dict(source.items()) if _is_named_series(source) else source)
        positions, found = query_weights(traffic, queries)
        weights, total = found.weights, sum(traffic.values())
    else:
        numbers = _per_query(source, queries, lengths)
        positions, total = np.flatnonzero(numbers > 0), None
        weights = numbers[positions]
    left_out: tuple[str, ...] = ()
    if len(positions) < len(queries):
        kept = np.zeros(len(queries), dtype=bool)
        kept[positions] = True
        left_out = tuple(queries[place] for place in np.flatnonzero(~kept).tolist())
    return positions, QueryWeighting(weights, left_out, total)


def _per_query(source: Any, queries: Sequence[str], lengths: Ints) -> Floats:
    try:
        numbers = np.asarray(source, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"sample_weight has a value that is not a number ({shortened(str(error))})") from error
    documents = int(lengths.sum())
    if numbers.ndim != 1 or len(numbers) not in (len(queries), documents):
        raise ArgumentError(
            f"sample_weight has shape {numbers.shape}; give one number for each of the {len(queries):,} queries, or "
            f"one for each of the {documents:,} documents"
        )
    if len(numbers) != len(queries):
        numbers = _constant(numbers, queries, lengths)
    place = _first_wrong(numbers)
    if place is not None:
        raise ArgumentError(f"the weight of query {shortened(queries[place])} is {numbers[place]:g}; {_RANGE}")
    if not numbers.any():
        raise ArgumentError("every weight in sample_weight is 0; give at least one query a weight above 0")
    return numbers


def _constant(numbers: Floats, queries: Sequence[str], lengths: Ints) -> Floats:
    """The weight of each query, from those of its documents, which must all be the same."""
    first: Floats = numbers[np.cumsum(lengths) - lengths]
    differs = numbers != np.repeat(first, lengths)
    differs &= ~(np.isnan(numbers) & np.isnan(np.repeat(first, lengths)))  # NaN is refused as such
    if differs.any():
        row = int(differs.argmax())
        query = int(np.searchsorted(np.cumsum(lengths), row, side="right"))
        raise ArgumentError(
            f"the documents of query {shortened(queries[query])} have different weights, {first[query]:g} and "
            f"{numbers[row]:g}; a weight says how often a query is asked, so all its documents need the same"
        )
    return first
