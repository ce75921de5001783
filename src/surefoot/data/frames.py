"""Nested dicts and data frames of any maker, as polars columns of the types surefoot works on."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from surefoot.data.files import replacing
from surefoot.errors import DataError

QUERY_COLUMNS = ("query_id", "qid", "q_id", "query")
DOCUMENT_COLUMNS = ("doc_id", "docno", "docid", "document")


_FORMS = "a file, a nested dict {query: {document: number}}, or a pandas, polars or Arrow table"


def to_polars(table: Any, what: str, forms: str = _FORMS) -> pl.DataFrame:
    """A pandas, polars or Arrow table as a polars frame; `forms` says what else may be given."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    # pandas is told by its manners, so that it need not be installed; object columns need no pyarrow.
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        columns = [_from_pandas(str(name), table[name].to_numpy()) for name in table.columns]
        return pl.DataFrame(columns)
    if hasattr(table, "__arrow_c_stream__"):
        return pl.DataFrame(table)
    raise DataError(f"{what}: cannot read a {type(table).__name__}; give {forms}")


def columns_of(source: Any, numbers: Iterable[str], what: str) -> tuple[pl.Series, ...]:
    """Query, document and number columns of a nested dict or a table, checked."""
    if isinstance(source, Mapping):
        return _from_nested(source, what)
    table = to_polars(source, what)
    picked = [
        _pick(table, QUERY_COLUMNS, what).cast(pl.String),
        _pick(table, DOCUMENT_COLUMNS, what).cast(pl.String),
        _number(_pick(table, tuple(numbers), what), what),
    ]
    if table.height == 0:
        raise DataError(f"{what}: the table is empty; expected at least one row")
    for column in picked:
        if column.null_count():
            row = int(column.is_null().arg_max() or 0)
            raise DataError(f"{what}, row {row + 1}: {column.name!r} is missing; every row needs one")
    return tuple(picked)


def finite(column: pl.Series, what: str) -> pl.Series:
    """The column, if all its numbers are finite."""
    wrong = ~column.is_finite().fill_null(value=True)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise DataError(f"{what}, row {row + 1}: {column.name!r} is {column[row]}; every value must be finite")
    return column


def write_frame(path: str | os.PathLike[str], frame: pl.DataFrame) -> None:
    """Write a frame as Parquet, all or nothing."""
    with replacing(path) as temporary:
        try:
            frame.write_parquet(temporary)
        except pl.exceptions.PolarsError as error:  # a full disk, to Polars
            raise DataError.at(path, None, f"cannot be written ({error})") from error


def _from_pandas(name: str, values: np.ndarray[Any, Any]) -> pl.Series:
    if values.dtype.kind in "biuf":
        return pl.Series(name, values)
    texts = [
        None if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)
        for value in values.tolist()
    ]
    return pl.Series(name, texts, dtype=pl.String)


def _from_nested(source: Mapping[Any, Any], what: str) -> tuple[pl.Series, ...]:
    queries: list[str] = []
    lengths: list[int] = []
    documents: list[Any] = []
    numbers: list[Any] = []
    for query, results in source.items():
        if not isinstance(results, Mapping):
            raise DataError(
                f"{what}, query {query!r}: expected a dict {{document: number}}, found a {type(results).__name__}"
            )
        queries.append(str(query))
        lengths.append(len(results))
        documents.extend(results.keys())
        numbers.extend(results.values())
    if not documents:
        raise DataError(f"{what}: the dict holds no documents; expected {{query: {{document: number}}}}")
    query_column = pl.Series("query", queries, dtype=pl.String).gather(np.repeat(np.arange(len(queries)), lengths))
    try:
        number_column = pl.Series("number", np.asarray(numbers, dtype=np.float64))
    except (TypeError, ValueError) as error:
        wrong = next(number for number in numbers if not _is_number(number))
        raise DataError(f"{what}: {wrong!r} is not a number; every document needs one") from error
    try:
        document_column = pl.Series("document", documents, dtype=pl.String)
    except (TypeError, pl.exceptions.PolarsError):  # ids that are not text
        document_column = pl.Series("document", [str(document) for document in documents], dtype=pl.String)
    return query_column, document_column, finite(number_column, what)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _pick(table: pl.DataFrame, names: tuple[str, ...], what: str) -> pl.Series:
    for name in names:
        if name in table.columns:
            return table[name]
    raise DataError(
        f"{what}: no column {' or '.join(map(repr, names))}; found {', '.join(map(repr, table.columns[:12]))}"
    )


def _number(column: pl.Series, what: str) -> pl.Series:
    try:
        return finite(column.cast(pl.Float64), what)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{what}: column {column.name!r} holds something that is not a number") from error
