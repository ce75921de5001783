"""Trainings that share prepared data give the models they give alone; which queries a ranker knows it learned from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.hashes import HASH_DIGITS, query_fingerprints
from surefoot.errors import ArgumentError
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.prepared_data import PreparedData

SMALL: dict[str, Any] = {"n_estimators": 6, "num_leaves": 5, "min_data_in_leaf": 5, "num_threads": 1}
TINY: dict[str, Any] = {"n_estimators": 2, "num_leaves": 3, "min_data_in_leaf": 2, "num_threads": 1}
DATA = sf.demo.letor(queries=20, documents=8, features=5, seed=1)


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


def known(ranker: sf.Ranker, data: sf.RankingData) -> list[bool]:
    text = ranker.training_queries_ or ""
    stored = {text[at : at + HASH_DIGITS] for at in range(0, len(text), HASH_DIGITS)}
    return [bool(each & stored) for each in query_fingerprints(data)]


def test_training_and_validation_queries_are_known_and_no_others(tmp_path: Path) -> None:
    train, valid, other = (DATA.select(np.arange(20) % 3 == rest) for rest in range(3))
    ranker = sf.Ranker(**TINY).fit(train, valid=valid)
    ranker.save(tmp_path / "model")
    for one in (ranker, sf.Ranker.load(tmp_path / "model"), sf.Ranker(**TINY).fit(PreparedData(train, valid))):
        assert all(known(one, train) + known(one, valid))
        assert not any(known(one, other))


def test_numbered_queries_of_other_data_are_other_queries() -> None:
    ranker = sf.Ranker(**TINY).fit(DATA)
    assert not any(known(ranker, sf.demo.letor(queries=20, documents=8, features=5, seed=2)))


def test_neither_order_nor_new_features_hide_a_query() -> None:
    ids = [f"d{number}" for number in range(len(DATA))]
    named = sf.RankingData(DATA.X, DATA.y, group=DATA.lengths, doc_ids=ids)
    ranker = sf.Ranker(**TINY).fit(named)
    turned = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(DATA.offsets[:-1], DATA.offsets[1:], strict=True)])
    order = [ids[row] for row in turned]
    again = sf.RankingData(DATA.X[turned], DATA.y[turned], group=DATA.lengths, doc_ids=order)
    anew = sf.RankingData(DATA.X * 2, DATA.y, group=DATA.lengths, doc_ids=ids)
    assert all(known(ranker, again) + known(ranker, anew) + known(ranker, DATA))
