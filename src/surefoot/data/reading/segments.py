"""Segments of queries: for each column (length, language, intent …) the kind that a query is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.data.reading.columns import ids_of, is_missing
from surefoot.data.reading.frames import is_columns, keys_of
from surefoot.data.reading.query_tables import query_table
from surefoot.errors import DataError, shortened

_ACCEPTED = "a file, a dict {query: segment} or {column: {query: segment}}, or a pandas, polars or Arrow table"


def read_segments(source: Any) -> dict[str, dict[str, str]]:
    """Each column's segments by query, from a CSV or Parquet file or a table whose first column is the query.

    Also takes a dict `{query: segment}`, or `{column: {query: segment}}`. A query without a segment (an empty cell)
    is left out.

    >>> read_segments({"q1": "head", "q2": "tail"})
    {'segment': {'q1': 'head', 'q2': 'tail'}}
    """
    if isinstance(source, Mapping) and not is_columns(source):
        nested = all(isinstance(value, Mapping) for value in source.values())
        named = source if nested else {"segment": source}
        return {
            str(name): _segments_by_query(list(segments), list(segments.values()), f"segments, {name}")
            for name, segments in named.items()
        }
    names, columns, where = query_table(source, "segments", "kind", _ACCEPTED)
    if len(columns) < 2:
        raise DataError(f"{where(None)}: expected a query column and at least one column of segments")
    queries = ids_of(columns[0], "the query", where).to_list()
    segment_columns = zip(names[1:], columns[1:], strict=True)
    return {name: _segments_by_query(queries, list(column), where(None)) for name, column in segment_columns}


def _segments_by_query(queries: list[Any], values: list[Any], what: str) -> dict[str, str]:
    ids = keys_of(queries, f"{what}, query").to_list()
    assigned = [(query, value) for query, value in zip(ids, values, strict=True) if not is_missing(value)]

    def where(row: int) -> str:
        return f"{what}, query {shortened(assigned[row][0])}"

    segments = ids_of([value for _, value in assigned], "the segment", where).to_list()
    return {query: segment for (query, _), segment in zip(assigned, segments, strict=True) if segment.strip()}
