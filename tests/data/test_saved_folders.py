"""A folder of another kind than the one that is wanted is named for what it is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.choose.options import PLAN_FILE
from surefoot.choose.store import SweepStore
from surefoot.data.reading.folders import KINDS, describing_file
from surefoot.decide.guard.file_names import GUARD
from surefoot.errors import DataError
from surefoot.learn.model_files import DETAILS_FILE_NAME
from surefoot.neural.loading import load_ranker
from surefoot.personal.options import DETAILS, RESULT

LOADERS: dict[str, Callable[[Path], Any]] = {
    DETAILS_FILE_NAME: load_ranker,
    GUARD: sf.RiskGuard.load,
    DETAILS: sf.PersonalRanker.load,
    PLAN_FILE: SweepStore.read,
}


def test_each_kind_is_known_by_the_file_that_it_has() -> None:
    assert set(KINDS) == {*LOADERS, RESULT, "config.json"}


@pytest.mark.parametrize("wanted", LOADERS)
@pytest.mark.parametrize("kind", KINDS)
def test_another_folder_is_named(tmp_path: Path, wanted: str, kind: str) -> None:
    (tmp_path / kind).write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(DataError) as caught:
        LOADERS[wanted](tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / wanted}: ")
    if kind != wanted:
        assert KINDS[kind] in str(caught.value)


def test_a_personal_ranker_is_not_named_for_the_ranker_in_it(tmp_path: Path) -> None:
    for name in (DETAILS_FILE_NAME, DETAILS):
        (tmp_path / name).write_text("{}")
    with pytest.raises(DataError, match="the folder of a personal ranker"):
        sf.RiskGuard.load(tmp_path)


def test_nothing_there_says_what_to_give(tmp_path: Path) -> None:
    for folder, reason in ((tmp_path, "there is no such file"), (tmp_path / "none", "is not a folder")):
        with pytest.raises(DataError, match=f"{reason}.*give the right one"):
            describing_file(folder, "x.json", "give the right one")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    for name, load in LOADERS.items():
        os.mkfifo(tmp_path / name)
        with pytest.raises(DataError, match="there is no such file"):
            load(tmp_path)


def test_the_other_kind_of_ranker_is_named(tmp_path: Path) -> None:
    for schema, load in (("surefoot/neural-ranker/1", sf.Ranker.load), ("surefoot/ranker/1", sf.NeuralRanker.load)):
        details = {"schema": schema, "model": {}, "parameters": {}, "fitted": {}}
        (tmp_path / DETAILS_FILE_NAME).write_text(json.dumps(details))
        if load == sf.NeuralRanker.load:
            pytest.importorskip("torch")
        with pytest.raises(DataError, match=rf"has schema '{schema}'; load it with sf\.\w*Ranker\.load"):
            load(tmp_path)


def test_a_saved_ranker_names_no_file_to_write_to(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    data = sf.demo.letor(queries=10, documents=8, features=4, seed=1)
    sf.Ranker(n_estimators=1, num_leaves=2, num_threads=1, min_data_in_leaf=2).fit(data).save(tmp_path)
    details = json.loads((tmp_path / DETAILS_FILE_NAME).read_text())
    details["parameters"]["checkpoint"] = str(tmp_path / "written.json")
    (tmp_path / DETAILS_FILE_NAME).write_text(json.dumps(details))
    with pytest.raises(DataError, match="names a checkpoint"):
        sf.Ranker.load(tmp_path)
