"""Means of models: one booster whose scores are the mean of the models' own, wherever it goes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
from tests.export.interpreters import interpreter
from tests.export.models import NAMES, OF_ENGINE, data, delicate, model_of
from tests.export.test_exact import LIGHT, agree, seen
from tests.learn.trainings import ENGINES, StoppedError

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.learn.checkpoints import Checkpoint
from surefoot.learn.engines.lightgbm.engine import LightGBMBins
from surefoot.learn.training import Training

DRAWS: dict[str, dict[str, Any]] = {
    "lightgbm": {"feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1},
    "xgboost": {"colsample_bytree": 0.5, "subsample": 0.7},
}
CLOSE = {"lightgbm": 1e-12, "xgboost": 2e-6}  # XGBoost keeps leaves and sums in float32


def settings(engine: str, **more: Any) -> dict[str, Any]:
    return {"n_estimators": 12, "random_state": 3, **OF_ENGINE[engine], **DRAWS[engine], **more}


def models(engine: str, missing: bool = True, count: int = 3, **more: Any) -> list[sf.Ranker]:
    train = data(missing)
    return [sf.Ranker(**settings(engine, random_state=3 + seed, **more)).fit(train) for seed in range(count)]


def mean_of(rankers: list[sf.Ranker], X: Any, **more: Any) -> np.ndarray:
    return np.mean([ranker.predict(X, **more) for ranker in rankers], axis=0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("missing", [False, True])
def test_scores_are_the_mean_of_scores(engine: str, missing: bool, tmp_path: Path) -> None:
    rankers = models(engine, missing)
    assert len({tuple(ranker.predict(data(missing).X)) for ranker in rankers}) == 3
    mean = sf.average(rankers)
    rows = [data(missing, seed=9).X, *(delicate(ranker, 0.2) for ranker in rankers)]
    for X in rows:
        np.testing.assert_allclose(mean.predict(X), mean_of(rankers, X), rtol=0, atol=CLOSE[engine])
    assert mean.best_iteration_ == 36 == mean.n_models * 12
    assert [part["random_state"] for part in mean.models_] == [3, 4, 5]
    assert [part["weight"] for part in mean.models_] == [1 / 3] * 3
    mean.save(tmp_path / "mean")
    again = sf.Ranker.load(tmp_path / "mean")
    assert again.models_ == mean.models_
    for X in rows:
        np.testing.assert_array_equal(again.predict(X), mean.predict(X))
    again.save(tmp_path / "again")
    for file in (tmp_path / "mean").iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("to", [*LIGHT, pytest.param("onnx", marks=pytest.mark.engines("onnx"))])
def test_every_export_scores_as_the_mean_does(engine: str, to: str, tmp_path: Path) -> None:
    rankers = models(engine)
    mean = sf.average(rankers)
    mean.export(tmp_path, to=to, missing="zero", keep_negative=True)
    rows = json.loads((tmp_path / "model.rows.json").read_text(encoding="utf-8"))
    matrix = np.array([[np.nan if value is None else value for value in row] for row in rows["rows"]], np.float32)
    score = interpreter(to, model_of(tmp_path).read_bytes(), NAMES)
    np.testing.assert_allclose(score(matrix), rows["scores"], rtol=0, atol=rows["tolerance"])
    ordinary = data(True, seed=9).X
    agree(score(ordinary), mean_of(rankers, seen(ordinary, "zero")))


def test_of_each_the_trees_up_to_its_best(tmp_path: Path) -> None:
    train, valid = data(False), data(False, seed=6)
    rankers = [
        sf.Ranker(**settings("lightgbm", n_estimators=200, random_state=seed), early_stopping_rounds=5).fit(
            train, valid=valid
        )
        for seed in range(3)
    ]
    assert any(ranker.best_iteration_ < ranker.booster_.num_trees() for ranker in rankers)
    mean = sf.average(rankers)
    assert mean.best_iteration_ == sum(ranker.best_iteration_ for ranker in rankers)
    np.testing.assert_allclose(mean.predict(valid.X), mean_of(rankers, valid.X), rtol=0, atol=1e-12)
    assert [part["history"] for part in mean.models_] == [ranker.history_ for ranker in rankers]


@pytest.mark.parametrize("more", [{"boosting": "dart"}, {"linear_tree": True}], ids=["dart", "linear leaves"])
def test_trees_of_other_kinds(more: dict[str, Any], tmp_path: Path) -> None:
    rankers = models("lightgbm", False, n_estimators=30, **more)
    mean = sf.average(rankers)
    for X in (data(False, seed=9).X, delicate(rankers[0], 0)):
        expected = mean_of(rankers, X)
        np.testing.assert_allclose(mean.predict(X), expected, rtol=1e-12, atol=1e-12)
    mean.save(tmp_path)
    plain = lgb.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_array_equal(plain.predict(data(False).X), mean.predict(data(False).X))


def test_weights_and_means_of_means() -> None:
    rankers, X = models("lightgbm", False), data(False, seed=9).X
    scores = [ranker.predict(X) for ranker in rankers]
    weighted = sf.average(rankers, weights=[2, 1, 1])
    np.testing.assert_allclose(weighted.predict(X), (2 * scores[0] + scores[1] + scores[2]) / 4, atol=1e-12)
    nested = sf.average([sf.average(rankers[:2]), rankers[2]])
    np.testing.assert_allclose(nested.predict(X), (scores[0] + scores[1]) / 4 + scores[2] / 2, atol=1e-12)
    assert [part["weight"] for part in nested.models_] == [0.25, 0.25, 0.5]
    np.testing.assert_allclose(sf.average(rankers[:1]).predict(X), scores[0], atol=1e-12)
    for wrong in ([1, 1], [0, 0, 0], [1, -1, 1], [1, np.nan, 1]):
        with pytest.raises(ArgumentError, match="weights is"):
            sf.average(rankers, weights=wrong)


def test_a_mean_that_starts_from_the_baseline_adds_it_once(tmp_path: Path) -> None:
    train, test = (sf.demo.letor(queries=30, documents=12, features=5, seed=seed) for seed in (1, 2))
    small = {"n_estimators": 5, "num_leaves": 4, "feature_fraction": 0.5, "num_threads": 1, "init": "baseline"}
    rankers = [sf.Ranker("u_risk", 5, random_state=seed, **small).fit(train) for seed in range(3)]
    mean = sf.average(rankers)
    np.testing.assert_allclose(mean.predict(test), mean_of(rankers, test), rtol=0, atol=1e-12)
    mean.save(tmp_path)
    np.testing.assert_array_equal(sf.Ranker.load(tmp_path).predict(test), mean.predict(test))
    with pytest.raises(ArgumentError, match="ranker 2 has other init than the first"):
        sf.average([rankers[0], sf.Ranker("u_risk", 5, **(small | {"init": None})).fit(train)])


def test_what_has_no_mean() -> None:
    train = sf.demo.letor(queries=30, documents=12, features=5, seed=1)
    small = {"n_estimators": 2, "num_leaves": 4, "num_threads": 1}
    first = sf.Ranker(**small).fit(train)
    for other, message in (
        (
            sf.Ranker(**small).fit(train.with_baselines_only([])),
            "other baselines than the first one: none instead of 'bm25'",
        ),
        (sf.Ranker(**small).fit(train.with_features(train.X[:, :4].copy(), None)), "other features"),
        (sf.Ranker(**small).fit(train.with_features(train.X, list("edcba"))), "other features"),
        (sf.Ranker(**small), "has not learned"),
        ("model", "takes a list of one or more Rankers"),
    ):
        with pytest.raises(ArgumentError, match=message):
            sf.average([first, other])
    for wrong in ([], None, first):
        with pytest.raises(ArgumentError, match="takes a list of one or more Rankers"):
            sf.average(wrong)


@pytest.mark.engines("xgboost")
def test_two_engines_have_no_mean() -> None:
    with pytest.raises(ArgumentError, match="other engine than the first one: 'xgboost' instead of 'lightgbm'"):
        sf.average([*models("lightgbm", count=1), *models("xgboost", count=1)])


@pytest.mark.parametrize("engine", ENGINES)
def test_n_models_is_the_mean_of_seeds_on_one_set_of_bins(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    train, valid = data(False), data(False, seed=6)
    more = settings(engine, n_estimators=40, early_stopping_rounds=4)
    expected = [sf.Ranker(**(more | {"random_state": seed})).fit(train, valid=valid) for seed in (3, 4, 5)]
    made = []
    if engine == "lightgbm":
        original = LightGBMBins.__init__
        monkeypatch.setattr(LightGBMBins, "__init__", lambda *args: (made.append(1), original(*args))[1])
    reported: list[int] = []
    mean = sf.Ranker(n_models=3, **more).fit(train, valid=valid, progress=lambda trees, _: reported.append(trees))
    assert engine != "lightgbm" or len(made) == 1
    np.testing.assert_array_equal(mean.predict(valid), sf.average(expected).predict(valid))
    assert [part["trees"] for part in mean.models_] == [ranker.best_iteration_ for ranker in expected]
    assert [part["history"] for part in mean.models_] == [ranker.history_ for ranker in expected]
    assert mean.best_score_ == pytest.approx(mean.score(valid), abs=1e-9)
    assert reported == sorted(reported)
    assert max(reported) > 80
    assert mean.get_params()["n_models"] == 3
    quantiles = np.quantile(mean.predict(train), np.linspace(0, 1, len(mean.score_sample_)))
    np.testing.assert_allclose(mean.score_sample_, quantiles, atol=1e-9)


def test_models_that_would_all_be_the_same_are_refused() -> None:
    train = data(False)
    for wrong, message in (
        ({"n_models": 3}, "the same model 3 times, because nothing is drawn at random; give feature_fraction=0.7"),
        ({"n_models": 0}, "n_models is 0"),
        ({"n_models": 1.5}, "n_models is 1.5"),
    ):
        with pytest.raises(ArgumentError, match=re.escape(message)):
            sf.Ranker(n_estimators=3, num_threads=1, **wrong).fit(train)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("writes", [1, 3, 4, 6])
def test_a_killed_fit_goes_on_and_grows_no_model_again(
    engine: str, writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = data(False)
    path = tmp_path / "state.json"
    more = settings(engine, n_estimators=12, n_models=3, checkpoint=path, checkpoint_every=5)
    whole = sf.Ranker(**(more | {"checkpoint": tmp_path / "other.json"})).fit(train)
    with monkeypatch.context() as patch:
        write, count = Checkpoint.write, 0

        def write_and_die(self: Checkpoint, *args: Any) -> None:
            nonlocal count
            write(self, *args)
            count += 1
            if count == writes:
                raise StoppedError

        patch.setattr(Checkpoint, "write", write_and_die)
        with pytest.raises(StoppedError):
            sf.Ranker(**more).fit(train)
    grown: list[int] = []
    grow = Training.grow
    monkeypatch.setattr(
        Training,
        "grow",
        lambda self, booster, so_far, until: (grown.append(until), grow(self, booster, so_far, until))[1],
    )
    again = sf.Ranker(**more).fit(train)
    assert grown == ([5, 10, 12] * 3)[writes:]
    np.testing.assert_array_equal(again.predict(train.X), whole.predict(train.X))
    again.save(tmp_path / "again")
    whole.save(tmp_path / "whole")
    name = "model.txt" if engine == "lightgbm" else "model.json"
    assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["again", "whole"]
