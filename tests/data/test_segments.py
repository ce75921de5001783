"""Segments of queries from dicts, tables and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from surefoot.data.reading.query_tables import read_segments
from surefoot.errors import DataError

KINDS = {"length": {"q1": "head", "q2": "tail", "q3": "tail"}, "language": {"q1": "de", "q3": "en"}}


def test_every_form(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"query": ["q1", "q2", "q3"], "length": ["head", "tail", "tail"], "language": ["de", "", "en"]}
    )
    gaps = frame.with_columns(pl.col("language").replace({"": None}))
    frame.write_csv(tmp_path / "kinds.csv")
    gaps.write_parquet(tmp_path / "kinds.parquet")
    sources: list[Any] = [
        KINDS, frame, gaps, gaps.to_pandas(), gaps.to_arrow(), gaps.to_dict(as_series=False),
        gaps.to_pandas().set_index("query"), tmp_path / "kinds.csv", str(tmp_path / "kinds.parquet"),
    ]  # fmt: skip
    for source in sources:
        assert read_segments(source) == KINDS


def test_one_column_in_a_dict() -> None:
    assert read_segments({"q1": "head", "q2": None, "q3": " ", 4: 5}) == {"segment": {"q1": "head", "4": "5"}}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"q1": "head", "q2": {"q3": "tail"}}, r"query 'q2': the segment is .* \(dict\)"),
        ({"q1": 0.5}, r"query 'q1': the segment is 0\.5 \(float\)"),
        ({"q1": True}, r"query 'q1': the segment is True \(bool\)"),
        ({1: "head", "1": "tail"}, "'1'"),
        (pl.DataFrame({"query": ["q1"]}), "at least one column of segments"),
        (pl.DataFrame({"query": ["q1", "q1"], "kind": ["a", "b"]}), "'q1'"),
        (pl.DataFrame({"query": ["q1", None], "kind": ["a", "b"]}), "row 2: the query is missing"),
        (np.zeros((2, 2)), "ndarray"),
        (pd.DataFrame({"query": ["q1"], "kind": [pd.Timestamp("2026-11-15")]}), "Timestamp"),
    ],
)
def test_what_is_rejected(source: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_segments(source)
