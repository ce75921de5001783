"""Arrays, sequences and tables of any maker as the checked columns and the feature matrix of `RankingData`.

Columns of categories become codes, which learners split by sets of: 0 is the first category, NaN is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.arrays import Floats
from surefoot.data.reading.columns import first_repeated, floats_of, ids_of
from surefoot.data.reading.frames import is_pandas, is_table, to_polars
from surefoot.errors import ArgumentError, DataError, shortened

FeatureMatrix: TypeAlias = npt.NDArray[np.float32]

QUERY_COLUMN = "qid"  # the column of a table of features that holds the queries, as XGBRanker has it
_CELLS = 1 << 20  # looked at in one go, so that checks need no second matrix


def feature_matrix(X: Any) -> tuple[FeatureMatrix, list[str] | None, Categories]:
    """The features as a dense float32 matrix in C order, not copied if it is one; a table's columns and categories."""
    columns = None
    categories: dict[str, tuple[str, ...]] = {}
    if is_pandas(X):
        columns = [str(name) for name in X.columns]
        for place, (name, dtype) in enumerate(zip(columns, X.dtypes, strict=True)):
            if hasattr(dtype, "categories"):
                X = X.copy(deep=False) if not categories else X
                codes, categories[name] = encode_pandas(X.iloc[:, place], name)
                X.isetitem(place, codes)
            else:
                _check_numeric(getattr(dtype, "kind", "O") in "biuf", name, dtype)
        values = X.to_numpy(dtype=np.float32, na_value=np.nan)
    elif is_table(X):
        table = to_polars(X, "X")
        columns = table.columns
        for name, dtype in table.schema.items():
            if is_polars_category(dtype):
                codes, categories[name] = encode_polars(table[name])
                table = table.with_columns(pl.Series(name, codes))
            else:
                _check_numeric(dtype.is_numeric() or dtype in (pl.Boolean, pl.Null), name, dtype)
        values = table.select(pl.all().cast(pl.Float32)).to_numpy(order="c")
    else:
        values = _array(X)
        if values.dtype.kind not in "biuf":
            raise DataError(f"X contains {values.dtype}; features must be numbers")
    if columns is not None:
        check_names(columns)
    if values.ndim != 2:
        raise ArgumentError(f"X has shape {values.shape}; give a matrix of documents × features")
    if 0 in values.shape:
        raise DataError(f"X has shape {values.shape}; there must be at least one document and one feature")
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is rejected as such
        matrix: FeatureMatrix = np.ascontiguousarray(values, dtype=np.float32)
    _refuse_infinite(matrix)
    return matrix, columns, categories


def without_queries(X: Any) -> tuple[Any, Any]:
    """A table without its column `qid`, and that column; None where there is none.

    Tools that cut data into parts know X and y alone, so that the queries have to travel in one of them.
    """
    if is_pandas(X):
        return (
            (X.drop(columns=QUERY_COLUMN), X[QUERY_COLUMN]) if list(X.columns).count(QUERY_COLUMN) == 1 else (X, None)
        )
    if not is_table(X):
        return X, None
    table = to_polars(X, "X")
    return (table.drop(QUERY_COLUMN), table[QUERY_COLUMN]) if QUERY_COLUMN in table.columns else (table, None)


def check_names(names: Sequence[str]) -> None:
    """Refuse two features of one name: which is meant could not be told."""
    twice = first_repeated(names)
    if twice is not None:
        raise ArgumentError(f"two features are named {shortened(twice)}; every feature needs a name of its own")


def _array(X: Any) -> npt.NDArray[Any]:
    if hasattr(X, "toarray"):  # a SciPy sparse matrix
        return np.asarray(X.toarray())
    if hasattr(X, "filled"):  # a masked array, of whose values some are missing
        return np.asarray(X.astype(np.float64).filled(np.nan))
    try:
        return np.asarray(X)
    except (TypeError, ValueError) as error:
        raise DataError(f"X is not a matrix ({error}); every document needs as many features") from error


def numbers_of(values: Any, rows: int, what: str) -> Floats:
    """A float64 number for each row."""
    numbers = floats_of(_column(values, what), what, _row)
    _check_length(len(numbers), rows, what)
    return numbers


def row_ids(values: Any, rows: int, what: str) -> pl.Series:
    """A text id for each row, of whole numbers or texts."""
    ids = ids_of(_column(values, what), what, _row)
    _check_length(len(ids), rows, what)
    return ids


