"""One training: its objective and criterion, its history so far, when to stop, how to go on after a kill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from surefoot.arrays import Float32s, Floats
from surefoot.data.hashes import data_hash, joined_fingerprints
from surefoot.data.reading.matrix import Categories
from surefoot.data.types.ranking import TieRule
from surefoot.errors import ArgumentError
from surefoot.learn.checkpoints import Checkpoint, CheckpointFile, InitModel, training_origin
from surefoot.learn.criteria import history_figures
from surefoot.learn.engines.contract import BinnedData, Booster, Engine
from surefoot.learn.estimator import SAMPLE_DOCUMENTS, sampled_rows, score_sample
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.prepared_data import MonitoredSet, PreparedData, checked_parameters
from surefoot.learn.settings import SEED_COUNT, TrainingSettings
from surefoot.learn.training_weights import Reduce, local_sums, weighted_sets, weights_that_count

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

History: TypeAlias = dict[str, dict[str, list[float]]]
Progress: TypeAlias = Callable[[int, History], None]


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
    training_fingerprints: str | None  # hashes by which the queries are recognised, where all are known
    categories: Categories = field(default_factory=dict)  # what the codes of features mean that are categories
    checkpoints: tuple[CheckpointFile, ...] = ()
    models: list[dict[str, Any]] = field(default_factory=list)  # those that a mean is the mean of
    weights: dict[str, Any] | None = None  # how queries counted, where they did not count the same


class Training:
    """A run of `Ranker.fit`: on all of the data, or on one machine's part of it, with sums over all machines.

    Models of one mean share their bins, which are drawn with `bins_seed`. Each is kept in its checkpoint once it is
    finished (`keeps_finished`), so that a fit that is killed later does not grow it again. `init_model` has trees of an
    earlier training, which come first.
    """

    def __init__(
        self,
        ranker: Ranker,
        engine: Engine,
        data: PreparedData,
        progress: Progress | None = None,
        reduce: Reduce = local_sums,
        *,
        bins_seed: int | None = None,
        keeps_finished: bool = False,
        init_model: InitModel | None = None,
    ) -> None:
        train, valid = data.train, data.valid
        self.engine = engine
        self.settings = settings = TrainingSettings.from_ranker(ranker)
        self._parameters = checked_parameters(engine, ranker.engine_parameters, data)
        self._changes_trees = self._parameters.changes_trees is not None
        self._reduce = reduce
        self._has_validation = self._on_any_machine(valid is not None)
        self.weights, self._valid_weights = weighted_sets(
            [train._weighting, None if valid is None else valid._weighting], reduce
        )
        weighted = [each.relative is not None for each in (self.weights, self._valid_weights)]
        settings.check_data(train, self._has_validation, self._parameters.changes_trees, weighted)
        if init_model is not None and self._changes_trees:
            raise ArgumentError(
                f"{self._parameters.changes_trees} changes earlier trees, so training cannot continue from init_model"
            )
        if init_model is not None:
            self._parameters = replace(self._parameters, unbinned=True)
        self._init_model = init_model
        self.trees_before = 0 if init_model is None else init_model.trees
        self._trees = self.trees_before + settings.trees
        self.checkpoint = None
        if settings.checkpoint is not None:
            hashes = data_hash(train), None if valid is None else data_hash(valid)
            self.checkpoint = Checkpoint.at(
                settings.checkpoint,
                training_origin(
                    engine, ranker.get_params(), *hashes, None if init_model is None else init_model.sha256
                ),
                engine,
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
            places=self.train.baseline_places() if settings.objective.kind.optional_alpha else None,
            weights=self.weights.relative,
        )
        first, _ = self.lambdas.peek(self.train.with_init_scores(np.zeros(len(train))))
        if not self._on_any_machine(bool(first.any())):
            raise ArgumentError("there is nothing to learn: in every query, the labels of all documents count the same")
        self.history: History = {"train": {}, "valid": {}}
        self.best_iteration = 0
        self.best_score: float | None = None
        self.stopped = False
        self._last_score: float | None = None
        self.data, self._X = data, train.X
        self._bins_seed = bins_seed
        self._scores: Floats | None = None  # of the training documents, by all trees
        self._keeps_finished = keeps_finished

    def run(self) -> Booster:
        """Grow the trees, in batches that end where a checkpoint is kept."""
        trees, booster = self._trees, None if self._init_model is None else self._init_model.booster
        resumed = None if self.checkpoint is None else self.checkpoint.read(trees, self.trees_before)
        if resumed is not None:
            booster = resumed[0]
            self.restore(resumed[1])
            if resumed[1].get("finished"):
                return booster
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
        if self._keeps_finished and self.checkpoint is not None:
            self.checkpoint.write(booster, self.state_dict() | {"finished": True})
        return booster

    def grow(self, booster: Booster | None, grown: int, until: int) -> tuple[Booster, int]:
        """Grow from `grown` to `until` trees, or fewer: the booster, and how many it has."""
        # A seed for each batch, so that going on from a checkpoint draws what an undisturbed run draws.
        seed = (self.seed + grown) % SEED_COUNT
        self._scores = None
        booster = self._bins.grow(
            until - grown, self._parameters, self._gradients, self._after_tree, booster, seed, self._keep_scores
        )
        return booster, self.engine.count_trees(booster)

    def finish(self, booster: Booster, grown: int) -> None:
        """Complete the history, and say which tree is the best."""
        if self.ranker.history and len(self.history["train"].get("effectiveness", [])) < grown - self.trees_before:
            self._append_history("train", self.train.values(self._final_scores(booster)), self.train)
        if self.settings.patience is None:
            self.best_iteration, self.best_score = grown, self._last_score

    def sample_scores(self, booster: Booster, documents: int = SAMPLE_DOCUMENTS, trees: int | None = None) -> Floats:
        """The model's scores of some training documents, evenly spaced: by so many trees, or those up to the best."""
        rows = sampled_rows(len(self._X), documents)
        if trees is None and self._scores is not None and self.best_iteration == self.engine.count_trees(booster):
            return self.train.with_init_scores(self._scores[rows], rows)
        return self.train.with_init_scores(
            self.engine.predict(booster, self._X[rows], trees or self.best_iteration), rows
        )

    def _final_scores(self, booster: Booster) -> Floats:
        """The training documents' scores by all trees: as the engine has them, predicted where it has none."""
        return self.engine.predict(booster, self._X) if self._scores is None else self._scores

    def _keep_scores(self, scores: Floats) -> None:
        self._scores = scores

    def validate(self, booster: Booster) -> float | None:
        """The criterion of all trees of a booster on the validation data; None where there is none."""
        if self.valid is None or self.data.valid is None:
            return None
        values = self.valid.values(self.engine.predict(booster, self.data.valid.X))
        return self._judge(values)

    def _judge(self, values: Floats) -> float:
        """The criterion of M(q) of this machine's validation queries, over all machines."""
        return self.criterion(values, self._baselines(self.valid), self._reduce, self._valid_weights.relative)

    @property
    def fingerprints(self) -> str | None:
        """Hashes by which the queries that it learns from are recognised, also those of the trees it starts with."""
        if self._init_model is None:
            return self.data.fingerprints
        earlier = self._init_model.training_fingerprints
        return None if earlier is None else joined_fingerprints([earlier, self.data.fingerprints])

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
            "trees_before": self.trees_before,
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
        seed = self.seed if self._bins_seed is None else self._bins_seed
        return self.data.bins(self.engine, self._parameters, seed, has_validation=self._has_validation)

    def _gradients(self, scores: Floats) -> tuple[Float32s, Float32s]:
        gradient, hessian = self.lambdas(self.train.with_init_scores(scores))
        if self.ranker.history and self.lambdas.iteration > 1 and not self._changes_trees:
            self._append_history("train", self.lambdas.values, self.train)  # what the trees before this one reach
        return gradient, hessian

    def _after_tree(self, grown: int, others: Sequence[Floats]) -> bool:
        if self._changes_trees and self.ranker.history:
            self._append_history("train", self.train.values(others[0]), self.train)
        if self._has_validation:
            values = np.zeros(0) if self.valid is None else self.valid.values(others[-1])
            if self.ranker.history:
                self._append_history("valid", values, self.valid)
            score = self._last_score = self._judge(values)
            if self.best_score is None or score > self.best_score:
                self.best_score, self.best_iteration = score, grown
            patience = self.settings.patience
            self.stopped = patience is not None and grown - self.best_iteration >= patience
        if self.progress:
            self.progress(grown, self.history)
        return self.stopped

    def _append_history(self, which: str, values: Floats, monitored: MonitoredSet | None) -> None:
        weights = (self.weights if which == "train" else self._valid_weights).relative
        for name, value in history_figures(values, self._baselines(monitored), self._reduce, weights).items():
            self.history[which].setdefault(name, []).append(value)

    def _baselines(self, monitored: MonitoredSet | None) -> Floats | None:
        """The baselines' M(q); of no queries where this machine has none of that kind."""
        if monitored is not None or self.train.baselines is None:
            return None if monitored is None else monitored.baselines
        return np.zeros((len(self.train.baselines), 0))

    def _on_any_machine(self, here: bool) -> bool:
        """Whether something is so on any of the machines."""
        return bool(self._reduce(np.array([float(here)]))[0])


def train(training: Training) -> TrainingResult:
    """Run a training on this machine."""
    booster, data = training.run(), training.data
    return TrainingResult(
        engine=training.engine.name,
        booster=booster,
        feature_names=data.names,
        baselines=list(data.train.baselines),
        categories=dict(data.train.categories),
        state=training.state_dict(),
        tie_rule=training.train.tie_rule,
        score_sample=score_sample(training.sample_scores(booster)),
        training_fingerprints=training.fingerprints,
        checkpoints=() if training.checkpoint is None else (training.checkpoint,),
        weights=weights_that_count(training.weights.summary()),
    )


def next_batch_end(grown: int, every: int, trees: int) -> int:
    """How many trees there are when the next batch is grown; batches end at multiples of `every`."""
    return min(grown - grown % every + every, trees)
