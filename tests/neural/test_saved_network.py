"""A saved network: any byte that changes is refused, or loads as data."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest
import torch

import surefoot as sf
from surefoot.errors import DataError, SurefootError
from surefoot.neural.loading import load_ranker

pytestmark = pytest.mark.neural


@pytest.fixture(scope="module")
def data() -> sf.RankingData:
    return sf.demo.letor(queries=10, documents=8, features=4, seed=1)


@pytest.fixture(scope="module")
def saved(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    sf.NeuralRanker("u_risk", 5, epochs=1, hidden=(3,), device="cpu").fit(data).save(folder)
    return folder


def test_every_byte_of_the_parameters_counts(saved, tmp_path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(saved, folder)
    file = folder / "model.safetensors"
    content = file.read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        file.write_bytes(bytes(changed))
        with pytest.raises(DataError, match=r"is not the file that ranker\.json was written for"):
            sf.NeuralRanker.load(folder)
    for shorter in (b"", content[:-1], content + b"x"):
        file.write_bytes(shorter)
        with pytest.raises(DataError):
            sf.NeuralRanker.load(folder)


def test_bytes_of_the_details_are_refused_or_data(saved, tmp_path, data) -> None:
    folder = tmp_path / "model"
    shutil.copytree(saved, folder)
    file = folder / "ranker.json"
    content = file.read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.choice(len(content), 300, replace=False):
        changed = bytearray(content)
        changed[place] = rng.integers(256)
        file.write_bytes(bytes(changed))
        try:
            model = load_ranker(folder)
        except SurefootError:
            continue
        assert isinstance(model, sf.NeuralRanker)
        assert len(model.predict(data)) == len(data)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a model was executed",))


@pytest.mark.parametrize(
    "write", [lambda path: path.write_bytes(pickle.dumps(Bomb())), lambda p: torch.save(Bomb(), p)]
)
def test_a_pickle_is_never_executed(saved, tmp_path, write) -> None:
    import hashlib

    folder = tmp_path / "model"
    shutil.copytree(saved, folder)
    write(folder / "model.safetensors")
    details = json.loads((folder / "ranker.json").read_text())
    details["model"]["sha256"] = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    (folder / "ranker.json").write_text(json.dumps(details))
    with pytest.raises(DataError, match="no safetensors"):
        sf.NeuralRanker.load(folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda details: details["fitted"].update(n_features_in_=5, feature_names_in_=list("abcde")),
            "another network",
        ),
        (lambda details: details["parameters"].update(hidden=[4]), "another network"),
        (lambda details: details["parameters"].update(n_models=2), "another number of epochs"),
        (lambda details: details["parameters"].update(trees=2), "parameters that no ranker has"),
        (lambda details: details["parameters"].update(dropout="much"), "parameters that no ranker has"),
        (lambda details: details["fitted"].update(best_iterations_=[0]), "number of epochs"),
        (lambda details: details["fitted"].pop("history_"), "does not have history_"),
        (lambda details: details.update(schema="surefoot/neural-ranker/2"), "this version reads"),
    ],
)
def test_details_of_another_model(saved, tmp_path, change, words) -> None:
    folder = tmp_path / "model"
    shutil.copytree(saved, folder)
    details = json.loads((folder / "ranker.json").read_text())
    change(details)
    (folder / "ranker.json").write_text(json.dumps(details))
    with pytest.raises(DataError, match=words):
        sf.NeuralRanker.load(folder)


def test_trees_and_networks_replace_each_other(saved, data, tmp_path) -> None:
    pytest.importorskip("lightgbm")
    folder = tmp_path / "model"
    shutil.copytree(saved, folder)
    network = load_ranker(folder)
    sf.Ranker(n_estimators=2, num_leaves=2, num_threads=1, min_data_in_leaf=2).fit(data).save(folder)
    assert isinstance(load_ranker(folder), sf.Ranker)
    network.save(folder)
    assert isinstance(load_ranker(folder), sf.NeuralRanker)
    assert sorted(path.name for path in folder.iterdir()) == ["model.safetensors", "ranker.json"]
    with pytest.raises(DataError, match="schema"):
        sf.Ranker.load(folder)
