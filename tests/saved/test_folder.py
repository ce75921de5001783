"""`load` opens whatever was saved, and says what any other folder is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.decide.guard.guarded import calibrated, ranker

import surefoot as sf
from surefoot.errors import DataError


def test_a_folder_says_what_it_is(tmp_path: Path) -> None:
    ranker().save(tmp_path / "model")
    assert type(sf.load(tmp_path / "model")) is sf.Ranker
    calibrated().save(tmp_path / "guard")
    loaded = sf.load(tmp_path / "guard")
    assert type(loaded) is sf.RiskGuard
    assert loaded.certificate_.to_dict() == calibrated().certificate_.to_dict()


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (None, "holds nothing that surefoot saved"),
        ("sweep.json", "is the folder of a sweep"),
        ("personalization.json", "is the folder of a study"),
        ("config.json", "library transformers"),
    ],
)
def test_other_folders_are_refused_by_what_they_are(tmp_path: Path, file: str | None, message: str) -> None:
    if file is not None:
        (tmp_path / file).write_text("{}")
    with pytest.raises(DataError, match=message):
        sf.load(tmp_path)
    with pytest.raises(DataError, match="is not a folder"):
        sf.load(tmp_path / "none")
