"""What is trained: the paper's methods with their parameters, each with its own labels and objective; the training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import __version__
from surefoot.arrays import Floats
from surefoot.clicks.labels import lowest_click_plus_one, preference_gains
from surefoot.data.hashes import data_hash
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.writing.all_or_nothing import new_folder, write_text
from surefoot.data.writing.resumable import content_key, read_arrays, save_arrays
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.measured_queries import EVALUATION_PARTS
from surefoot.learn.options import REGRESSION_OBJECTIVE
from surefoot.learn.prepared_data import PreparedData
from surefoot.learn.ranker import Ranker
from surefoot.measures.notation import Measure
from surefoot.personal.lists import ShownLists
from surefoot.personal.options import (
    CHOICE_TITLES,
    HORIZONS,
    LOWEST,
    METHOD_TITLES,
    PREFERENCE_MEASURE,
    RISK,
    SESSION_ONLY,
    STANDARD,
    STANDARD_REGRESSION,
    WEIGHTED,
    WEIGHTED_REGRESSION,
    WEIGHTED_RISK,
)
from surefoot.progress import steps

MODELS_FOLDER = "models"
_AGAIN = "remove its folder, and run the command again"


@dataclass(frozen=True)
class MethodSetting:
    """A method and its parameters: β of the shown order, α of risk; `features` is the one group to learn from."""

    method: str
    beta: float | None = None
    alpha: float | None = None
    features: str | None = None

    @property
    def parameters(self) -> str:
        """The parameters as a table writes them."""
        letters = (("β", self.beta), ("α", self.alpha))
        texts = [f"{letter} = {value:g}" for letter, value in letters if value is not None]
        return ", ".join([*texts, *([f"{self.features} features alone"] if self.features else [])])

    @property
    def name(self) -> str:
        """The method and its parameters."""
        return " ".join(filter(None, (METHOD_TITLES[self.method], self.parameters)))

    def objective(self, measure: str) -> dict[str, Any]:
        """What a Ranker optimises; `measure` is the one that clicks are judged by."""
        if self.beta is not None:
            measure = PREFERENCE_MEASURE
        if self.method in (STANDARD_REGRESSION, WEIGHTED_REGRESSION):
            # Of the measures that clicks are judged by, nDCG alone has gains; to the others a label is its own.
            own = Measure.parse(measure).family == "nDCG"
            return {"measure": measure if own else PREFERENCE_MEASURE, "objective": REGRESSION_OBJECTIVE}
        if self.alpha is not None:
            return {"measure": measure, "objective": "u_risk", "alpha": self.alpha}
        return {"measure": measure, "objective": "gain"}

    def key(self, *more: Any) -> str:
        """A name for the files of a training: the same for trainings that are alike in everything."""
        return content_key([self.method, self.beta, self.alpha, *([self.features] if self.features else []), *more])


def settings(grid: dict[str, Any]) -> list[MethodSetting]:
    """All but risk-sensitive training on preferences, whose β is the one that was chosen."""
    return [
        MethodSetting(STANDARD),
        *(MethodSetting(WEIGHTED, beta=float(beta)) for beta in grid["betas"]),
        *(MethodSetting(RISK, alpha=float(alpha)) for alpha in grid["alphas"]),
        *(MethodSetting(LOWEST, beta=float(beta)) for beta in grid["lowest"]),
        MethodSetting(STANDARD_REGRESSION),
        *(MethodSetting(WEIGHTED_REGRESSION, beta=float(beta)) for beta in grid["betas"]),
    ]


def by_horizon() -> list[MethodSetting]:
    """The standard method without the features of the session, and without those of the user's other sessions."""
    return [MethodSetting(STANDARD, features=group) for group in HORIZONS]


def left_out_features(group: str, names: Sequence[str]) -> list[int]:
    """The columns that a model of one group alone does not see; what everybody did is in both.

    >>> left_out_features("session", ["position", "session_age", "user_lists", "query_lists"])
    [2]
    """
    of_session = ("session_", "last_click_", "previous_query", "term_overlap")
    left_out = ("user_",) if group == SESSION_ONLY else of_session
    return [place for place, name in enumerate(names) if name.startswith(left_out)]


def on_preferences(beta: float, grid: dict[str, Any]) -> list[MethodSetting]:
    """Risk-sensitive training on preference gains."""
    return [MethodSetting(WEIGHTED_RISK, beta=beta, alpha=float(alpha)) for alpha in grid["alphas"]]


def method_names(grid: dict[str, Any]) -> list[str]:
    """Every name that a model of this grid may have: of a method, of a choice, or of a method with its parameters."""
    tried = settings(grid) + [setting for beta in grid["betas"] for setting in on_preferences(float(beta), grid)]
    return list(dict.fromkeys([*METHOD_TITLES.values(), *CHOICE_TITLES, *(setting.name for setting in tried)]))


class TrainingData:
    """What the methods learn from: the same documents and bins with each method's labels."""

    def __init__(self, train: RankingData, valid: RankingData) -> None:
        self._whole = train, valid
        self._all_results = PreparedData(train, valid)
        surely_seen = lowest_click_plus_one(train.y, train.lengths)
        self._down_to_below_lowest_click = PreparedData(_select_rows(train, surely_seen), valid)

    def for_setting(self, setting: MethodSetting) -> PreparedData:
        """The data that a setting learns from."""
        if setting.features is not None:
            return PreparedData(*(_without_group(data, setting.features) for data in self._whole))
        if setting.beta is None:
            return self._all_results
        source = self._down_to_below_lowest_click if setting.method == LOWEST else self._all_results
        strict = setting.method != LOWEST and setting.beta < 1
        assert source.valid is not None  # it was given
        return source.with_labels(
            *(
                preference_gains(data.y, data.lengths, 1.0, setting.beta, strict=strict)
                for data in (source.train, source.valid)
            )
        )


def _without_group(data: RankingData, group: str) -> RankingData:
    """The data with constants in the columns that are left out: no tree splits by them, whatever they hold later."""
    names = data.feature_names or ()
    matrix = data.X.copy()
    matrix[:, left_out_features(group, names)] = 0
    return data.with_features(matrix, names)


def _select_rows(data: RankingData, rows: np.ndarray[Any, np.dtype[np.bool_]]) -> RankingData:
    """Some of the rows; every query keeps at least one."""
    lengths: Floats = np.add.reduceat(rows.astype(np.int64), data.offsets[:-1])
    return RankingData.from_queries(
        np.ascontiguousarray(data.X[rows]), data.y[rows], data.queries, lengths, feature_names=data.feature_names,
        baselines={name: scores[rows] for name, scores in data.baselines.items()},
    )  # fmt: skip


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
