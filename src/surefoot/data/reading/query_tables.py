"""Tables with a row per query, the query in the first column: score matrices, segments, dates."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from surefoot.data.reading.columns import RowOrTableNamer, ids_of, is_missing, row_of
from surefoot.data.reading.csv_table import read_csv
from surefoot.data.reading.files import OLD_MAC, WHITESPACE, existing_file, read_text
from surefoot.data.reading.frames import (
    QUERY_COLUMNS,
    TableColumns,
    is_columns,
    is_pandas,
    keys_of,
    read_table,
    table_of,
)
from surefoot.data.reading.parquet import is_parquet
from surefoot.errors import DataError, shortened


def query_table(
    source: Any, what: str, column: str, accepted: str
) -> tuple[Sequence[str], Sequence[Any], RowOrTableNamer]:
    """The columns' names, the columns, and what says where a row (or, with None, the table) stands.

    `what` is the table and `column` one of its columns but the query, for messages.

    From a CSV file (tabs and semicolons do too), a `.parquet` file, or a table of any maker; a pandas index that holds
    the queries counts as the first column.
    """
    if not isinstance(source, str | os.PathLike):
        table = table_of(source, what, accepted)
        if is_pandas(source):
            table = _with_index(source, table, what)
        return list(table), list(table.values()), row_of(what)
    path = existing_file(source)
    if is_parquet(path):
        frame = read_table(path)
        return frame.columns, frame.get_columns(), row_of(str(source))
    return read_csv(path, f"query,{column},…")


def _with_index(source: Any, table: TableColumns, what: str) -> TableColumns:
    """The columns of a pandas table with its index first, where that holds the queries."""
    index = source.index
    if any(name is not None for name in index.names):
        if index.nlevels > 1:
            raise DataError(f"{what}: the index has {index.nlevels} levels; one, the query, is expected")
        (name,) = index.names
        redundant = str(name) not in QUERY_COLUMNS and any(column in QUERY_COLUMNS for column in table)
        return {column: values for column, values in table.items() if column != str(name)} if redundant else table
    default = getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1
    first = next(iter(table), "")
    if default or first in QUERY_COLUMNS:
        return table
    if getattr(index.dtype, "kind", "O") in "iu":
        raise DataError(
            f"{what}: is the query in the table's index or in its first column, {shortened(first)}? Name that column "
            "'query', or the index (df.rename_axis('query'))"
        )
    return {"query" if "query" not in table else "": index, **table}


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


_BETWEEN = re.compile(f"[{WHITESPACE},]+")
_DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?)?", re.ASCII
)


def read_dates(path: str | os.PathLike[str]) -> dict[str, datetime.date]:
    """Queries' dates from lines `query date`, the date as 2026-11-15 (a time of day after it is left out).

    Columns are separated by white space, or by a comma or tab; a header line `query date` may come first.
    """
    dates: dict[str, datetime.date] = {}
    text = read_text(existing_file(path))
    if "\n" not in text and "\r" in text.strip(WHITESPACE):
        raise DataError.at(path, 1, OLD_MAC)
    first = True
    for number, line in enumerate(text.split("\n"), start=1):
        query, _, text_of_date = _BETWEEN.sub(" ", line).strip(" ").partition(" ")
        if not query:
            continue
        header, first = first and text_of_date.lower() == "date", False
        if header:
            continue
        if not text_of_date:
            raise DataError.at(
                path, number, f"no date after {shortened(query)}; expected 'query date', as in '301 2026-11-15'"
            )
        date = date_of(text_of_date)
        if date is None:
            raise DataError.at(path, number, f"{shortened(text_of_date)} is not a date; write it as 2026-11-15")
        if dates.setdefault(query, date) != date:
            raise DataError.at(
                path, number, f"query {shortened(query)} has two dates, {dates[query]} and {date}; keep one"
            )
    if not dates:
        raise DataError.at(path, None, "the file contains no dates; expected lines of the form 'query date'")
    return dates


def date_of(text: str) -> datetime.date | None:
    """The date of a text that is one, with or without a time of day."""
    match = _DATE.fullmatch(text)
    try:
        return datetime.date.fromisoformat(match[1]) if match else None
    except ValueError:  # such as a 13th month
        return None
