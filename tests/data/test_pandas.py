"""Frames for those who use pandas."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import surefoot as sf
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.data.reading.frames import pandas_frame
from surefoot.errors import MissingExtraError

RUN = {"q1": {"d1": 0.5, "d2": 0.75}, "q2": {"d3": -1.0}}


def test_every_frame_comes_in_pandas_too() -> None:
    scores = sf.read_scores({"today": {"q1": 0.5, "q2": 0.25}, "new": {"q1": 0.75, "q2": 0.0}})
    assessment = sf.assess(scores, "today", alphas=[0, 5])
    frames = [
        (scores.to_pandas(), scores.to_frame()),
        (sf.read_run(RUN).to_pandas(), sf.read_run(RUN).to_frame()),
        (sf.read_qrels(RUN).to_pandas(), sf.read_qrels(RUN).to_frame()),
        (assessment.to_pandas(), assessment.per_query()),
    ]
    for theirs, ours in frames:
        assert isinstance(theirs, pd.DataFrame)
        assert_frame_equal(pl.from_pandas(theirs, nan_to_null=True), ours, check_dtypes=False)
    assert assessment.to_pandas()["difference"].sum() == assessment.per_query()["difference"].sum()
    assert sf.read_scores(scores.to_pandas()).values.tolist() == scores.values.tolist()
    assert sf.read_run(sf.read_run(RUN).to_pandas()).to_dict() == sf.read_run(RUN).to_dict()


def test_a_table_of_features(tmp_path: Path) -> None:
    frame = pl.DataFrame({"impression": ["1", "2"], "clicks": [3.0, None]})
    (tmp_path / "features").mkdir()
    frame.write_parquet(tmp_path / "features" / "part.parquet")
    table = FeatureTable(tmp_path, ["clicks"], {}, {}, None, users=False)
    assert_frame_equal(pl.from_pandas(table.to_pandas(), nan_to_null=True), frame)


def test_absent_values_and_types() -> None:
    frame = pl.DataFrame({"a": [1, None], "b": [True, None], "c": ["x", None], "d": [0.5, 0.25], "e": [True, False]})
    made = pandas_frame(frame)
    assert [str(kind) for kind in made.dtypes] == ["float64", "object", "object", "float64", "bool"]
    assert made["b"].tolist() == [True, None]
    assert np.isnan(made["a"][1])
    made.loc[0, "d"] = 2.0  # a copy of its own
    assert frame["d"].to_list() == [0.5, 0.25]
    assert pandas_frame(frame.clear()).shape == (0, 5)


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert sf.read_run(RUN).to_pandas()["doc_id"].tolist() == ["d2", "d1", "d3"]


def test_without_pandas_its_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="needs pandas, which is not installed; install it with: pip install"):
        sf.read_run(RUN).to_pandas()
