"""Columns of categories as codes, which learners split by sets of: 0 is the first category, NaN is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.data.reading.columns import first_repeated
from surefoot.errors import DataError, shortened

Categories: TypeAlias = Mapping[str, tuple[str, ...]]  # what the codes of a feature mean, by the feature's name
CategoryCodes: TypeAlias = npt.NDArray[np.float32]


def is_pandas_category(dtype: Any) -> bool:
    """Whether a pandas column holds categories, recognised by their list."""
    return hasattr(dtype, "categories")


def encode_pandas(column: Any, name: str) -> tuple[CategoryCodes, tuple[str, ...]]:
    """The codes of a pandas column of categories, and what they mean."""
    labels = _distinct(name, [str(label) for label in column.cat.categories])
    return _with_nan(np.asarray(column.cat.codes, dtype=np.float32)), labels


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


def _with_nan(codes: CategoryCodes) -> CategoryCodes:
    return np.where(codes < 0, np.float32(np.nan), codes)


def _distinct(name: str, labels: Sequence[str]) -> tuple[str, ...]:
    twice = first_repeated(labels)
    if twice is not None:
        raise DataError(f"column {shortened(name)} of X has two categories that are written {shortened(twice)}")
    return tuple(labels)
