"""Ids and numbers of columns of any maker: one place for what is one, for runs, judgments, scores and features' rows.

An id is a text or a whole number; a float that is a whole number counts as one, since pandas makes such of whole
numbers beside missing ones. A number is a whole, floating or decimal one, or its text. Nothing is guessed: what is
missing, a truth value, a date or anything else is rejected with its row.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Integral
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from surefoot.arguments import LARGEST_EXACT, decimal, is_real, is_rounded
from surefoot.arrays import ROUNDED, Floats
from surefoot.data.reading.files import WHITESPACE
from surefoot.data.reading.polars_process import threads_lost
from surefoot.errors import ArgumentError, DataError, shortened

RowNamer: TypeAlias = "Callable[[int], str]"  # where a row stands, for messages
RowOrTableNamer: TypeAlias = "Callable[[int | None], str]"  # where a row stands or, with None, its table

_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_MISSING = ("NAType", "NaTType", "MaskedConstant")  # told by name, so that pandas need not be there


def row_of(what: str) -> RowOrTableNamer:
    """Names a row of a table, counted from 1, or with None the table."""
    return lambda row: what if row is None else f"{what}, row {row + 1}"


def ids_of(values: Any, name: str, where: RowNamer) -> pl.Series:
    """The values as texts; `where` says where a row stands."""
    texts = _texts(values, name, where)
    if isinstance(texts, pl.Series):
        return texts
    try:
        return pl.Series(name, texts, dtype=pl.String)
    except UnicodeEncodeError:
        row = next(row for row, text in enumerate(texts) if _HALF_A_CHARACTER.search(text))
        raise DataError(
            f"{where(row)}: {name} {shortened(texts[row])} contains an incomplete character (a lone surrogate); ids "
            "must be valid Unicode text"
        ) from None


def check_words(
    ids: pl.Series, path: str | PathLike[str], what: str, form: str, *, instead: str, besides: str = ""
) -> None:
    """Refuse to write ids into lines in which white space, NUL and the letters in `besides` part or end words."""
    wrong = ids.str.contains(rf"[\x00\n{WHITESPACE}{besides}]") | (ids == "")
    if wrong.any():
        parts = " or ".join(["white space", "NUL", *map(repr, besides)])
        raise DataError.at(
            path,
            None,
            f"the {what} id {shortened(ids.filter(wrong)[0])} cannot be written in a {form} line, because it is empty "
            f"or contains {parts}; write a {instead} file instead",
        )


def names_of(values: Any, name: str, where: RowNamer) -> tuple[str, ...]:
    """Ids that are shown and compared only, so that they may hold half a character, as a file's name may."""
    return tuple(_texts(values, name, where))


def _texts(values: Any, name: str, where: RowNamer) -> pl.Series | list[str]:
    column = _as_column(values)
    if isinstance(column, pl.Series):
        ids = _typed_ids(column)
        if ids is not None and not ids.null_count():
            return ids.alias(name)
        column = column.to_list()
    if set(map(type, column)) == {str}:
        return list(column)
    return [_id(value, name, where, row) for row, value in enumerate(column)]


def floats_of(values: Any, name: str, where: RowNamer) -> Floats:
    """The values as float64, which may be NaN or infinite only where they were written so."""
    column = _as_column(values)
    if isinstance(column, list) and set(map(type, column)) == {str} and all(map(str.isascii, column)):
        column = pl.Series(column, dtype=pl.String)  # Polars reads a column of texts many times as fast
    if isinstance(column, pl.Series):
        numbers = _typed_numbers(column)
        if numbers is not None and not numbers.null_count():
            floats = numbers.to_numpy()
            if column.dtype.is_float() or (np.abs(floats) < LARGEST_EXACT).all():
                return floats
        column = column.to_list()
    if set(map(type, column)) <= {float, int}:
        with suppress(OverflowError):  # an int that float64 cannot hold: looked for below
            floats = np.array(column, dtype=np.float64)
            if not (np.abs(floats) >= LARGEST_EXACT).any():
                return floats
    return np.array([_number(value, name, where, row) for row, value in enumerate(column)], dtype=np.float64)