def _row(row: int) -> str:
    return f"row {row + 1}"


def _column(values: Any, what: str) -> Any:
    """The values, or the one column of a matrix or table."""
    if isinstance(values, list | tuple) and any(isinstance(value, list | tuple | np.ndarray) for value in values[:1]):
        with suppress(ValueError):  # rows of different lengths: no matrix, and no column either
            values = np.asarray(values)
    shape: tuple[int, ...] = getattr(values, "shape", (0,))
    if len(shape) == 2 and shape[1] == 1:
        return values.iloc[:, 0] if is_pandas(values) else values[:, 0]
    if len(shape) != 1:
        raise ArgumentError(f"{what} has shape {shape}; give one value for each row of X")
    return values


def _check_length(count: int, rows: int, what: str) -> None:
    if count != rows:
        raise ArgumentError(f"{what} has {count:,} values, but X has {rows:,} rows; every row needs one")


def _check_numeric(is_numeric: bool, name: str, dtype: Any) -> None:
    if not is_numeric:
        raise DataError(
            f"column {shortened(name)} of X contains {dtype}; features must be numbers or categories: make it a "
            "category (astype('category')), encode it, or drop it"
        )


def _refuse_infinite(matrix: FeatureMatrix) -> None:
    step = max(1, _CELLS // matrix.shape[1])
    for start in range(0, len(matrix), step):
        infinite = np.isinf(matrix[start : start + step])
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise DataError(
                f"row {start + row + 1}: feature {column + 1} is infinite, or more than float32 holds; "
                "use NaN for a missing value"
            )


Categories: TypeAlias = Mapping[str, tuple[str, ...]]  # what the codes of a feature mean, by the feature's name
CategoryCodes: TypeAlias = npt.NDArray[np.float32]


def encode_pandas(column: Any, name: str) -> tuple[CategoryCodes, tuple[str, ...]]:
    """The codes of a pandas column of categories, and what they mean."""
    labels = _distinct(name, [str(label) for label in column.cat.categories])
    codes = np.asarray(column.cat.codes, dtype=np.float32)
    return np.where(codes < 0, np.float32(np.nan), codes), labels


def is_polars_category(dtype: pl.DataType) -> bool:
    """Whether a polars column holds categories."""
    return isinstance(dtype, pl.Categorical | pl.Enum)


def encode_polars(column: pl.Series) -> tuple[CategoryCodes, tuple[str, ...]]:
    """The codes of a polars column of categories, and what they mean; those of a Categorical in alphabetical order."""
    labels = (
        column.dtype.categories.to_list()
        if isinstance(column.dtype, pl.Enum)
        else column.cast(pl.String).drop_nulls().unique().sort().to_list()
    )
    codes = column.cast(pl.String).cast(pl.Enum(labels)).to_physical().cast(pl.Float32)
    return codes.fill_null(np.nan).to_numpy(), _distinct(column.name, labels)


def decode(codes: CategoryCodes, labels: Sequence[str]) -> pl.Series:
    """The categories that codes mean, as a column that keeps all labels in their order.

    >>> decode(np.float32([1, np.nan]), ["books", "music"]).to_list()
    ['music', None]
    """
    numbers = pl.Series(np.where(np.isnan(codes), -1, codes).astype(np.int64))
    texts = pl.Series(labels, dtype=pl.String).gather(numbers.clip(0)) if labels else pl.Series([None] * len(codes))
    return pl.select(pl.when(numbers >= 0).then(texts)).to_series().cast(pl.Enum(labels))


def recode(codes: CategoryCodes, old: Sequence[str], new: Sequence[str]) -> CategoryCodes:
    """Codes of the same categories in another list; those that it lacks are missing.

    >>> recode(np.float32([0, 1, 2, np.nan]), ["books", "music", "toys"], ["toys", "books"]).tolist()
    [1.0, nan, 0.0, nan]
    """
    if list(old) == list(new):
        return codes
    place = {label: float(number) for number, label in enumerate(new)}
    table = np.array([*(place.get(label, np.nan) for label in old), np.nan], dtype=np.float32)
    return np.asarray(table[np.where(np.isnan(codes), len(old), codes).astype(np.int64)])


def _distinct(name: str, labels: Sequence[str]) -> tuple[str, ...]:
    twice = first_repeated(labels)
    if twice is not None:
        raise DataError(f"column {shortened(name)} of X has two categories that are written {shortened(twice)}")
    return tuple(labels)
