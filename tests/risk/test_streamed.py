"""Scores that are read a part at a time: the same figures as of the whole in memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.data.types import streamed_scores
from surefoot.data.types.streamed_scores import StreamedScores
from surefoot.errors import ArgumentError, DataError

SYSTEMS = ("today", "new", "bold", "copy")


@pytest.fixture(params=[50, 11])
def matrix(request, tmp_path: Path, monkeypatch) -> Path:
    """Scores with ties, zeros and a system like another, in parts of so many queries."""
    rng = np.random.default_rng(3)
    base = np.round(rng.beta(2, 3, 47), 2)
    values = [
        base,
        np.clip(base + rng.normal(0.01, 0.05, 47), 0, 1),
        np.clip(base + rng.normal(0, 0.2, 47), 0, 1),
        base,
    ]
    path = tmp_path / "scores.parquet"
    pl.DataFrame({"query": [f"q{n}" for n in range(47)], **dict(zip(SYSTEMS, values, strict=True))}).write_parquet(path)
    monkeypatch.setattr(streamed_scores, "BLOCK", request.param)
    return path


def alike(one: Any, other: Any, place: str = "") -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys(), place
        for key in one:
            alike(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), place
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            alike(a, b, f"{place}[{number}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), place
    else:
        assert one == other, place


@pytest.mark.parametrize("baseline", ["today", ["today", "new"], "mean", "median", "max"])
def test_the_same_assessment(matrix: Path, baseline: Any) -> None:
    settings = {"baseline": baseline, "alphas": [0, 1, 5]}
    in_memory = sf.assess(sf.read_scores(matrix, "ERR@20"), **settings)
    streamed = sf.assess(StreamedScores(matrix, "ERR@20"), **settings)
    alike(streamed.to_dict(), in_memory.to_dict())
    assert streamed.to_markdown() == in_memory.to_markdown()


def test_rounding_of_a_mean_makes_no_wins(tmp_path: Path) -> None:
    """Three systems that are alike: the mean of 0.1 three times is a little more than 0.1."""
    frame = pl.DataFrame({"query": ["q1", "q2"], **{name: [0.1, 0.7] for name in "abc"}})
    frame.write_parquet(tmp_path / "alike.parquet")
    assessment = sf.assess(StreamedScores(tmp_path / "alike.parquet"), "mean").to_dict()
    for system in assessment["systems"]:
        assert (system["wins"], system["losses"], system["risk"]) == (0, 0, 0.0)


def test_a_population_and_negative_scores(matrix: Path, tmp_path: Path) -> None:
    frame = pl.read_parquet(matrix).with_columns(bold=pl.col("bold") - 0.5)
    frame.write_parquet(tmp_path / "negative.parquet")
    path = tmp_path / "negative.parquet"
    for settings in ({}, {"population": ["today", "new"]}):
        in_memory, streamed = (
            sf.assess(scores, "today", [5], **settings).to_dict()
            for scores in (sf.read_scores(path), StreamedScores(path))
        )
        alike(streamed, in_memory)


def test_a_name_that_looks_like_a_column_and_a_pattern(matrix: Path, tmp_path: Path) -> None:
    folder = tmp_path / "today=3"
    folder.mkdir()
    path = folder / "scores[1].parquet"
    path.write_bytes(matrix.read_bytes())
    alike(sf.assess(StreamedScores(path), "today").to_dict(), sf.assess(sf.read_scores(path), "today").to_dict())


def test_counts(matrix: Path, tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    pl.read_parquet(matrix).with_columns((pl.col(name) * 20).round() for name in SYSTEMS).write_parquet(path)
    in_memory, streamed = (
        sf.assess(scores, "today").to_dict()["g_squared"] for scores in (sf.read_scores(path), StreamedScores(path))
    )
    assert in_memory["p_value"] is not None
    alike(streamed, in_memory)


def test_what_needs_all_scores_is_refused(matrix: Path) -> None:
    scores = StreamedScores(matrix)
    for settings in ({"bootstrap": 100}, {"segments": {"kind": {"q1": "head"}}}):
        with pytest.raises(ArgumentError, match="read in parts"):
            sf.assess(scores, "today", **settings)
    assessment = sf.assess(scores, "today")
    for ask in (assessment.to_html, assessment.per_query, partial(assessment.to_csv, per_query=True)):
        with pytest.raises(ArgumentError, match="read in parts"):
            ask()
    with pytest.raises(ArgumentError, match="no system is named 'nwe'; did you mean new"):
        sf.assess(scores, "nwe")


def changed(column: str, value: Any) -> pl.Expr:
    return pl.when(pl.col("query") == "q9").then(value).otherwise(column).alias(column)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: pl.concat([f, f[:1]]), "a query appears twice"),
        (lambda f: f.with_columns(new=changed("new", None)), "row 10: .*system 'new'"),
        (lambda f: f.with_columns(new=changed("new", float("nan"))), "row 10: .*nan"),
        (lambda f: f.with_columns(query=changed("query", None)), "row 10: the query"),
        (lambda f: f.with_columns(new=pl.lit("x")), "row 1: .*system 'new'"),
        (lambda f: f[:0], "0 rows"),
        (lambda f: f.select("query"), "1 columns"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_row(matrix: Path, tmp_path: Path, change: Any, message: str) -> None:
    path = tmp_path / "wrong.parquet"
    change(pl.read_parquet(matrix)).write_parquet(path)
    with pytest.raises(DataError, match=message):
        StreamedScores(path)


def test_only_parquet_can_be_streamed(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("query,a\nq1,0.5\n")
    with pytest.raises(ArgumentError, match="only Parquet"):
        StreamedScores(tmp_path / "s.csv")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        StreamedScores(tmp_path / "cut.parquet")