def is_masked(values: Any) -> bool:
    """Whether it is a masked array with a value left out."""
    masked = sys.modules.get("numpy.ma")  # not imported for nothing: it is slow
    return masked is not None and isinstance(values, masked.MaskedArray) and bool(masked.is_masked(values))


def _as_column(values: Any) -> pl.Series | Sequence[Any]:
    """A Polars column of the values where they have one type, else Python's own objects."""
    if isinstance(values, pl.Series):
        return values
    if hasattr(values, "iloc") or hasattr(values, "isna"):  # pandas, recognised by its methods
        plain = isinstance(values.dtype, np.dtype) and values.dtype.kind in "iuf"
        values = values.to_numpy() if plain else list(values)
    elif is_masked(values):
        return list(values.tolist())
    elif hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return pl.Series(values)
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "iuf" and values.ndim == 1:
            wide = values.dtype.itemsize if values.dtype.kind == "f" else 8
            if wide > 8 and (np.abs(values) >= LARGEST_EXACT).any():
                return list(values)
            return pl.Series(values.astype(np.float64) if wide not in (4, 8) else values)
        return values.tolist() if values.dtype.kind not in "mM" else list(values)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ArgumentError(f"expected a column of values, found {shortened(values)} ({type(values).__name__})")
    return values if isinstance(values, list | tuple) else list(values)


def _typed_ids(column: pl.Series) -> pl.Series | None:
    """Ids of a column whose type has one meaning; nothing where each value must be looked at."""
    dtype = column.dtype
    if dtype == pl.String or dtype.is_integer() or isinstance(dtype, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    if dtype.is_float():
        integers = column.cast(pl.Int64, strict=False)
        exact = (integers.cast(pl.Float64) == column) & (integers.abs() <= LARGEST_EXACT)
        return integers.cast(pl.String) if exact.all() else None
    return None


def _typed_numbers(column: pl.Series) -> pl.Series | None:
    if column.dtype.is_numeric():
        return column.cast(pl.Float64)
    if column.dtype == pl.String and not threads_lost():
        return column.str.strip_chars(WHITESPACE).cast(pl.Float64, strict=False)
    return None


def _id(value: Any, name: str, where: RowNamer, row: int) -> str:
    if isinstance(value, str):
        return str(value)
    if is_missing(value):
        raise DataError(f"{where(row)}: {name} is missing; every row needs one")
    if isinstance(value, Integral) and is_real(value):
        return _digits(int(value), name, where, row)
    if is_real(value) and _is_integer(value):
        if abs(value) <= LARGEST_EXACT:
            return str(int(value))
        raise DataError(
            f"{where(row)}: {name} is {shortened(value)}, which may have been rounded; give ids as texts or integers"
        )
    raise DataError(
        f"{where(row)}: {name} is {shortened(value)} ({type(value).__name__}); an id must be a text or a whole number"
    )


def _is_integer(value: Any) -> bool:
    try:
        return bool(value == int(value))
    except (OverflowError, ValueError):
        return False


def _digits(value: int, name: str, where: RowNamer, row: int) -> str:
    try:
        return str(value)
    except ValueError:  # thousands of digits, which Python does not print
        raise DataError(f"{where(row)}: {name} is a number of thousands of digits; give ids as texts") from None


def _number(value: Any, name: str, where: RowNamer, row: int) -> float:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if is_missing(value) and not isinstance(value, float):
        raise DataError(f"{where(row)}: {name} is missing; every row needs one")
    try:
        if isinstance(value, str):
            value = value.strip(WHITESPACE)
            number = decimal(value)
        elif is_real(value):
            number = float(value)
        else:
            raise ValueError
        if is_rounded(value):
            raise DataError(f"{where(row)}: {name} is {shortened(value)}; {ROUNDED}")
        return number
    except (ValueError, OverflowError):
        pass
    kind = "" if isinstance(value, str) else f" ({type(value).__name__})"
    raise DataError(f"{where(row)}: {name} is {shortened(value)}{kind}, not a number")


def is_missing(value: Any) -> bool:
    """Whether it is one of the ways to say that there is no value."""
    return (
        value is None
        or type(value).__name__ in _MISSING
        or (isinstance(value, Decimal) and value.is_nan())
        or (isinstance(value, float | np.floating) and np.isnan(value))
    )


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that came before."""
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]
