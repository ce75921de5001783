"""Tables with a row per query, from dicts, tables and files: segments and traffic."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.data.reading.query_tables import read_segments
from surefoot.data.reading.traffic import effective_queries, query_weights, read_traffic
from surefoot.errors import ArgumentError, DataError

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


COUNTS = {"q1": 5.0, "q2": 0.5, "q3": 0.0}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("traffic.csv", "query,count\nq1,5\nq2,0.5\nq3,0\n"),
        ("traffic.tsv", "query\tcount\nq1\t5\nq2\t0.5\nq3\t0\n"),
        ("traffic.csv", "query,text,count\nq1,shoes,5\nq2,hats,0.5\nq3,,0\n"),
        ("traffic.csv", "query;weight\nq1;5\nq2;0.5\nq3;0\n"),
    ],
)
def test_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_traffic(tmp_path / name) == COUNTS


def test_tables(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query": list(COUNTS), "count": list(COUNTS.values())})
    frame.write_parquet(tmp_path / "traffic.parquet")
    assert read_traffic(tmp_path / "traffic.parquet") == COUNTS
    assert read_traffic(frame) == COUNTS
    assert read_traffic(frame.to_arrow()) == COUNTS
    assert read_traffic(pd.DataFrame(frame.to_dict(as_series=False))) == COUNTS
    assert read_traffic(COUNTS) == COUNTS
    assert read_traffic({1: 2, 3: 4}) == {"1": 2.0, "3": 4.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,count\nq1,5\nq1,6\n", "line 3: query 'q1' appears twice"),
        ("query,count\nq1,-1\n", "line 2: the count of query 'q1' is -1"),
        ("query,count\nq1,nan\n", "line 2: the count of query 'q1' is nan"),
        ("query,count\nq1,inf\n", "line 2: the count of query 'q1' is inf"),
        ("query,count\nq1,1e300\n", "line 2: the count of query 'q1' is 1e\\+300"),
        ("query,count\nq1,many\n", "line 2"),
        ("query,count\nq1,\n", "line 2"),
        ("query,count\n", "there is no query"),
        ("query,count\nq1,0\nq2,0\n", "every count is 0"),
        ("q1,5\nq2,6\n", "the first line must be the header"),
        ("query,a,b\nq1,5,6\n", "found 3, and none of its columns is named"),
        ("query,count,weight\nq1,5,6\n", "found 3, and several of them are named"),
        ("query\nq1\n", "found 1"),
        ("", "empty"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "traffic.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_traffic(tmp_path / "traffic.csv")


@pytest.mark.parametrize("counts", [{"q": math.nan}, {"q": -1}, {"q": None}, {"q": True}, {"q": "x"}, {}])
def test_wrong_dicts_are_refused(counts: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="traffic"):
        read_traffic(counts)


def test_queries_that_nobody_asks_are_left_out() -> None:
    asked, weights = query_weights({"a": 6, "b": 0, "c": 2, "other": 8}, ["c", "b", "missing", "a"])
    assert (asked.tolist(), weights.weights.tolist()) == ([0, 3], [2.0, 6.0])
    assert (weights.left_out, weights.share, weights.equal) == (2, 0.5, False)
    with pytest.raises(ArgumentError, match="no query has traffic: the first query is 'Q1'"):
        query_weights({"q1": 3}, ["Q1"])


@given(st.lists(st.floats(1e-3, 1e15), min_size=1, max_size=30))
def test_effective_queries_lie_between_one_and_all(weights: list[float]) -> None:
    count = effective_queries(np.array(weights))
    assert 1 - 1e-9 <= count <= len(weights) * (1 + 1e-9)
