"""`QueryWeighting`: how often the queries of labelled data are asked, by which they count in learning and in means."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.data.reading.frames import is_pandas, is_table
from surefoot.data.reading.traffic import LARGEST_WEIGHT, query_weights, read_traffic
from surefoot.errors import ArgumentError, shortened


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
    wrong = ~((numbers == 0) | ((numbers >= 1 / LARGEST_WEIGHT) & (numbers <= LARGEST_WEIGHT)))
    if wrong.any():
        place = int(wrong.argmax())
        raise ArgumentError(
            f"the weight of query {shortened(queries[place])} is {numbers[place]:g}; it must be 0, or a number from "
            f"{1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
        )
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
