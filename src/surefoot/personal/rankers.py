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
from surefoot.data.writing.resumable import read_arrays, save_arrays
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.measured_queries import EVALUATION_PARTS
from surefoot.learn.ranker import Ranker
from surefoot.personal.lists import ShownLists
from surefoot.personal.methods import MethodSetting, TrainingData
from surefoot.progress import steps

MODELS_FOLDER = "models"
_AGAIN = "remove its folder, and run the command again"


class StudyRankers:
    """The rankers of a study, in a folder; what is there is not trained again."""

    def __init__(self, folder: Path, lists: dict[str, ShownLists], measure: str, ranker: dict[str, Any]) -> None:
        self.folder, self._lists, self._measure, self._ranker = folder / MODELS_FOLDER, lists, measure, ranker
        self._data: TrainingData | None = None
        self._digest = [data_hash(part.data) for part in lists.values()]

    def model_folder(self, setting: MethodSetting) -> Path:
        """Where a setting's ranker is; what changes no tree does not count."""
        engine = engine_of()
        ranker = {name: value for name, value in self._ranker.items() if name not in engine.without_effect}
        return self.folder / setting.key(__version__, engine.name, engine.version, self._digest, self._measure, ranker)

    def run(self, settings: list[MethodSetting], doing: str) -> list[dict[str, Floats]]:
        """Scores of validation and test results by each setting's ranker."""
        return [self._scores(setting) for setting in steps(settings, doing)]

    def _scores(self, setting: MethodSetting) -> dict[str, Floats]:
        folder_path = self.model_folder(setting)
        if not folder_path.exists():
            ranker = Ranker(**setting.objective(self._measure), **self._ranker).fit(self._training_data(setting))
            self.folder.mkdir(parents=True, exist_ok=True)
            with new_folder(folder_path) as folder:
                ranker.save(folder)
                write_text(folder / "setting.json", json.dumps(asdict(setting)), durable=True)
                scores = {part: ranker.predict(self._lists[part].data) for part in EVALUATION_PARTS}
                save_arrays(folder / "scores.npz", scores)
        arrays = read_arrays(folder_path / "scores.npz", _AGAIN)
        return {part: np.asarray(arrays[part], dtype=np.float64) for part in EVALUATION_PARTS}

    def _training_data(self, setting: MethodSetting) -> Any:
        if self._data is None:
            self._data = TrainingData(self._lists["train"].data, self._lists["valid"].data)
        return self._data.for_setting(setting)
