"""Tables with a row per query, the query in the first column: score matrices, segments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from surefoot.data.reading.columns import RowOrTableNamer, row_of
from surefoot.data.reading.csv_table import read_csv
from surefoot.data.reading.files import existing_file
from surefoot.data.reading.frames import QUERY_COLUMNS, TableColumns, is_pandas, read_table, table_of
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
        return list(table), list(table.values()), _row(what)
    path = existing_file(source)
    if is_parquet(path):
        frame = read_table(path)
        return frame.columns, frame.get_columns(), _row(str(source))
    return read_csv(path, f"query,{column},…")


def _row(location: str) -> RowOrTableNamer:
    return lambda row: location if row is None else row_of(location)(row)


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
