"""Baselines as users write them: `feature:K`, the file of a run, the folder of a model."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.learn.baseline_spec import BaselineSpec, feature_number, with_baselines

DATA = sf.demo.letor(queries=5, documents=4, features=3, seed=1).with_baselines_only([])


@pytest.mark.parametrize("text", ["feature:", "feature:x", "feature:-1", "feature:1.0", "feature", "feature:²", "f:1"])
def test_what_names_no_feature(text: str, tmp_path) -> None:
    assert feature_number(text) is None
    with pytest.raises(ArgumentError, match="is neither a feature nor a file"):
        with_baselines(DATA, [text], tmp_path)


def test_features_count_from_1(tmp_path) -> None:
    data = with_baselines(DATA, ["first=feature:1", "feature:3"], tmp_path)
    assert list(data.baselines) == ["first", "feature3"]
    np.testing.assert_array_equal(data.baselines["first"], DATA.X[:, 0])
    np.testing.assert_array_equal(data.baselines["feature3"], DATA.X[:, 2])
    assert feature_number("max:3", "max") == 3
    for number in (0, 4):
        with pytest.raises(ArgumentError, match=f"there is no feature {number}"):
            with_baselines(DATA, [f"feature:{number}"], tmp_path)


@pytest.mark.parametrize(
    ("text", "name", "number", "source"),
    [
        ("feature:25", "feature25", 25, "feature:25"),
        ("bm25=feature:25", "bm25", 25, "feature:25"),
        ("a/today.run.gz", "today", None, "a/today.run.gz"),
        ("a=b:c.run", "a", None, "b:c.run"),
        ("old=models/", "old", None, "models/"),
        ("models/", "models", None, "models/"),
    ],
)
def test_parts(text: str, name: str, number: int | None, source: str) -> None:
    spec = BaselineSpec.parse(text)
    assert (spec.name, spec.number, spec.source) == (name, number, source)
