"""Arrays, sequences and tables of any maker as the checked columns and the feature matrix of `RankingData`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.data.frames import to_polars
from surefoot.data.ranking import Floats
from surefoot.errors import ArgumentError, DataError, shortened

Matrix: TypeAlias = npt.NDArray[np.float32]

_CELLS = 1 << 20  # looked at in one go, so that checks need no second matrix


def feature_matrix(X: Any) -> tuple[Matrix, list[str] | None]:
    """The features as a dense float32 matrix in C order, not copied if it is one, and the columns' names of a table."""
    columns = None
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas, told by its manners
        columns = [str(name) for name in X.columns]
        for name, dtype in zip(columns, X.dtypes, strict=True):
            _numeric(getattr(dtype, "kind", "O") in "biuf", name, dtype)
        values = X.to_numpy(dtype=np.float32, na_value=np.nan)
    elif isinstance(X, pl.DataFrame | pl.LazyFrame) or hasattr(X, "__arrow_c_stream__"):
        try:
            table = to_polars(X, "X")
        except pl.exceptions.PolarsError as error:  # two columns of one name, a type that Polars does not know
            raise DataError(f"X cannot be read as a table ({error})") from error
        columns = table.columns
        for name, dtype in table.schema.items():
            _numeric(dtype.is_numeric() or dtype in (pl.Boolean, pl.Null), name, dtype)
        values = table.select(pl.all().cast(pl.Float32)).to_numpy(order="c")
    else:
        values = _array(X)
        if values.dtype.kind not in "biuf":
            raise DataError(f"X holds {values.dtype}; features must be numbers")
    if columns is not None:
        check_names(columns)
    if values.ndim != 2:
        raise ArgumentError(f"X has shape {values.shape}; give a matrix of documents × features")
    if 0 in values.shape:
        raise DataError(f"X has shape {values.shape}; there must be at least one document and one feature")
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused as such
        matrix: Matrix = np.ascontiguousarray(values, dtype=np.float32)
    _refuse_infinite(matrix)
    return matrix, columns


def check_names(names: Sequence[str]) -> None:
    """Refuse two features of one name: which is meant could not be told."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ArgumentError(f"two features are named {shortened(name)}; every feature needs a name of its own")
        seen.add(name)


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
    try:
        found: Floats = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} holds something that is not a number ({error})") from error
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ArgumentError(f"{what} has shape {found.shape}; give one number for each row of X")
    _same_length(len(found), rows, what)
    return found


def row_ids(values: Any, rows: int, what: str) -> pl.Series:
    """A text id for each row, of whole numbers or texts."""
    ids = values if isinstance(values, pl.Series) else _series(values)
    _same_length(len(ids), rows, what)
    if ids.dtype.is_float():  # what pandas makes of whole numbers when it can
        whole = ids.cast(pl.Int64, strict=False)
        ids = whole if (whole.cast(pl.Float64) == ids).all() and not whole.null_count() else ids.fill_nan(None)
    ids = ids.cast(pl.String)
    if ids.null_count():
        raise DataError(f"row {int(ids.is_null().arg_max() or 0) + 1}: {what} is missing; every row needs one")
    return ids


def _series(values: Any) -> pl.Series:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ArgumentError(f"ids have shape {array.shape}; give one for each row of X")
    if array.dtype.kind in "biuf":
        return pl.Series(array)
    return pl.Series([None if _absent(value) else str(value) for value in array.tolist()], dtype=pl.String)


def _absent(value: Any) -> bool:
    # pandas' own missing value is told by its name, so that pandas need not be installed.
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))


def _same_length(found: int, rows: int, what: str) -> None:
    if found != rows:
        raise ArgumentError(f"{what} has {found:,} values, but X has {rows:,} rows; every row needs one")


def _numeric(fine: bool, name: str, dtype: Any) -> None:
    if not fine:
        raise DataError(f"column {name!r} of X holds {dtype}; features must be numbers (encode or drop it)")


def _refuse_infinite(matrix: Matrix) -> None:
    step = max(1, _CELLS // matrix.shape[1])
    for start in range(0, len(matrix), step):
        infinite = np.isinf(matrix[start : start + step])
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise DataError(
                f"row {start + row + 1}: feature {column + 1} is infinite, or more than float32 holds; "
                "use NaN for a missing value"
            )
