"""The course of a training: history that ends with the last tree, the best one, checkpoints and going on from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.learn.trainings import StoppedError, stop_at

import surefoot as sf
from surefoot.errors import ArgumentError, DataError

SMALL: dict[str, Any] = {"num_leaves": 4, "min_data_in_leaf": 5, "num_threads": 1}


def assert_agrees(model: sf.Ranker, train: sf.RankingData, valid: sf.RankingData | None) -> None:
    """History has an entry for each tree, its last is what evaluation says, and best_* go together."""
    trees = model.booster_.num_trees()
    sets = {"train": train} | ({} if valid is None else {"valid": valid})
    for which, data in sets.items():
        history = model.history_[which]["effectiveness"]
        assert len(history) == trees
        run = data.to_run(model.booster_.predict(data.X, num_iteration=trees), "model")
        assert history[-1] == pytest.approx(sf.score(data.qrels(), [run], model.measure).values.mean(), abs=1e-12)
    if valid is None:
        assert (model.best_iteration_, model.best_score_) == (trees, None)
    else:
        assert model.best_score_ == model.history_["valid"]["effectiveness"][model.best_iteration_ - 1]


WAYS: dict[str, dict[str, Any]] = {
    "plain": {"n_estimators": 7},
    "dart": {"n_estimators": 12, "boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0},
    "goss": {"n_estimators": 7, "data_sample_strategy": "goss", "learning_rate": 0.5},
    "stopping": {"n_estimators": 200, "early_stopping_rounds": 4, "learning_rate": 0.5},
    "no split left": {"n_estimators": 400, "learning_rate": 0.9, "min_gain_to_split": 1.0},
    "checkpoints": {"n_estimators": 9, "checkpoint_every": 2},
    "checkpoints, stopping": {"n_estimators": 200, "early_stopping_rounds": 4, "checkpoint_every": 3},
    "checkpoints, no split left": {"n_estimators": 400, "min_gain_to_split": 1.0, "checkpoint_every": 3},
}


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_history_ends_with_the_last_tree(train, valid, way: str, watched: bool, tmp_path: Path) -> None:
    options = SMALL | WAYS[way]
    if "checkpoints" in way:
        options["checkpoint"] = tmp_path / "state.json"
    if not watched:
        options.pop("early_stopping_rounds", None)
        options["n_estimators"] = min(options["n_estimators"], 60)
    valid_data = valid if watched else None
    model = sf.Ranker(**options).fit(train, valid=valid_data)
    if "no split" in way:
        assert model.booster_.num_trees() < options["n_estimators"]
    assert_agrees(model, train, valid_data)
    if "early_stopping_rounds" in options:
        assert model.best_score_ == max(model.history_["valid"]["effectiveness"])


def stopped(train: sf.RankingData, path: Path, **options: Any) -> sf.Ranker:
    """A ranker whose training was interrupted and left a checkpoint of four trees."""
    ranker = sf.Ranker(**(SMALL | {"n_estimators": 9, "checkpoint": path, "checkpoint_every": 2} | options))
    with pytest.raises(StoppedError):
        ranker.fit(train, valid=train, progress=stop_at(5))
    assert path.exists()
    return ranker


@pytest.mark.parametrize("name", ["state.json", "state.json.gz"])
def test_resumed_history_and_best_agree(train, valid, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    ranker = stopped(train, path, feature_fraction=0.5)
    undisturbed = sf.Ranker(**(ranker.get_params() | {"checkpoint": tmp_path / "other.json"})).fit(train, valid=train)
    grown: list[int] = []
    ranker.fit(train, valid=train, progress=lambda trees, _: grown.append(trees))
    assert grown == [5, 6, 7, 8, 9]
    assert ranker.history_ == undisturbed.history_
    assert ranker.booster_.model_to_string() == undisturbed.booster_.model_to_string()
    assert_agrees(ranker, train, train)


def test_a_drawn_seed_goes_on(train, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    ranker = stopped(train, path, feature_fraction=0.5, random_state=None)
    seed = json.loads(path.read_text())["state"]["seed"]
    ranker.fit(train, valid=train)
    assert ranker.random_state_ == seed


def test_the_checkpoint_stays_until_the_model_is_saved(train, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "state.json"
    ranker = stopped(train, path).fit(train, valid=train)
    assert path.exists()

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DataError, match="No space left on device"):
        ranker.save(tmp_path / "model")
    monkeypatch.undo()
    assert path.exists()
    assert not (tmp_path / "model").exists()
    again = sf.Ranker(**ranker.get_params()).fit(train, valid=train)
    assert again.booster_.model_to_string() == ranker.booster_.model_to_string()
    again.save(tmp_path / "model")
    assert not path.exists()


def test_saving_removes_no_other_file(train, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    ranker = stopped(train, path).fit(train, valid=train)
    path.write_text('{"origin": "elsewhere"}')
    ranker.save(tmp_path / "model")
    assert path.exists()
    loaded = sf.Ranker.load(tmp_path / "model")
    loaded.save(tmp_path / "other")
    assert path.exists()


def changed_row(data: sf.RankingData) -> sf.RankingData:
    X = np.array(data.X)
    X[-1, -1] += 1
    return sf.RankingData(X, data.y, group=data.lengths, baselines=data.baselines)


OTHERS = {
    "a feature of one row": changed_row,
    "a label": lambda data: sf.RankingData(
        data.X, np.append(data.y[:-1], 1 - data.y[-1] % 2), group=data.lengths, baselines=data.baselines
    ),
    "query ids": lambda data: sf.RankingData(
        data.X, data.y, qid=np.repeat(np.arange(100, 100 + len(data.queries)), data.lengths), baselines=data.baselines
    ),
    "document ids": lambda data: sf.RankingData(
        data.X, data.y, group=data.lengths, doc_ids=[f"d{n}" for n in range(len(data))], baselines=data.baselines
    ),
    "feature names": lambda data: sf.RankingData(
        data.X, data.y, group=data.lengths, feature_names=list("abcdef"), baselines=data.baselines
    ),
    "baseline": lambda data: sf.RankingData(
        data.X, data.y, group=data.lengths, baselines={"bm25": -data.baselines["bm25"]}
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_all_of_the_data_decides_whether_to_go_on(train, tmp_path: Path, what: str) -> None:
    bare = sf.RankingData(train.X, train.y, group=train.lengths, baselines=train.baselines)
    ranker = stopped(bare, tmp_path / "state.json")
    with pytest.raises(DataError, match=r"another training \(different: the training data"):
        ranker.fit(OTHERS[what](bare), valid=bare)
    if what == "feature names":  # those of the training data are the validation data's too
        return
    with pytest.raises(DataError, match=r"another training \(different: the validation data\)"):
        ranker.fit(bare, valid=OTHERS[what](bare))


@pytest.mark.parametrize("trees", [3, 8, 20])
def test_another_number_of_trees_is_another_training(train, tmp_path: Path, trees: int) -> None:
    ranker = stopped(train, tmp_path / "state.json")
    with pytest.raises(DataError, match=r"another training \(different: n_estimators\)"):
        ranker.set_params(n_estimators=trees).fit(train, valid=train)


def test_the_number_of_threads_may_change(train, tmp_path: Path) -> None:
    ranker = stopped(train, tmp_path / "state.json")
    assert ranker.set_params(num_threads=2).fit(train, valid=train).best_iteration_ == 9


def test_a_checkpoint_that_cannot_be_is_refused_before_training(train, tmp_path: Path) -> None:
    grown: list[int] = []

    def refused(path: Any, message: str) -> None:
        ranker = sf.Ranker(n_estimators=9, checkpoint=path, checkpoint_every=2, **SMALL)
        with pytest.raises(sf.SurefootError, match=message):
            ranker.fit(train, progress=lambda trees, _: grown.append(trees))
        assert not grown

    refused(tmp_path / "absent" / "state.json", "there is no folder")
    refused(tmp_path, "it is a folder")
    refused("/proc/state.json", "cannot be used for a checkpoint")
    refused("", "must name a file")
    refused(5, "must name a file")
    for text in ("not JSON", "[]", '{"schema": "surefoot/checkpoint/1"}', "0 qid:1 1:0.5\n", "[" * 100_000):
        path = tmp_path / "notes.txt"
        path.write_text(text)
        refused(path, "checkpoint")
        assert path.read_text() == text


def test_dart_neither_stops_early_nor_goes_on(train, valid, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="changes earlier trees"):
        sf.Ranker(boosting="dart", early_stopping_rounds=2, **SMALL).fit(train, valid=valid)
    with pytest.raises(ArgumentError, match="cannot continue from a checkpoint"):
        sf.Ranker(boosting="dart", checkpoint=tmp_path / "state.json", **SMALL).fit(train)


def test_the_bins_are_the_same_in_every_batch(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((3000, 3))
    y = (X[:, 0] > 0.7).astype(float)
    options = SMALL | {"n_estimators": 6, "checkpoint_every": 2, "bin_construct_sample_cnt": 50, "max_bin": 8}
    model = sf.Ranker(checkpoint=tmp_path / "state.json", **options).fit(X, y, group=[100] * 30)
    one = sf.Ranker(**options).fit(X, y, group=[100] * 30)
    np.testing.assert_allclose(model.predict(X), one.predict(X), atol=1e-6)


def test_each_batch_of_trees_draws_anew(train, tmp_path: Path) -> None:
    """With one seed for all of them, every tree would split by the one feature that the seed draws."""
    options = SMALL | {"n_estimators": 8, "checkpoint_every": 1, "feature_fraction": 1 / 6}
    model = sf.Ranker(checkpoint=tmp_path / "state.json", **options).fit(train)
    assert (model.feature_importances_ > 0).sum() > 1
