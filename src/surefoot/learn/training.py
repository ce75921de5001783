"""One training: its objective and criterion, its history so far, when to stop, how to go on after a kill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from surefoot.arrays import Float32s, Floats
from surefoot.data.hashes import data_hash
from surefoot.data.types.ranking import TieRule
from surefoot.errors import ArgumentError
from surefoot.learn.checkpoints import Checkpoint, training_origin
from surefoot.learn.criteria import history_figures
from surefoot.learn.engines.contract import BinnedData, Booster, Engine
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.prepared_data import MonitoredSet, PreparedData
from surefoot.learn.reduce import Reduce, local_sums
from surefoot.learn.settings import SEEDS, TrainingSettings

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

History: TypeAlias = dict[str, dict[str, list[float]]]
Progress: TypeAlias = Callable[[int, History], None]

SAMPLED = 20_000  # documents whose scores are a sample of the model's


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """What a training comes to, here or on other machines; `state` is what `Training.state_dict` gives."""

    engine: str
    booster: Booster
    feature_names: list[str]
    baselines: list[str]
    state: dict[str, Any]
    tie_rule: TieRule
    score_sample: list[float]
    training_queries: str  # hashes by which the queries are recognised
    checkpoint: Checkpoint | None


class Training:
    """A run of `Ranker.fit`: on all of the data, or on one machine's part of it, with sums over all machines."""

    def __init__(
        self,
        ranker: Ranker,
        engine: Engine,
        data: PreparedData,
        progress: Progress | None = None,
        reduce: Reduce = local_sums,
    ) -> None:
        train, valid = data.train, data.valid
        self.engine = engine
        self.settings = settings = TrainingSettings.from_ranker(ranker)
        self._parameters = engine.check(ranker.engine_parameters, train.n_features)
        self._changes_trees = self._parameters.changes_trees is not None
        self._reduce = reduce
        self._validated = self._on_any_machine(valid is not None)
        settings.check_data(train, self._validated, self._parameters.changes_trees)
        self.checkpoint = None
        if settings.checkpoint is not None:
            hashes = data_hash(train), None if valid is None else data_hash(valid)
            self.checkpoint = Checkpoint.at(
                settings.checkpoint, training_origin(engine, ranker.get_params(), *hashes), engine
            )
        self.ranker = ranker
        self.progress = progress
        self.criterion = settings.criterion
        self.seed = settings.seed
        self.train, self.valid = data.monitored(settings.measure, self._parameters.threads, ranker.init)
        self.lambdas = Lambdas(
            settings.objective,
            self.train.measured,
            self.train.baselines,
            sigma=settings.sigma,
            all_ranks=ranker.delta_cutoff is None,
            reduce=reduce,
        )
        first, _ = self.lambdas.peek(self.train.with_start(np.zeros(len(train))))
        if not self._on_any_machine(bool(first.any())):
            raise ArgumentError(
                "nothing to learn: no two documents of a query have labels that the measure tells apart"
            )
        self.history: History = {"train": {}, "valid": {}}
        self.best_iteration = 0
        self.best_score: float | None = None
        self.stopped = False
        self._last_score: float | None = None
        self._data, self._X = data, train.X

    def run(self) -> Booster:
        """Grow the trees, in batches that end where a checkpoint is kept."""
        trees, booster = self.settings.trees, None
        resumed = None if self.checkpoint is None else self.checkpoint.read(trees)
        if resumed is not None:
            booster = resumed[0]
            self.restore(resumed[1])
        every = trees if self.checkpoint is None else self.settings.checkpoint_every
        grown = 0 if booster is None else self.engine.count_trees(booster)
        while grown < trees and not self.stopped:
            until = next_batch_end(grown, every, trees)
            booster, grown = self.grow(booster, grown, until)
            if grown < until:
                break  # no leaf left to split, or stopped early
            if self.checkpoint is not None and grown < trees and not self.stopped:
                self.checkpoint.write(booster, self.state_dict())
        self.finish(booster, grown)
        return booster

    def grow(self, booster: Booster | None, grown: int, until: int) -> tuple[Booster, int]:
        """Grow from `grown` to `until` trees, or fewer: the booster, and how many it has."""
        # A seed for each batch, so that going on from a checkpoint draws what an undisturbed run draws.
        seed = (self.seed + grown) % SEEDS
        booster = self._bins.grow(until - grown, self._parameters, self._gradients, self._after_tree, booster, seed)
        return booster, self.engine.count_trees(booster)

    def finish(self, booster: Booster, grown: int) -> None:
        """Complete the history, and say which tree is the best."""
        if self.ranker.history and len(self.history["train"].get("effectiveness", [])) < grown:
            self._append_history("train", self.train.values(self.engine.predict(booster, self._X)), self.train)
        if self.settings.patience is None:
            self.best_iteration, self.best_score = grown, self._last_score

    def sample_scores(self, booster: Booster, documents: int = SAMPLED) -> Floats:
        """The model's scores of some training documents, evenly spaced."""
        rows = np.unique(np.linspace(0, len(self._X) - 1, documents).astype(np.int64))
        return self.train.with_start(self.engine.predict(booster, self._X[rows], self.best_iteration), rows)

    @property
    def fingerprints(self) -> str:
        """Hashes by which the queries that it learns from are recognised."""
        return self._data.fingerprints

    def state_dict(self) -> dict[str, Any]:
        """Everything beside the booster that a training needs to go on later, as JSON can hold it."""
        return {
            "history": self.history,
            "best_iteration": self.best_iteration,
            "best_score": self.best_score,
            "last_score": self._last_score,
            "iteration": self.lambdas.iteration,
            "s_x": self.lambdas.s_x,
            "seed": self.seed,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Everything but the booster as it was then."""
        self.history = state["history"]
        self.best_iteration, self.best_score = state["best_iteration"], state["best_score"]
        self._last_score, self.seed = state["last_score"], state["seed"]
        self.lambdas.iteration, self.lambdas.s_x = state["iteration"], state["s_x"]

    @cached_property
    def _bins(self) -> BinnedData:
        """Made when the first tree is grown: what is wrong with a checkpoint shows before."""
        return self._data.bins(self.engine, self._parameters, self.seed, validated=self._validated)

    def _gradients(self, scores: Floats) -> tuple[Float32s, Float32s]:
        gradient, hessian = self.lambdas(self.train.with_start(scores))
        if self.ranker.history and self.lambdas.iteration > 1 and not self._changes_trees:
            self._append_history("train", self.lambdas.values, self.train)  # what the trees before this one reach
        return gradient, hessian

    def _after_tree(self, grown: int, others: Sequence[Floats]) -> bool:
        if self._changes_trees and self.ranker.history:
            self._append_history("train", self.train.values(others[0]), self.train)
        if self._validated:
            values = np.zeros(0) if self.valid is None else self.valid.values(others[-1])
            if self.ranker.history:
                self._append_history("valid", values, self.valid)
            score = self._last_score = self.criterion(values, self._baselines(self.valid), self._reduce)
            if self.best_score is None or score > self.best_score:
                self.best_score, self.best_iteration = score, grown
            patience = self.settings.patience
            self.stopped = patience is not None and grown - self.best_iteration >= patience
        if self.progress:
            self.progress(grown, self.history)
        return self.stopped

    def _append_history(self, which: str, values: Floats, monitored: MonitoredSet | None) -> None:
        for name, value in history_figures(values, self._baselines(monitored), self._reduce).items():
            self.history[which].setdefault(name, []).append(value)

    def _baselines(self, monitored: MonitoredSet | None) -> Floats | None:
        """The baselines' M(q); of no queries where this machine has none of that kind."""
        if monitored is not None or self.train.baselines is None:
            return None if monitored is None else monitored.baselines
        return np.zeros((len(self.train.baselines), 0))

    def _on_any_machine(self, here: bool) -> bool:
        """Whether something is so on any of the machines."""
        return bool(self._reduce(np.array([float(here)]))[0])


def next_batch_end(grown: int, every: int, trees: int) -> int:
    """How many trees there are when the next batch is grown; batches end at multiples of `every`."""
    return min(grown - grown % every + every, trees)


def score_sample(scores: Floats, size: int = 2001) -> list[float]:
    """Evenly spaced quantiles of scores that a model gives documents: its scores in little room."""
    if not np.isfinite(scores).all():
        raise ArgumentError(
            "the trees give scores that are not finite; lower learning_rate or raise lambda_l2 (XGBoost: reg_lambda)"
        )
    return [float(value) for value in np.quantile(scores, np.linspace(0, 1, min(size, len(scores))))]
