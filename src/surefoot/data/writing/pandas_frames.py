"""Polars frames as pandas frames, where pandas is installed."""

from __future__ import annotations

from typing import Any

import polars as pl

from surefoot.errors import MissingExtraError


def pandas_frame(frame: pl.DataFrame) -> Any:
    """The same columns in pandas; pyarrow, which polars' own way needs, need not be there.

    >>> pandas_frame(pl.DataFrame({"query": ["q1", "q2"], "score": [0.5, None]}))
      query  score
    0    q1    0.5
    1    q2    NaN
    """
    try:
        import pandas  # type: ignore[import-untyped,unused-ignore]
    except ImportError as error:
        raise MissingExtraError(
            "a pandas frame needs pandas, which is not installed; install it with: pip install pandas; or use the "
            "polars frame, which needs no other package"
        ) from error
    columns = [_column(column) for column in frame.iter_columns()]
    return pandas.DataFrame(dict(enumerate(columns)), copy=True).set_axis(frame.columns, axis=1)


def _column(column: pl.Series) -> Any:
    return column.to_numpy() if column.dtype.is_numeric() or column.dtype == pl.Boolean else column.to_list()
