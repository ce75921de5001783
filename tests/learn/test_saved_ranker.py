"""Rankers on disk: replaced in one step, with other files left alone, and no trust in what is read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.hashes import HASH_DIGITS
from surefoot.errors import DataError
from surefoot.learn.engines.lightgbm import model_text

SMALL: dict[str, Any] = {"n_estimators": 3, "num_leaves": 4, "min_data_in_leaf": 5, "num_threads": 1}


@pytest.fixture(scope="module")
def model(train) -> sf.Ranker:
    return sf.Ranker("u_risk", 2, **SMALL).fit(train, valid=train)


@pytest.fixture
def folder(model, tmp_path: Path) -> Path:
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_saved_ranker_names_its_engine(folder: Path) -> None:
    path = folder / "ranker.json"
    details = json.loads(path.read_text())
    assert details["model"] == {
        "file": "model.txt",
        "engine": "lightgbm",
        "sha256": hashlib.sha256((folder / "model.txt").read_bytes()).hexdigest(),
    }
    assert sf.Ranker.load(folder).engine_ == "lightgbm"
    for other in ("catboost", None, ["lightgbm"]):
        details["model"]["engine"] = other
        path.write_text(json.dumps(details))
        with pytest.raises(DataError, match=r"ranker\.json: cannot be used: unknown engine"):
            sf.Ranker.load(folder)


@pytest.mark.heavy
def test_other_files_and_links_stay(model, train, folder: Path, tmp_path: Path) -> None:
    (folder / "report.html").write_text("mine")
    (tmp_path / "link").symlink_to(folder)
    longer = sf.Ranker(**(SMALL | {"n_estimators": 4})).fit(train)
    longer.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in folder.iterdir()) == ["model.txt", "ranker.json", "report.html"]
    assert sf.Ranker.load(folder).best_iteration_ == 4


def test_into_the_current_folder(model, folder: Path, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    model.save(".")
    assert sf.Ranker.load(".").best_iteration_ == 3
    assert Path.cwd() == folder


def test_a_full_disk_at_the_second_file_keeps_the_old_ranker(model, train, folder: Path, monkeypatch) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write, left = Path.write_bytes, [1]

    def full(path: Path, data: bytes) -> int:
        if not left[0]:
            raise OSError(28, "No space left on device")
        left[0] -= 1
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DataError, match="No space left on device"):
        sf.Ranker(**(SMALL | {"n_estimators": 4})).fit(train).save(folder)
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    with pytest.raises(DataError, match="cannot be made"):
        model.save(folder / "model.txt")


def test_a_save_that_fails_takes_all_its_folders_back(model, tmp_path: Path, monkeypatch) -> None:
    def full(path: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DataError, match="No space left on device"):
        model.save(tmp_path / "new" / "deep" / "model")
    assert list(tmp_path.iterdir()) == []


WRONG: list[tuple[str, Any]] = [
    ("n_features_in_", 0), ("n_features_in_", "6"), ("n_features_in_", 7), ("n_features_in_", 10**400),
    ("feature_names_in_", ["a"]), ("feature_names_in_", "abcdef"), ("feature_names_in_", ["a"] * 6),
    ("feature_names_in_", [1, 2, 3, 4, 5, 6]), ("feature_names_in_", ["\ud800", *"abcde"]),
    ("baselines_", None), ("baselines_", [[]]), ("best_iteration_", 99), ("best_iteration_", 0),
    ("best_iteration_", 2.5), ("best_iteration_", True), ("best_score_", "high"), ("best_score_", 10**400),
    ("history_", []), ("history_", {"train": {}}), ("history_", {"train": {"risk": 5}, "valid": {}}),
    ("history_", {"train": {"risk": ["x"]}, "valid": {}}), ("history_", {"train": {"a": [1], "b": []}, "valid": {}}),
    ("tie_rule_", "luck"), ("tie_rule_", []), ("score_sample_", []), ("score_sample_", [1, 0]),
    ("score_sample_", [None]), ("score_sample_", 5), ("random_state_", -1), ("random_state_", "x"),
    ("training_queries_", "abc"), ("training_queries_", 3), ("training_queries_", "x" * HASH_DIGITS),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_no_ranker_has_learned(folder: Path, name: str, value: Any) -> None:
    details = json.loads((folder / "ranker.json").read_text())
    details["fitted"][name] = value
    (folder / "ranker.json").write_text(json.dumps(details))
    with pytest.raises(DataError):
        sf.Ranker.load(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"best_score_": ', '"best_score_": NaN, "x": '),
        lambda text: "[" * 100_000,
        lambda text: text.replace('"parameters": {', '"parameters": {"self": 1,'),
        lambda text: text.replace('"init": null', '"init": "zero"'),
        lambda text: re.sub(r'"sha256": "\w+"', '"sha256": "../../x"', text),
        lambda text: re.sub(r'"sha256": "\w+"', '"sha256": []', text),
        lambda text: text.encode()[:50].decode() + "\x00",
    ],
)
def test_a_broken_description(folder: Path, change: Callable[[str], str]) -> None:
    path = folder / "ranker.json"
    path.write_text(change(path.read_text()))
    with pytest.raises(DataError):
        sf.Ranker.load(folder)


CHANGES: dict[str, tuple[str, str]] = {
    "a child that is not there": (r"left_child=\S+", "left_child=99"),
    "a circle": (r"left_child=\S+", "left_child=0"),
    "a leaf that is not there": (r"right_child=\S+", "right_child=-2147483648"),
    "a feature that is not there": (r"split_feature=\S+", "split_feature=2147483647"),
    "a feature below 0": (r"split_feature=\S+", "split_feature=-1"),
    "too many leaves": (r"num_leaves=\d+", "num_leaves=1000000000"),
    "no leaves": (r"num_leaves=\d+", "num_leaves=0"),
    "leaves below 0": (r"num_leaves=\d+", "num_leaves=-4"),
    "categories": (r"num_cat=0", "num_cat=3"),
    "a decision that is not there": (r"decision_type=\d+", "decision_type=1"),
    "a leaf of nan": (r"leaf_value=\S+", "leaf_value=nan"),
    "a leaf beyond all numbers": (r"leaf_value=\S+", "leaf_value=1e999"),
    "a leaf too few": (r"leaf_value=\S+ ", "leaf_value="),
    "no thresholds": (r"threshold=.*\n", ""),
    "linear leaves that are not there": (r"is_linear=0", "is_linear=1"),
    "too many classes": (r"num_class=1", "num_class=1000000"),
    "too many trees each": (r"num_tree_per_iteration=1", "num_tree_per_iteration=0"),
    "too many features": (r"max_feature_idx=\d+", "max_feature_idx=2147483647"),
    "features below 0": (r"max_feature_idx=\d+", "max_feature_idx=-2"),
    "an objective": (r"label_index=0", "label_index=0\nobjective=multiclass num_class:1000000"),
    "sizes beyond the text": (r"tree_sizes=\d+", "tree_sizes=99999"),
    "sizes below 0": (r"tree_sizes=\d+", "tree_sizes=-5"),
    "names that are too few": (r"feature_names=\S+ ", "feature_names="),
    "another version": (r"version=v4", "version=v9"),
    "another end": (r"end of trees", "end of all"),
    "no parameters": (r"parameters:\n", "\n"),
    "an odd parameter": (r"\[boosting: gbdt\]", '[boosting: "\\\\]'),
    "more after the end": (r"pandas_categorical:null", "pandas_categorical:[[1]]"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_model_text_that_lightgbm_did_not_write(folder: Path, what: str) -> None:
    path, pattern = folder / "model.txt", CHANGES[what]
    text = path.read_text()
    false = re.sub(*pattern, text, count=1)
    assert false != text
    if "sizes" not in what:
        trees = re.search(r"Tree=.*(?=end of)", false, re.DOTALL)
        assert trees
        sizes = " ".join(str(len(tree)) for tree in re.split("(?=Tree=)", trees[0])[1:])
        false = re.sub("tree_sizes=.*", f"tree_sizes={sizes}", false)
    path.write_text(false)
    details = json.loads((folder / "ranker.json").read_text())
    details["model"]["sha256"] = hashlib.sha256(false.encode()).hexdigest()
    (folder / "ranker.json").write_text(json.dumps(details))
    with pytest.raises(DataError, match="is not a LightGBM model"):
        sf.Ranker.load(folder)


@pytest.mark.parametrize(
    "changed",
    [
        {}, {"boosting": "dart"}, {"linear_tree": True}, {"categorical_feature": [0]}, {"zero_as_missing": True},
        {"monotone_constraints": [1, 0, 0, 0, 0, -1]}, {"max_bin": 3}, {"num_leaves": 60, "min_data_in_leaf": 1},
        {"use_quantized_grad": True}, {"extra_trees": True}, {"saved_feature_importance_type": 1},
        {"interaction_constraints": [[0, 1], [2, 3, 4, 5]]}, {"learning_rate": 1e-30}, {"learning_rate": 1e30},
        {"cegb_penalty_feature_coupled": [0.1] * 6}, {"max_bin_by_feature": [5] * 6}, {"path_smooth": 2},
    ],
)  # fmt: skip
def test_every_text_of_lightgbm_is_one(train, changed: dict[str, Any], tmp_path: Path) -> None:
    X = np.array(train.X)
    X[::7, 1] = np.nan
    X[:, 0] = np.array([5, 0, 3, 1, 40])[train.y.astype(int)]
    model = sf.Ranker(**(SMALL | changed)).fit(X, train.y, group=train.lengths)
    text = model.booster_.model_to_string()
    assert model_text.check(text) == model.booster_.num_trees()
    model.save(tmp_path)
    np.testing.assert_array_equal(sf.Ranker.load(tmp_path).predict(X), model.predict(X))
