"""Rankers to compare with: linear ones against slow, obvious loops, regression trees against LightGBM's own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.simple_rankers import adarank, feature_selection, regression_trees

MEASURE = "nDCG(dcg='exp-log2')@10"


@pytest.fixture(scope="module")
def made() -> sf.RankingData:
    return sf.demo.letor(queries=25, documents=12, features=6, seed=3)


def ndcg(data: sf.RankingData, scores: Any) -> np.ndarray:
    """nDCG(exp)@10 of each query, document by document."""
    result = []
    place = np.argsort(data.tie_order())
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        order = sorted(range(start, end), key=lambda row: (-scores[row], place[row]))
        gain = [2 ** data.y[row] - 1 for row in order][:10]
        best = sorted((2 ** data.y[row] - 1 for row in range(start, end)), reverse=True)[:10]
        dcg, ideal = (sum(g / math.log2(rank + 2) for rank, g in enumerate(gains)) for gains in (gain, best))
        result.append(dcg / ideal if ideal else 0.0)
    return np.array(result)


def standardised(data: sf.RankingData) -> np.ndarray:
    X = np.zeros((len(data), data.n_features))
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        part = data.X[start:end].astype(float)
        spread = part.std(axis=0)
        X[start:end] = np.where(spread > 0, (part - part.mean(axis=0)) / np.where(spread > 0, spread, 1), 0)
    return X


def test_adarank_against_its_pseudocode(made: sf.RankingData) -> None:
    X = standardised(made)
    alone = np.stack([ndcg(made, column) for column in X.T])
    weights, share, history, last = np.zeros(6), np.full(25, 1 / 25), [], None
    for _ in range(5):
        feature = max((k for k in range(6) if k != last), key=lambda k: sum(share * alone[k]))
        last = feature
        weights[feature] += 0.5 * math.log(sum(share * (1 + alone[feature])) / sum(share * (1 - alone[feature])))
        values = ndcg(made, X @ weights)
        history.append(values.mean())
        share = np.exp(-values) / np.exp(-values).sum()
    model = adarank(made, MEASURE, rounds=5)
    best = int(np.argmax(history))
    np.testing.assert_allclose(model.history, history[: best + 1], atol=1e-12)
    assert ndcg(made, model.predict(made)).mean() == pytest.approx(max(history), abs=1e-12)


def test_feature_selection_takes_the_best_feature_first_and_only_rises(made: sf.RankingData) -> None:
    X = standardised(made)
    model = feature_selection(made, MEASURE, features=3)
    best = max(ndcg(made, sign * column).mean() for column in X.T for sign in (1, -1))
    assert model.history[0] == pytest.approx(best, abs=1e-12)
    assert all(later > earlier for earlier, later in zip(model.history, model.history[1:], strict=False))
    assert ndcg(made, X @ model.weights).mean() == pytest.approx(model.history[-1], abs=1e-12)
    assert len(model.chosen) == len(set(model.chosen)) == np.count_nonzero(model.weights)


def test_a_feature_that_knows_the_answer(made: sf.RankingData) -> None:
    known = made.with_features(np.column_stack([made.X, -made.y]).astype(np.float32), None)
    most = np.mean([made.y[start:end].any() for start, end in zip(made.offsets[:-1], made.offsets[1:], strict=True)])
    model = feature_selection(known)
    assert (model.chosen, model.weights[-1], model.history) == ((6,), -1.0, (pytest.approx(most),))
    good = made.with_features(np.column_stack([made.X, made.y]).astype(np.float32), None)
    assert adarank(good, rounds=3).chosen[0] == 6
    assert adarank(good, rounds=3).history == (pytest.approx(most),)


def test_other_scales_and_bad_input(made: sf.RankingData) -> None:
    scaled = made.with_features((made.X * np.float32(8) + np.float32(2)).astype(np.float32), None)
    assert feature_selection(scaled, features=2).chosen == feature_selection(made, features=2).chosen
    with pytest.raises(ArgumentError, match="rounds"):
        adarank(made, rounds=0)
    narrow = feature_selection(made.with_features(made.X[:, :3].copy(), None), features=1)
    with pytest.raises(ArgumentError, match="has 6 features, but this model was trained on 3"):
        narrow.predict(made)


def test_both_beat_bm25_on_mq2008(data: Path) -> None:
    train, test = (sf.read_letor(data / "mq2008" / "Fold1" / f"{name}.txt") for name in ("train", "test"))
    target = MeasuredQueries(MEASURE, test.y, test.offsets, test.tie_order())
    bm25 = target.values(test.feature(25)).mean()
    assert target.values(adarank(train, rounds=20).predict(test)).mean() > bm25 + 0.04
    assert target.values(feature_selection(train, features=2).predict(test)).mean() > bm25 + 0.04


def test_regression_trees_are_lightgbms(made) -> None:
    train, valid = made, sf.demo.letor(queries=25, documents=12, features=6, seed=4)
    parameters = {"num_leaves": 5, "min_data_in_leaf": 5, "num_threads": 1, "learning_rate": 0.1}
    result = regression_trees(train, trees=20, **parameters).predict(valid)
    settings = parameters | {"objective": "regression", "deterministic": True, "force_col_wise": True, "verbosity": -1}
    theirs = lightgbm.train(settings, lightgbm.Dataset(train.X, train.y), 20).predict(valid.X)
    np.testing.assert_allclose(result, theirs, atol=1e-5)


def test_regression_trees_stop_where_the_error_is_least(made) -> None:
    train, valid = made, sf.demo.letor(queries=25, documents=12, features=6, seed=4)
    parameters = {"num_leaves": 15, "min_data_in_leaf": 2, "num_threads": 1, "learning_rate": 0.3}
    model = regression_trees(train, valid, trees=200, early_stopping_rounds=10, **parameters)
    errors = [
        np.mean((regression_trees(train, trees=count, **parameters).predict(valid) - valid.y) ** 2)
        for count in range(1, model.trees + 11)
    ]
    assert int(np.argmin(errors)) + 1 == model.trees < 100
    assert np.mean((model.predict(valid) - valid.y) ** 2) == pytest.approx(min(errors))
