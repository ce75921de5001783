"""One training: what is optimised and watched, what was seen so far, when to stop, how to go on after a kill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.hashes import data_hash
from surefoot.errors import ArgumentError
from surefoot.learn.checkpoints import Checkpoint, origin
from surefoot.learn.criteria import figures
from surefoot.learn.engines.contract import Binned, Booster, Engine, Singles
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.prepared import Prepared, Watched
from surefoot.learn.reduce import AddUp, alone
from surefoot.learn.settings import SEEDS, Settings

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

History: TypeAlias = dict[str, dict[str, list[float]]]
Progress: TypeAlias = Callable[[int, History], None]

SAMPLED = 20_000  # documents whose scores are a sample of the model's


class Training:
    """A run of `Ranker.fit`: on all of the data, or on one machine's part of it, with `add_up` over all machines."""

    def __init__(
        self,
        ranker: Ranker,
        engine: Engine,
        data: Prepared,
        progress: Progress | None = None,
        add_up: AddUp = alone,
    ) -> None:
        train, valid = data.train, data.valid
        self.engine = engine
        self.settings = settings = Settings.of(ranker)
        self._parameters = engine.check(ranker.engine_parameters, train.n_features)
        self._changes_trees = self._parameters.changes_trees is not None
        self._add_up = add_up
        self._validated = self._anywhere(valid is not None)
        settings.check_with(train, self._validated, self._parameters.changes_trees)
        self.checkpoint = None
        if settings.checkpoint is not None:
            hashes = data_hash(train), None if valid is None else data_hash(valid)
            self.checkpoint = Checkpoint.at(settings.checkpoint, origin(engine, ranker.get_params(), *hashes), engine)
        self.ranker = ranker
        self.progress = progress
        self.criterion = settings.criterion
        self.seed = settings.seed
        self.train, self.valid = data.watched(settings.measure, self._parameters.threads, ranker.init)
        self.lambdas = Lambdas(
            settings.objective,
            self.train.target,
            self.train.baselines,
            sigma=settings.sigma,
            all_ranks=ranker.delta_cutoff is None,
            add_up=add_up,
        )
        first, _ = self.lambdas.peek(self.train.started(np.zeros(len(train))))
        if not self._anywhere(bool(first.any())):
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
        found = None if self.checkpoint is None else self.checkpoint.read(trees)
        if found is not None:
            booster = found[0]
            self.restore(found[1])
        every = trees if self.checkpoint is None else self.settings.checkpoint_every
        grown = 0 if booster is None else self.engine.count_trees(booster)
        while grown < trees and not self.stopped:
            wanted = next_batch(grown, every, trees)
            booster, grown = self.grow(booster, grown, wanted)
            if grown < wanted:
                break  # no leaf left to split, or stopped early
            if self.checkpoint is not None and grown < trees and not self.stopped:
                self.checkpoint.write(booster, self.state())
        self.finish(booster, grown)
        return booster

    def grow(self, booster: Booster | None, grown: int, wanted: int) -> tuple[Booster, int]:
        """A batch of trees: the booster with as many as are wanted, or fewer, and how many it has."""
        # A seed for each batch, so that going on from a checkpoint draws what an undisturbed run draws.
        seed = (self.seed + grown) % SEEDS
        booster = self._binned.grow(wanted - grown, self._parameters, self._gradients, self._after_tree, booster, seed)
        return booster, self.engine.count_trees(booster)

    def finish(self, booster: Booster, grown: int) -> None:
        """Complete the history, and say which tree is the best."""
        if self.ranker.history and len(self.history["train"].get("effectiveness", [])) < grown:
            self._keep("train", self.train.values(self.engine.predict(booster, self._X)), self.train)
        if self.settings.patience is None:
            self.best_iteration, self.best_score = grown, self._last_score

    def sample(self, booster: Booster, documents: int = SAMPLED) -> Floats:
        """What the model gives some training documents, evenly spaced."""
        rows = np.unique(np.linspace(0, len(self._X) - 1, documents).astype(np.int64))
        return self.train.started(self.engine.predict(booster, self._X[rows], self.best_iteration), rows)

    @property
    def fingerprints(self) -> str:
        """What the queries that it learns from are recognised by."""
        return self._data.fingerprints

    def state(self) -> dict[str, Any]:
        """What there is to know beside the booster to go on later, as JSON can hold it."""
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
    def _binned(self) -> Binned:
        """Made when the first tree is grown: what is wrong with a checkpoint shows before."""
        return self._data.binned(self.engine, self._parameters, self.seed, validated=self._validated)

    def _gradients(self, scores: Floats) -> tuple[Singles, Singles]:
        found = self.lambdas(self.train.started(scores))
        if self.ranker.history and self.lambdas.iteration > 1 and not self._changes_trees:
            self._keep("train", self.lambdas.values, self.train)  # what the trees before this one reach
        return found

    def _after_tree(self, grown: int, others: Sequence[Floats]) -> bool:
        if self._changes_trees and self.ranker.history:
            self._keep("train", self.train.values(others[0]), self.train)
        if self._validated:
            values = np.zeros(0) if self.valid is None else self.valid.values(others[-1])
            if self.ranker.history:
                self._keep("valid", values, self.valid)
            score = self._last_score = self.criterion(values, self._baselines(self.valid), self._add_up)
            if self.best_score is None or score > self.best_score:
                self.best_score, self.best_iteration = score, grown
            patience = self.settings.patience
            self.stopped = patience is not None and grown - self.best_iteration >= patience
        if self.progress:
            self.progress(grown, self.history)
        return self.stopped

    def _keep(self, which: str, values: Floats, watched: Watched | None) -> None:
        for name, value in figures(values, self._baselines(watched), self._add_up).items():
            self.history[which].setdefault(name, []).append(value)

    def _baselines(self, watched: Watched | None) -> Floats | None:
        """The baselines' M(q); of no queries where this machine has none of that kind."""
        if watched is not None or self.train.baselines is None:
            return None if watched is None else watched.baselines
        return np.zeros((len(self.train.baselines), 0))

    def _anywhere(self, here: bool) -> bool:
        """Whether something is so on any of the machines."""
        return bool(self._add_up(np.array([float(here)]))[0])


def next_batch(grown: int, every: int, trees: int) -> int:
    """How many trees there are when the next batch is grown; batches end at multiples of `every`."""
    return min(grown - grown % every + every, trees)


def score_sample(scores: Floats, size: int = 2001) -> list[float]:
    """Evenly spaced quantiles of scores that a model gives documents: its scores in little room."""
    if not np.isfinite(scores).all():
        raise ArgumentError(
            "the trees give scores that are not finite; lower learning_rate or raise lambda_l2 (XGBoost: reg_lambda)"
        )
    return [float(value) for value in np.quantile(scores, np.linspace(0, 1, min(size, len(scores))))]
