"""What every ranker is, of trees or a network: its parameters, with or without scikit-learn, and what it can do."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.data.reading.matrix import Categories
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.types.runs import Run
from surefoot.errors import ArgumentError, did_you_mean, shortened
from surefoot.learn import saved_ranker
from surefoot.learn.import_learner import brief_waiting
from surefoot.measures.scoring import score as effectiveness

if TYPE_CHECKING:
    from surefoot.learn.checkpoints import CheckpointFile

    class BaseEstimator:
        """Stands for scikit-learn's."""
else:
    try:  # costs no time: LightGBM imports scikit-learn too, where it is installed
        with brief_waiting():  # scikit-learn brings an OpenMP, which XGBoost and others then use
            from sklearn.base import BaseEstimator
    except ImportError:

        class BaseEstimator:
            """Nothing: what learning needs is below."""


SAMPLE_DOCUMENTS = 20_000  # documents whose scores are a sample of the model's
_OTHER_NAMES = {"lr": "learning_rate", "n_estimators": "epochs", "seed": "random_state"}  # in PyTorch and Ranker


class Estimator(BaseEstimator):
    """A ranker; a BaseEstimator where scikit-learn is installed.

    Keyword parameters that are not its own go to its engine, where it `_takes_others`. A learner has `fit` and
    `predict`, says by `_model` which attribute it has once it has learned, and gives and reads its engine's own file
    (`_dump_model`, `_read_model`). Where scikit-learn routes metadata, it hands on query ids, baselines and weights
    unasked.
    """

    engine_parameters: dict[str, Any]
    _takes_others = True
    _model: str
    _schema: str  # of the JSON beside the model
    _learned: tuple[str, ...] = ()  # what is saved beside the model, besides what is saved of every ranker

    checkpoints_: tuple[CheckpointFile, ...] = ()
    training_queries_: str | None = None  # by what the queries of the data are recognised, where it is known
    # What trees may have, and networks have not, is saved of both.
    models_: list[dict[str, Any]] = []  # noqa: RUF012, what a mean is the mean of
    categories_: Categories = {}  # noqa: RUF012, what the codes of features mean that are categories
    combination_: dict[str, Any] | None = None  # how scores and a baseline's become one ranking, where they do
    query_feature_: str | None = None  # the aggregate of a query that is the last feature, where one is
    trees_before_ = 0  # of init_model, whose history is not in history_
    traffic_: dict[str, Any] | None = None  # how queries counted, where they did not count the same
    if TYPE_CHECKING:
        measure: str
        score_sample_: list[float]

        def predict(self, X: Any) -> Floats:
            """A score for each document."""

        def _dump_model(self) -> tuple[str, bytes]:
            """The engine, and its own file."""

        def _read_model(self, home: Path, details: dict[str, Any]) -> None:
            """Take the model that the folder holds, if its details are of such a one."""

    __metadata_request__fit = {"qid": True, "baseline": True, "sample_weight": True}  # noqa: RUF012
    __metadata_request__predict = {"qid": True, "baseline": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True, "baseline": True, "sample_weight": True}  # noqa: RUF012

    @classmethod
    def _own_names(cls) -> list[str]:
        signature = inspect.signature(cls.__init__).parameters
        return [name for name, each in signature.items() if name != "self" and each.kind != each.VAR_KEYWORD]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The estimator's own parameters and the engine's."""
        return {name: getattr(self, name) for name in self._own_names()} | self.engine_parameters

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; a name that is not the estimator's own goes to the engine, or is refused without one."""
        own = self._own_names()
        self._refuse_unknown(parameters)
        for name, value in parameters.items():
            if name in own:
                setattr(self, name, value)
            else:
                self.engine_parameters[name] = value
        return self

    def _refuse_unknown(self, names: Iterable[str]) -> None:
        own = self._own_names()
        for name in () if self._takes_others else names:
            if name not in own:
                hint = did_you_mean(_OTHER_NAMES.get(name, name), own) or "."
                raise ArgumentError(
                    f"{type(self).__name__} has no parameter {shortened(name)}{hint} It has {', '.join(own)}"
                )

    def __repr__(self) -> str:
        """What differs from the defaults."""
        defaults = {name: each.default for name, each in inspect.signature(type(self).__init__).parameters.items()}
        changed = {name: value for name, value in self.get_params().items() if value != defaults.get(name)}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model."""
        return hasattr(self, self._model)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise ArgumentError(f"this {type(self).__name__} has not learned anything yet; call fit first")

    def _effectiveness(self, data: RankingData) -> float:
        """The mean of the measure over the queries of the data."""
        run = data.to_run(self.predict(data), "model")
        return float(effectiveness(data.qrels(), [run], self.measure).mean()[0])

    def to_run(self, data: RankingData, name: str = "model") -> Run:
        """A run of the data's documents, with the sample in which rNDCG and SoftNDCG find percentiles of its scores."""
        return data.to_run(self.predict(data), name).with_score_sample(self.score_sample_)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the model as its engine's own file, which the engine scores with alike, and a JSON beside it.

        A network's is safetensors. A ranker that was saved there before is replaced in one step; other files stay.
        """
        self._check_fitted()
        saved_ranker.save(self, folder)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """A ranker that was saved."""
        return saved_ranker.load(cls, folder)


def sampled_rows(documents: int, count: int = SAMPLE_DOCUMENTS) -> Ints:
    """Some of so many documents, evenly spaced."""
    return np.unique(np.linspace(0, documents - 1, count).astype(np.int64))


def score_sample(scores: Floats, size: int = 2001) -> list[float]:
    """Evenly spaced quantiles of scores that a model gives documents: its scores in little room."""
    if not np.isfinite(scores).all():
        raise ArgumentError(
            "the trees give scores that are not finite; lower learning_rate or raise lambda_l2 (XGBoost: reg_lambda)"
        )
    return [float(value) for value in np.quantile(scores, np.linspace(0, 1, min(size, len(scores))))]
