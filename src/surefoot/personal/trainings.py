"""Rankers trained one after the other on the same bins, each stored with its scores as soon as it is there."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import __version__
from surefoot.arrays import Floats
from surefoot.data.hashes import data_hash
from surefoot.data.writing.all_or_nothing import new_folder, write_text
from surefoot.data.writing.array_files import read_arrays, save_arrays
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.ranker import Ranker
from surefoot.personal.lists import Lists
from surefoot.personal.methods import Material, Setting
from surefoot.progress import steps

HELD = ("valid", "test")  # parts whose scores are kept
MODELS = "models"
_AGAIN = "remove its folder, and run the command again"


class Trainings:
    """The rankers of a study, in a folder; what is there is not trained again."""

    def __init__(self, folder: Path, lists: dict[str, Lists], measure: str, ranker: dict[str, Any]) -> None:
        self.folder, self._lists, self._measure, self._ranker = folder / MODELS, lists, measure, ranker
        self._material: Material | None = None
        self._digest = [data_hash(part.data) for part in lists.values()]

    def place(self, setting: Setting) -> Path:
        """Where a setting's ranker is; what changes no tree does not count."""
        engine = engine_of()
        ranker = {name: value for name, value in self._ranker.items() if name not in engine.idle}
        return self.folder / setting.key(__version__, engine.name, engine.version, self._digest, self._measure, ranker)

    def run(self, settings: list[Setting], doing: str) -> list[dict[str, Floats]]:
        """Scores of validation and test results by each setting's ranker."""
        return [self._scores(setting) for setting in steps(settings, doing)]

    def _scores(self, setting: Setting) -> dict[str, Floats]:
        place = self.place(setting)
        if not place.exists():
            ranker = Ranker(**setting.objective(self._measure), **self._ranker).fit(self._learned_from(setting))
            self.folder.mkdir(parents=True, exist_ok=True)
            with new_folder(place) as folder:
                ranker.save(folder)
                write_text(folder / "setting.json", json.dumps(asdict(setting)), durable=True)
                scores = {part: ranker.predict(self._lists[part].data) for part in HELD}
                save_arrays(folder / "scores.npz", scores)
        found = read_arrays(place / "scores.npz", _AGAIN)
        return {part: np.asarray(found[part], dtype=np.float64) for part in HELD}

    def _learned_from(self, setting: Setting) -> Any:
        if self._material is None:
            self._material = Material(self._lists["train"].data, self._lists["valid"].data)
        return self._material.of(setting)
