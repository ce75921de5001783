"""Scores that float64 cannot tell apart, and features that float32 cannot: refused, wherever they come from."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.arguments import is_rounded
from surefoot.data.types.labels_and_scores import feature_scores
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.baseline_spec import BaselineSpec

LARGE, NEXT = 2**53, 2**53 + 1  # the same float, and two scores
IDS = {"query_id": ["q", "q"], "doc_id": ["a", "b"]}


def table(scores: Any) -> dict[str, Any]:
    return IDS | {"score": scores}


def trec(path: Path, scores: list[Any]) -> Path:
    path.write_text("".join(f"q Q0 d{row} {row + 1} {score} run\n" for row, score in enumerate(scores)))
    return path


def written(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)
    return path


def as_json(path: Path, scores: list[Any]) -> Path:
    path.write_text(json.dumps({"q": {f"d{row}": score for row, score in enumerate(scores)}}))
    return path


RUNS: dict[str, Callable[[Path, list[int]], Any]] = {
    "dict": lambda folder, scores: {"q": {f"d{row}": score for row, score in enumerate(scores)}},
    "dict of uint64": lambda folder, scores: {"q": {f"d{row}": np.uint64(score) for row, score in enumerate(scores)}},
    "dict of decimals": lambda folder, scores: {"q": {f"d{row}": Decimal(score) for row, score in enumerate(scores)}},
    "dict beside floats": lambda folder, scores: {"q": {"x": 0.5, "d0": scores[0], "d1": scores[1]}},
    "columns": lambda folder, scores: table(scores),
    "columns of text": lambda folder, scores: table([str(score) for score in scores]),
    "NumPy uint64": lambda folder, scores: table(np.array(scores, np.uint64)),
    "NumPy long double": lambda folder, scores: table(np.array(scores, np.uint64).astype(np.longdouble)),
    "pandas": lambda folder, scores: pd.DataFrame(table(scores)),
    "pandas UInt64": lambda folder, scores: pd.DataFrame(table(pd.array(scores, dtype="UInt64"))),
    "pandas objects": lambda folder, scores: pd.DataFrame(table(pd.Series(scores, dtype=object))),
    "Polars": lambda folder, scores: pl.DataFrame(table(scores)),
    "Polars UInt64": lambda folder, scores: pl.DataFrame(table(pl.Series(scores, dtype=pl.UInt64))),
    "Polars texts": lambda folder, scores: pl.DataFrame(table([str(score) for score in scores])),
    "Polars decimals": lambda folder, scores: pl.DataFrame(table([Decimal(score) for score in scores])),
    "Arrow": lambda folder, scores: pl.DataFrame(table(scores)).to_arrow(),
    "Parquet": lambda folder, scores: written(pl.DataFrame(table(scores)), folder / "run.parquet"),
    "CSV": lambda folder, scores: written(pl.DataFrame(table(scores)), folder / "run.csv"),
    "JSON": lambda folder, scores: as_json(folder / "run.json", scores),
    "TREC": lambda folder, scores: trec(folder / "run.txt", scores),
    "TREC with a point": lambda folder, scores: trec(folder / "run.txt", [f"{score}.0" for score in scores]),
}  # fmt: skip


WITHOUT_SIGN = ("dict of uint64", "NumPy uint64", "NumPy long double", "pandas UInt64", "Polars UInt64")


@pytest.mark.parametrize(
    ("form", "sign"), [(form, sign) for form in RUNS for sign in (1, -1) if sign > 0 or form not in WITHOUT_SIGN]
)
def test_a_run_keeps_its_order_or_is_refused(tmp_path: Path, form: str, sign: int) -> None:
    with pytest.raises(DataError, match=f"{NEXT}.*2\\^53"):
        sf.read_run(RUNS[form](tmp_path, [sign * NEXT, sign * LARGE]))
    run = sf.read_run(RUNS[form](tmp_path, [sign * (LARGE - 1), sign * LARGE]))
    assert np.unique(run.ranking.scores).size == run.ranking.scores.size


def test_where_in_a_file_it_stands(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"run.txt, line 3: the score is '{NEXT}'; "):
        sf.read_run(trec(tmp_path / "run.txt", [0.5, LARGE, NEXT]))


@given(st.integers(-(2**80), 2**80))
def test_against_python(value: int) -> None:
    """A whole number is refused if and only if its float is another number."""
    expected = abs(value) > LARGE and int(float(value)) != value
    assert is_rounded(value) == is_rounded(str(value)) == is_rounded(Decimal(value)) == expected
    assert is_rounded(f"{value}.00") == expected
    assert not is_rounded(float(value))
    assert not is_rounded(repr(float(value)))
    assert not is_rounded(np.float64(value))


def test_score_matrices(tmp_path: Path) -> None:
    rows = {"query": ["x", "y"], "today": [NEXT, 1], "new": [LARGE, 2]}
    path = written(pl.DataFrame(rows), tmp_path / "scores.parquet")
    for source in (rows, pd.DataFrame(rows), pl.DataFrame(rows), path, written(pl.DataFrame(rows), tmp_path / "s.csv")):
        with pytest.raises(DataError, match=f"{NEXT}.*2\\^53"):
            sf.read_scores(source)
    matrices: tuple[Any, ...] = (
        [[NEXT, 1], [LARGE, 2]],
        [[NEXT, 0.5], [LARGE, 2]],
        np.array([[NEXT, 1], [LARGE, 2]], np.uint64),
    )
    for values in matrices:
        with pytest.raises(ArgumentError, match=f"{NEXT}.*2\\^53"):
            sf.Scores(values, ["today", "new"], ["x", "y"])
    with pytest.raises(ArgumentError, match=f"{NEXT}.*2\\^53"):
        sf.t_test([NEXT, 1, 2], [LARGE, 1, 3])
    with pytest.raises(DataError, match=f"{NEXT}.*2\\^53"):
        sf.RankingData([[1.0], [2.0]], [1, 0], qid=["a", "a"]).with_baseline("today", [NEXT, LARGE])


def test_large_floats_are_what_they_are() -> None:
    scores = sf.Scores([[1e30, 3.5], [2.0**60, 1e16]], ["today", "new"], ["x", "y"])
    assert scores["today"].tolist() == [1e30, 3.5]


@pytest.mark.parametrize("form", ["letor", "parquet", "array"])
def test_a_feature_to_rank_by_keeps_its_order_or_is_refused(tmp_path: Path, form: str) -> None:
    """Times in seconds: 1,700,000,001 and 1,700,000,000 are one float32."""
    times = [1_700_000_001, 1_700_000_000]
    if form == "array":
        data = sf.RankingData(np.array([times], dtype=float).T, [1, 0], qid=["a", "a"])
    else:
        data = sf.RankingData(np.array([[1.0], [2.0]]), [1, 0], qid=["a", "a"])
        path = tmp_path / "data.txt"
        path.write_text("".join(f"{grade} qid:a 1:{time}\n" for grade, time in zip((1, 0), times, strict=True)))
        data = sf.read_letor(path)
        if form == "parquet":
            data.write(tmp_path / "data.parquet")
            data = sf.read_letor(tmp_path / "data.parquet")
    with pytest.raises(DataError, match="float32"):
        feature_scores(data, 1)
    with pytest.raises(DataError, match="float32"):
        BaselineSpec.parse("today=feature:1").scores(data)
    small = sf.RankingData([[2.0**24 - 1], [2.0**24 - 2]], [1, 0], qid=["a", "a"])
    assert feature_scores(small, 1).tolist() == [2**24 - 1, 2**24 - 2]
