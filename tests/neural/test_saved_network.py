"""A saved network: any byte that changes is refused or loads as data, by one message, before it takes memory."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import shutil
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

import surefoot as sf
from surefoot.errors import ArgumentError, DataError, SurefootError
from surefoot.neural import saved_network
from surefoot.neural.loading import load_ranker
from surefoot.neural.network import Network, NetworkShape, tensor_shapes

pytestmark = pytest.mark.neural
MODEL, DETAILS = "model.safetensors", "ranker.json"
DATA = sf.demo.letor(queries=10, documents=8, features=4, seed=1)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    sf.NeuralRanker("u_risk", 5, epochs=1, hidden=(4,), device="cpu", history=False).fit(DATA).save(folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    return shutil.copytree(saved, tmp_path / "model")


def change_details(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    details = json.loads((folder / DETAILS).read_text())
    change(details)
    (folder / DETAILS).write_text(json.dumps(details))


def put(folder: Path, content: bytes) -> None:
    """Another model, whose hash the details have."""
    (folder / MODEL).write_bytes(content)
    change_details(folder, lambda details: details["model"].update(sha256=hashlib.sha256(content).hexdigest()))


def with_tensors(**changed: torch.Tensor | None) -> Callable[[bytes], bytes]:
    """The parameters with some of them changed, added or, where None, left out."""

    def changed_content(content: bytes) -> bytes:
        tensors = {name: each.clone() for name, each in load(content).items()} | changed
        return save({name: each for name, each in tensors.items() if each is not None})

    return changed_content


def header(tensors: Any, body: int = 0, length: int | None = None) -> Callable[[bytes], bytes]:
    """A file of this header, which may say another length than it has, and so many bytes after it."""
    text = tensors if isinstance(tensors, bytes) else json.dumps(tensors).encode()
    return lambda _: struct.pack("<Q", len(text) if length is None else length) + text + bytes(body)


def entry(dtype: str, shape: list[int], end: int, start: int = 0) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


class Bomb:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("a model was executed",))


def torch_file(value: Any) -> bytes:
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


NAN, INF = float("nan"), float("inf")
OTHER = "are those of another network"
NONE = "these are no safetensors"
OTHER_FILE = "is not the file that ranker.json was written for"
CONTENTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a parameter is missing": (with_tensors(score_weight=None), f"{OTHER}: 'score_weight' is missing"),
    "one more": (with_tensors(evil=torch.zeros(2)), f"{OTHER}: 'evil' is none of this network"),
    "another name": (with_tensors(score_weight=None, score=torch.zeros(1, 4, 1)), OTHER),
    "none": (header({}), f"{OTHER}: 'center' is missing"),
    "a shape": (with_tensors(score_weight=torch.zeros(1, 5, 1)), r"score_weight has the shape \(1, 5, 1\)"),
    "transposed": (with_tensors(score_weight=torch.zeros(1, 1, 4)), r"has \(1, 4, 1\)"),
    "flat": (with_tensors(hidden0_weight=torch.zeros(16)), r"hidden0_weight has the shape \(16,\)"),
    "two models": (with_tensors(score_weight=torch.zeros(2, 4, 1)), "score_weight"),
    "a feature more": (with_tensors(center=torch.zeros(5)), "center"),
    **{
        str(dtype): (with_tensors(score_weight=torch.zeros(1, 4, 1, dtype=dtype)), f"score_weight has .* {dtype}")
        for dtype in (
            torch.float64,
            torch.float16,
            torch.bfloat16,
            torch.int32,
            torch.int64,
            torch.uint8,
            torch.bool,
            torch.complex64,
            torch.float8_e4m3fn,
        )
    },
    "nan": (with_tensors(score_weight=torch.full((1, 4, 1), NAN)), "score_weight holds a number that is not finite"),
    "one inf": (with_tensors(scale=torch.tensor([1, 1, 1, INF])), "scale holds a number that is not finite"),
    "-inf": (with_tensors(center=torch.full((4,), -INF)), "center holds a number that is not finite"),
    "a header longer than the file": (header({}, length=10**12), NONE),
    "a header of 2⁶⁴ bytes": (header({}, length=2**64 - 1), NONE),
    "no header": (lambda _: b"\0" * 8, NONE),
    "three bytes": (lambda _: b"abc", NONE),
    "cut": (lambda content: content[:-1], NONE),
    "longer": (lambda content: content + b"\0" * 4, NONE),
    "a tensor of 4 TB": (header({"center": entry("F32", [2**40], 2**42)}, 100), NONE),
    "a shape that overflows": (header({"center": entry("F32", [2**32, 2**32, 2**32], 0)}), NONE),
    "no number in 2⁶² rows": (header({"center": entry("F32", [0, 2**62], 0)}), OTHER),
    "offsets that go back": (header({"center": entry("F32", [4], 0, 16)}, 16), NONE),
    "one place for two": (header({name: entry("F32", [1], 4) for name in ("center", "scale")}, 4), NONE),
    "a hole": (header({"center": entry("F32", [1], 12, 8)}, 12), NONE),
    "a type of half bytes": (header({"center": entry("F4", [4], 2)}, 2), NONE),
    "a type that is none": (header({"center": entry("OBJECT", [4], 16)}, 16), NONE),
    "a header that is a list": (header([1]), NONE),
    "a deep header": (header(b"[" * 1000), NONE),
    "names that are no UTF-8": (header(b'{"\xff": 1}'), NONE),
    "a pickle": (lambda _: pickle.dumps(Bomb()), NONE),
    "a file of PyTorch": (lambda _: torch_file(Bomb()), NONE),
    "300,000 tensors": (header({f"t{n}": entry("F32", [0], 0) for n in range(300_000)}), OTHER_FILE),
    "a header of 100 kB": (header(b"[" * 100_000), OTHER_FILE),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_parameters_of_another_network(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    change, words = CONTENTS[name]
    put(folder, change((folder / MODEL).read_bytes()))
    monkeypatch.setattr(saved_network, "Network", lambda *_: pytest.fail("memory was taken for the network"))
    with pytest.raises(DataError, match=words) as caught:
        load_ranker(folder)
    assert str(caught.value).startswith(f"{folder / MODEL}: is not ")


def test_a_large_file_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (folder / MODEL).open("r+b") as file:
        file.truncate(100 << 30)  # a hole: it takes no room
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    with pytest.raises(DataError, match=OTHER_FILE):
        sf.NeuralRanker.load(folder)


def test_every_byte_of_the_parameters_counts(folder: Path) -> None:
    content = (folder / MODEL).read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        (folder / MODEL).write_bytes(bytes(changed))
        with pytest.raises(DataError, match=OTHER_FILE):
            sf.NeuralRanker.load(folder)
    for shorter in (b"", content[:-1], content + b"x"):
        (folder / MODEL).write_bytes(shorter)
        with pytest.raises(DataError):
            sf.NeuralRanker.load(folder)


def test_bytes_of_the_details_are_refused_or_data(folder: Path) -> None:
    content = (folder / DETAILS).read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.choice(len(content), 300, replace=False):
        changed = bytearray(content)
        changed[place] = rng.integers(256)
        (folder / DETAILS).write_bytes(bytes(changed))
        try:
            model = load_ranker(folder)
        except SurefootError:
            continue
        assert isinstance(model, sf.NeuralRanker)
        assert len(model.predict(DATA)) == len(DATA)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda details: details["fitted"].update(n_features_in_=5, feature_names_in_=list("abcde")),
            "another network",
        ),
        (lambda details: details["parameters"].update(hidden=[5]), "another network"),
        (lambda details: details["parameters"].update(n_models=2), "another number of epochs"),
        (lambda details: details["parameters"].update(trees=2), "parameters that no ranker has"),
        (lambda details: details["parameters"].update(dropout="much"), "parameters that no ranker has"),
        (lambda details: details["fitted"].update(best_iterations_=[0]), "number of epochs"),
        (lambda details: details["fitted"].pop("history_"), "does not have history_"),
        (lambda details: details.update(schema="surefoot/neural-ranker/2"), "this version reads"),
    ],
)
def test_details_of_another_model(folder: Path, change: Callable[[dict[str, Any]], Any], words: str) -> None:
    change_details(folder, change)
    with pytest.raises(DataError, match=words):
        sf.NeuralRanker.load(folder)


def test_trees_and_networks_replace_each_other(folder: Path) -> None:
    pytest.importorskip("lightgbm")
    network = load_ranker(folder)
    sf.Ranker(n_estimators=2, num_leaves=2, num_threads=1, min_data_in_leaf=2).fit(DATA).save(folder)
    assert isinstance(load_ranker(folder), sf.Ranker)
    network.save(folder)
    assert isinstance(load_ranker(folder), sf.NeuralRanker)
    assert sorted(path.name for path in folder.iterdir()) == [MODEL, DETAILS]
    with pytest.raises(DataError, match="schema"):
        sf.Ranker.load(folder)


SIZES: list[dict[str, Any]] = [
    {"hidden": [10**9]}, {"hidden": [16384, 16384]}, {"hidden": [16384] * 64}, {"hidden": [4] * 10**5},
    {"hidden": [2**63]}, {"hidden": 10**9}, {"attention": 64, "hidden": [16384]}, {"attention": 10**9},
    {"n_models": 1000, "hidden": [16384, 4096]}, {"n_models": 10**9}, {"hidden": [0]}, {"hidden": [-4]}, {"hidden": []},
    {"hidden": [4.0]}, {"hidden": ["4"]}, {"hidden": [True]}, {"hidden": [[4]]}, {"hidden": None}, {"hidden": {"4": 4}},
]  # fmt: skip


@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: str(sizes)[:40])
def test_sizes_that_no_network_has(folder: Path, monkeypatch: pytest.MonkeyPatch, sizes: dict[str, Any]) -> None:
    def change(details: dict[str, Any]) -> None:
        details["parameters"].update(sizes)
        details["fitted"]["best_iterations_"] = [1] * min(sizes.get("n_models", 1), 1000)

    change_details(folder, change)
    monkeypatch.setattr(saved_network, "Network", lambda *_: pytest.fail("memory was taken for the network"))
    with pytest.raises(DataError) as caught:
        load_ranker(folder)
    assert str(caught.value).startswith(f"{folder / DETAILS}: ")


@pytest.mark.parametrize("features", [2**31 - 1, 2**63, 0, -1, 4.0, "4", None, True])
def test_numbers_of_features_that_the_names_do_not_have(folder: Path, features: Any) -> None:
    change_details(folder, lambda details: details["fitted"].update(n_features_in_=features))
    with pytest.raises(DataError, match=DETAILS):
        load_ranker(folder)


@pytest.mark.parametrize("attention", [0, 2])
def test_a_network_has_as_many_parameters_as_its_shape_says(attention: int) -> None:
    shape = NetworkShape(7, (8, 12), attention, models=3)
    network = Network(shape)
    assert {name: tuple(each.shape) for name, each in network.state_dict().items()} == tensor_shapes(shape)
    assert shape.parameters == sum(each.numel() for each in network.state_dict().values())


def test_what_could_not_be_loaded_is_not_trained() -> None:
    with pytest.raises(ArgumentError, match=r"268,550,152 parameters .* at most 67,108,864 are possible"):
        sf.NeuralRanker(hidden=(16384, 16384), device="cpu").fit(DATA)
    assert NetworkShape(2**24 - 1, (2,)).parameters == 2**26
    with pytest.raises(ArgumentError, match="67,108,868 parameters"):
        NetworkShape(2**24, (2,))


@pytest.mark.parametrize(
    "device",
    ["meta", "hpu", "privateuseone", "xla", "fpga", "mkldnn", "lazy", "cpu\0", "cuda:99999", "os", "", -1, 10**30, None,
     [], {}, 1.5],
)  # fmt: skip
def test_devices_that_are_none(folder: Path, device: Any) -> None:
    """For some names PyTorch would load a module, and `meta` has no numbers."""
    change_details(folder, lambda details: details["parameters"].update(device=device))
    with pytest.raises(DataError, match=r"ranker\.json: .*device is"):
        load_ranker(folder)


STRANGE = [
    None, True, -1, 10**400, 1e308, "x", "5", "\udcff", "", [], [[]], {}, {"a": 1}, ["x"], [1, 2], "nDCG@1e9",
    "__import__('os').system('true')", "../../x", "x" * 10**5, 2**63,
]  # fmt: skip


@pytest.mark.parametrize("part", ["parameters", "fitted", "model"])
def test_strange_values_are_refused_or_data(folder: Path, part: str) -> None:
    original = (folder / DETAILS).read_text()
    keys = json.loads(original)[part]
    for key in keys:
        for value in STRANGE:
            (folder / DETAILS).write_text(original)
            change_details(folder, lambda details, key=key, value=value: details[part].update({key: value}))
            try:
                model = load_ranker(folder)
                assert len(model.predict(DATA)) == len(DATA)
            except SurefootError as error:
                assert str(error).startswith(f"{folder}"), (key, value)  # noqa: PT017


def test_a_saved_network_names_no_file_to_write_to(folder: Path, tmp_path: Path) -> None:
    change_details(folder, lambda details: details["parameters"].update(checkpoint=str(tmp_path / "written.json")))
    with pytest.raises(DataError, match="names a checkpoint"):
        load_ranker(folder)


def test_scores_that_are_not_finite_are_refused(folder: Path) -> None:
    huge = torch.full((1, 4, 4), 3e38)
    put(folder, with_tensors(hidden0_weight=huge, score_weight=huge[:, :, :1].clone())((folder / MODEL).read_bytes()))
    with pytest.raises(ArgumentError, match="a score that is not finite"):
        load_ranker(folder).predict(DATA)


def test_only_the_one_file_of_parameters_is_ever_read(folder: Path) -> None:
    for name in ("model.pt", "pytorch_model.bin", "model.pkl", "model.txt"):
        (folder / name).write_bytes(pickle.dumps(Bomb()))
    load_ranker(folder)
    (folder / MODEL).unlink()
    with pytest.raises(DataError, match=r"model\.safetensors: cannot be read"):
        load_ranker(folder)


@pytest.mark.parametrize("name", [MODEL, DETAILS])
def test_a_pipe_is_not_waited_for(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(DataError, match=name):
        load_ranker(folder)


def test_the_commands_end_with_2_and_the_file(
    surefoot: Callable[[str], Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    DATA.write(folder.parent / "test.txt")
    put(folder, CONTENTS["nan"][0]((folder / MODEL).read_bytes()))
    for command in (
        "rank model test.txt -o a.run",
        "export model --to onnx --missing zero -o a",
        "explain model test.txt 1",
        "guard model --fit-scorer test.txt --calibrate test.txt -b x=feature:1 --risk 0.5 -o safe",
    ):
        code, _, err = surefoot(command)
        assert (code, err.count("\n")) == (2, 1), err
        assert "model/model.safetensors: is not this ranker's network" in err
    assert sorted(path.name for path in folder.parent.iterdir()) == ["model", "test.txt"]


STATES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no moment": lambda tensors: tensors.pop("exp_avg.score_weight"),
    "a moment's shape": lambda tensors: tensors.update({"exp_avg.score_weight": torch.zeros(1, 5, 1)}),
    "a moment's type": lambda tensors: tensors.update({"exp_avg_sq.score_weight": torch.zeros(1, 4, 1).double()}),
    "a moment that is no number": lambda tensors: tensors.update({"exp_avg.score_weight": torch.full((1, 4, 1), NAN)}),
    "a step of several": lambda tensors: tensors.update({"step.score_weight": torch.zeros(3)}),
    "the best": lambda tensors: tensors.update({"best.score_weight": torch.zeros(2)}),
    "a sum less": lambda tensors: tensors.pop("sums.sums.last_epoch"),
    "a sum more": lambda tensors: tensors.update({"sums.forward": torch.zeros(1, 5)}),
    "sums' shape": lambda tensors: tensors.update({"sums.sums.last_epoch": torch.zeros(1, 3)}),
    "sums that are no numbers": lambda tensors: tensors.update({"sums.sums.this_epoch": torch.full((1, 5), NAN)}),
}


@pytest.mark.parametrize("name", STATES)
def test_a_training_goes_on_from_its_own_state_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = tmp_path / "state.json"

    def train() -> sf.NeuralRanker:
        options = {"epochs": 2, "hidden": (4,), "sums": "running", "checkpoint": file, "checkpoint_every": 1}
        return sf.NeuralRanker("saro", 5, device="cpu", **options).fit(DATA)

    dump, changed = saved_network.dump, STATES[name]

    def dumped(tensors: Mapping[str, torch.Tensor]) -> bytes:
        made = dict(tensors)
        changed(made)
        return dump(made)

    with monkeypatch.context() as patch:
        patch.setattr("surefoot.neural.saved_network.dump", dumped)
        train()
    with pytest.raises(DataError, match=r"state\.json"):
        train()
    file.unlink()
    assert train().best_iterations_ == [2]
