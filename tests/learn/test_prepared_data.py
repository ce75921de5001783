"""Trainings that share prepared data give the models they give alone; regression trees against LightGBM's own."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.prepared_data import PreparedData
from surefoot.learn.simple_rankers import regression_trees

SMALL: dict[str, Any] = {"n_estimators": 6, "num_leaves": 5, "min_data_in_leaf": 5, "num_threads": 1}


@pytest.fixture(scope="module")
def sets() -> list[sf.RankingData]:
    made = [sf.demo.letor(queries=40, documents=15, features=6, seed=seed) for seed in (1, 2)]
    return [
        data.with_baseline("one", data.feature(1)).with_baseline("two", data.feature(2) - data.feature(3))
        for data in made
    ]


def text(ranker: sf.Ranker) -> str:
    """The trees; the parameters after them also name the seed of bins, which draws nothing here."""
    return engine_of().dump(ranker.booster_, ranker.best_iteration_).partition("end of trees")[0]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"objective": "u_risk", "alpha": 5},
        {"objective": "geo_risk", "alpha": 5, "num_leaves": 9, "learning_rate": 0.3},
        {"random_state": 3, "feature_fraction": 0.5},
        {"min_data_in_leaf": 25},
        {"max_bin": 7},
        {"boosting": "dart"},
        {"init": "baseline", "measure": "AP"},
    ],
)
def test_shared_data_changes_no_model(sets, settings) -> None:
    train, valid = sets
    shared = PreparedData(train, valid)
    sf.Ranker(**SMALL).fit(shared)  # others have used it before
    alone = sf.Ranker(**(SMALL | settings)).fit(train, valid=valid)
    again = sf.Ranker(**(SMALL | settings)).fit(shared)
    assert text(again) == text(alone)
    assert again.history_ == alone.history_


def test_bins_are_made_once(sets, monkeypatch) -> None:
    made = []
    bins = type(engine_of()).bin
    monkeypatch.setattr(type(engine_of()), "bin", lambda *changed: made.append(1) or bins(*changed))
    shared = PreparedData(*sets)
    for seed, leaves in ((0, 4), (1, 4), (1, 8)):
        sf.Ranker(**(SMALL | {"num_leaves": leaves, "random_state": seed})).fit(shared)
        sf.Ranker(objective="u_risk", alpha=1, **SMALL).fit(shared.with_baselines_only(["two"]))
    assert len(made) == 1
    sf.Ranker(**(SMALL | {"max_bin": 15})).fit(shared)
    assert len(made) == 2


def test_fewer_baselines(sets) -> None:
    train, valid = sets
    shared = PreparedData(train, valid).with_baselines_only(["two"])
    alone = sf.Ranker("u_risk", 2, **SMALL).fit(
        train.with_baselines_only(["two"]), valid=valid.with_baselines_only(["two"])
    )
    assert text(sf.Ranker("u_risk", 2, **SMALL).fit(shared)) == text(alone)


def test_prepared_data_comes_alone(sets) -> None:
    with pytest.raises(ArgumentError, match="leave the others out"):
        sf.Ranker(**SMALL).fit(PreparedData(*sets), valid=sets[1])


def test_regression_trees_are_lightgbms(sets) -> None:
    train, valid = sets
    parameters = {"num_leaves": 5, "min_data_in_leaf": 5, "num_threads": 1, "learning_rate": 0.1}
    result = regression_trees(train, trees=20, **parameters).predict(valid)
    settings = parameters | {"objective": "regression", "deterministic": True, "force_col_wise": True, "verbosity": -1}
    theirs = lightgbm.train(settings, lightgbm.Dataset(train.X, train.y), 20).predict(valid.X)
    np.testing.assert_allclose(result, theirs, atol=1e-5)


def test_regression_trees_stop_where_the_error_is_least(sets) -> None:
    train, valid = sets
    parameters = {"num_leaves": 15, "min_data_in_leaf": 2, "num_threads": 1, "learning_rate": 0.3}
    model = regression_trees(train, valid, trees=200, early_stopping_rounds=10, **parameters)
    errors = [
        np.mean((regression_trees(train, trees=count, **parameters).predict(valid) - valid.y) ** 2)
        for count in range(1, model.trees + 11)
    ]
    assert int(np.argmin(errors)) + 1 == model.trees < 100
    assert np.mean((model.predict(valid) - valid.y) ** 2) == pytest.approx(min(errors))
