"""A model with its baseline: the scores against obvious loops, features by name, and plain data that is not trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.learn.combination import Combination
from surefoot.learn.saved_ranker import FITTED_CHECKS


@pytest.fixture(scope="module")
def data() -> sf.RankingData:
    made = sf.demo.letor(queries=20, documents=6, features=4, seed=1)
    return made.with_baselines_only([]).with_baseline("today", made.feature(2))


def test_a_blend_is_of_scores_standardised_within_each_query(data: sf.RankingData) -> None:
    model = np.random.default_rng(0).normal(size=len(data))
    expected: list[float] = []
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        both = data.baselines["today"][start:end], model[start:end]
        z = [(x - x.mean()) / x.std() if x.std() > 0 else 0 * x for x in both]
        expected.extend(0.4 * z[0] + 0.6 * z[1])
    np.testing.assert_allclose(Combination("today", weight=0.6).scores(model, data), expected, atol=1e-12)
    by_feature = Combination("elsewhere", "feature:2", weight=0.6).scores(model, data.with_baselines_only([]))
    np.testing.assert_allclose(by_feature, expected, atol=1e-6)


def test_selective_uses_the_model_up_to_the_threshold(data: sf.RankingData) -> None:
    model = np.random.default_rng(0).normal(size=len(data))
    means = [data.X[a:b, 2].mean() for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
    threshold = float(np.median(means))
    scores = Combination("today", aggregate="mean:3", threshold=threshold).scores(model, data)
    for number, mean in enumerate(means):
        rows = slice(data.offsets[number], data.offsets[number + 1])
        source = model if mean <= threshold else data.baselines["today"]
        np.testing.assert_array_equal(scores[rows], source[rows])


def test_the_query_feature_goes_by_name(data: sf.RankingData) -> None:
    from surefoot.learn.combination import Aggregate

    named = data.with_features(data.X, ["a", "b", "c", "d"])
    full = Aggregate.parse("max:3").add_to(named)
    ranker = sf.Ranker(n_estimators=4, num_leaves=4, min_data_in_leaf=3, num_threads=1).fit(full)
    ranker.query_feature_ = "max:3"
    expected = ranker.predict(full)
    np.testing.assert_array_equal(ranker.predict(named), expected)
    turned = named.with_features(np.ascontiguousarray(data.X[:, ::-1]), ["d", "c", "b", "a"])
    np.testing.assert_array_equal(ranker.predict(turned), expected)
    np.testing.assert_array_equal(ranker.predict(full.X), expected)  # no queries: taken as it is
    ranker.combination_ = Combination("today", weight=0.5).to_dict()
    blended = ranker.predict(named)
    np.testing.assert_allclose(blended, Combination("today", weight=0.5).scores(expected, named))
    assert ranker.score(named) == pytest.approx(
        sf.score(named.qrels(), [named.to_run(blended, "x")], ranker.measure).mean()[0]
    )
    again = ranker.fit(full)  # another model: it is not blended
    assert (again.combination_, again.query_feature_) == (None, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"baseline": "b"}, {"baseline": "b", "weight": 1.5}, {"baseline": "b", "weight": True},
        {"baseline": "b", "weight": 0.5, "threshold": 1.0}, {"baseline": "b", "aggregate": "mean:1"},
        {"baseline": "b", "aggregate": "mean", "threshold": 0.0}, {"baseline": 3, "weight": 0.5}, [], "blend",
        {"baseline": "b", "aggregate": "mean:1", "threshold": 0.0, "weight": 0.5}, {"baseline": "b", "weigth": 0.5},
    ],
)  # fmt: skip
def test_what_is_no_combination(wrong: Any) -> None:
    assert not FITTED_CHECKS["combination_"](wrong)


def test_what_is_one() -> None:
    for right in (Combination("b", weight=0.0), Combination("b", "feature:1", aggregate="max:2", threshold=-1.5)):
        assert FITTED_CHECKS["combination_"](right.to_dict())
        assert Combination.from_dict(right.to_dict()) == right
    assert FITTED_CHECKS["combination_"](None)
    assert FITTED_CHECKS["query_feature_"](None)
    assert FITTED_CHECKS["query_feature_"]("entropy:3")
    assert not FITTED_CHECKS["query_feature_"]("entropy")
    assert not FITTED_CHECKS["query_feature_"](3)
