"""Going on from a model on new data: its trees stay, what does not fit is refused, queries of both are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.learn.trainings import ENGINES, StoppedError, stop_at

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.engines.contract import engine_of

SMALL: dict[str, dict[str, Any]] = {
    "lightgbm": {"num_leaves": 4, "min_data_in_leaf": 5, "num_threads": 1},
    "xgboost": {"engine": "xgboost", "max_depth": 3, "min_child_weight": 0.01, "nthread": 1},
}
OLD, NEW, VALID = (sf.demo.letor(queries=30, documents=12, features=5, seed=seed) for seed in (1, 2, 3))


@pytest.mark.parametrize("engine", ENGINES)
def test_its_trees_come_first_and_more_follow(engine: str, tmp_path: Path) -> None:
    first = sf.Ranker("u_risk", 5, n_estimators=6, early_stopping_rounds=3, **SMALL[engine]).fit(OLD, valid=VALID)
    first.save(tmp_path / "old")
    again = sf.Ranker("u_risk", 5.0, n_estimators=4, **SMALL[engine])
    for start in (first, str(tmp_path / "old"), tmp_path / "old"):
        again.fit(NEW, valid=VALID, init_model=start)
        assert again.best_iteration_ == first.best_iteration_ + 4
        assert again.trees_before_ == first.best_iteration_
        assert [len(again.history_[which]["risk"]) for which in ("train", "valid")] == [4, 4]
        assert again.history_["train"]["effectiveness"][-1] == pytest.approx(again.score(NEW), abs=1e-6)
        assert again.history_["valid"]["effectiveness"][-1] == pytest.approx(again.score(VALID), abs=1e-6)
        assert again.score(NEW) > first.score(NEW)
    prefix = engine_of(engine).predict(again.booster_, VALID.X, first.best_iteration_)
    np.testing.assert_allclose(prefix, first.predict(VALID), rtol=0, atol=1e-6)
    assert again.training_queries_ is not None
    assert first.training_queries_ is not None
    assert len(again.training_queries_) == len(first.training_queries_) * 3 // 2
    again.save(tmp_path / "new")
    loaded = sf.Ranker.load(tmp_path / "new")
    assert loaded.trees_before_ == first.best_iteration_
    np.testing.assert_array_equal(loaded.predict(VALID), again.predict(VALID))


def test_with_checkpoints(tmp_path: Path) -> None:
    first = sf.Ranker(n_estimators=6, **SMALL["lightgbm"]).fit(OLD)
    options = {"n_estimators": 7, "checkpoint": tmp_path / "state.json", "checkpoint_every": 4, **SMALL["lightgbm"]}

    with pytest.raises(StoppedError):
        sf.Ranker(**options).fit(NEW, init_model=first, progress=stop_at(10))
    assert (tmp_path / "state.json").exists()
    with pytest.raises(DataError, match=r"another training .different: init_model"):
        sf.Ranker(**options).fit(NEW)
    resumed = sf.Ranker(**options).fit(NEW, init_model=first)
    whole = sf.Ranker(**(options | {"checkpoint": tmp_path / "other.json"})).fit(NEW, init_model=first)
    assert resumed.history_ == whole.history_
    np.testing.assert_array_equal(resumed.predict(NEW), whole.predict(NEW))
    assert resumed.best_iteration_ == 13


def test_what_does_not_fit_is_refused() -> None:
    small = SMALL["lightgbm"] | {"n_estimators": 2}
    first = sf.Ranker("u_risk", 5, **small).fit(OLD)
    for ranker, data, message in (
        (sf.Ranker("saro", 5, **small), NEW, "other objective: 'u_risk', but here it is 'saro'"),
        (sf.Ranker("u_risk", 6, **small), NEW, "other alpha: 5.0, but here it is 6.0"),
        (sf.Ranker("u_risk", 5, measure="AP", **small), NEW, "other measure"),
        (sf.Ranker("u_risk", 5, init="baseline", **small), NEW, "other init: None, but here it is 'baseline'"),
        (sf.Ranker("u_risk", 5, **small), NEW.with_baseline("other", NEW.y), "other baselines: 'bm25', but here it is"),
        (sf.Ranker("u_risk", 5, **small), NEW.with_features(NEW.X[:, :4].copy(), None), "other features"),
        (sf.Ranker("u_risk", 5, boosting="dart", **small), NEW, "cannot continue from init_model"),
    ):
        with pytest.raises(ArgumentError, match=message):
            ranker.fit(data, init_model=first)
    with pytest.raises(ArgumentError, match="must be a Ranker"):
        sf.Ranker("u_risk", 5, **small).fit(NEW, init_model=3)
    with pytest.raises(ArgumentError, match="has not learned"):
        sf.Ranker("u_risk", 5, **small).fit(NEW, init_model=sf.Ranker())


@pytest.mark.engines("xgboost")
def test_another_engine_is_refused() -> None:
    first = sf.Ranker(n_estimators=2, **SMALL["xgboost"]).fit(OLD)
    with pytest.raises(ArgumentError, match="trees of xgboost; set engine='xgboost'"):
        sf.Ranker(n_estimators=2, **SMALL["lightgbm"]).fit(NEW, init_model=first)
