"""One training: what is optimised and watched, what was seen so far, when to stop, how to go on after a kill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError
from surefoot.learn.checkpoints import Checkpoint, origin
from surefoot.learn.criteria import figures
from surefoot.learn.engines.contract import Booster, Engine, Singles
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.prepared import Prepared, Watched
from surefoot.learn.settings import SEEDS, Settings

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

History: TypeAlias = dict[str, dict[str, list[float]]]
Progress: TypeAlias = Callable[[int, History], None]


class Training:
    """A run of `Ranker.fit`."""

    def __init__(
        self,
        ranker: Ranker,
        engine: Engine,
        data: Prepared,
        progress: Progress | None = None,
    ) -> None:
        train, valid = data.train, data.valid
        self.engine = engine
        self.settings = settings = Settings.of(ranker)
        self._parameters = engine.check(ranker.engine_parameters, train.n_features)
        self._changes_trees = self._parameters.changes_trees is not None
        settings.check_with(train, valid, self._parameters.changes_trees)
        self.checkpoint = (
            None
            if settings.checkpoint is None
            else Checkpoint.at(settings.checkpoint, origin(engine, ranker.get_params(), train, valid), engine)
        )
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
        )
        first, _ = self.lambdas.peek(self.train.started(np.zeros(len(train))))
        if not first.any():
            raise ArgumentError(
                "nothing to learn: no two documents of a query have labels that the measure tells apart"
            )
        self.history: History = {"train": {}, "valid": {}}
        self.best_iteration = 0
        self.best_score: float | None = None
        self._last_score: float | None = None
        self._stop = False
        self._booster = self._go_on()
        self._binned = data.binned(engine, self._parameters, self.seed)
        self._X = train.X

    def run(self) -> Booster:
        """Grow the trees, in batches that end where a checkpoint is kept."""
        booster, trees = self._booster, self.settings.trees
        every = trees if self.checkpoint is None else self.settings.checkpoint_every
        grown = 0 if booster is None else self.engine.count_trees(booster)
        while grown < trees and not self._stop:
            wanted = min(grown - grown % every + every, trees)
            # A seed for each batch, so that going on from a checkpoint draws what an undisturbed run draws.
            seed = (self.seed + grown) % SEEDS
            booster = self._binned.grow(
                wanted - grown, self._parameters, self._gradients, self._after_tree, booster, seed
            )
            grown = self.engine.count_trees(booster)
            if grown < wanted:
                break  # no leaf left to split, or stopped early
            if self.checkpoint is not None and grown < trees and not self._stop:
                self.checkpoint.write(booster, self._state())
        if self.ranker.history and len(self.history["train"].get("effectiveness", [])) < grown:
            self._keep("train", self.train, self.train.values(self.engine.predict(booster, self._X)))
        if self.settings.patience is None:
            self.best_iteration, self.best_score = grown, self._last_score
        return booster

    def score_sample(self, booster: Booster, documents: int = 20_000, size: int = 2001) -> list[float]:
        """Evenly spaced quantiles of what the model gives training documents: its scores in little room."""
        rows = np.unique(np.linspace(0, len(self._X) - 1, documents).astype(np.int64))
        scores = self.train.started(self.engine.predict(booster, self._X[rows], self.best_iteration), rows)
        if not np.isfinite(scores).all():
            raise ArgumentError("the trees give scores that are not finite; lower learning_rate or raise lambda_l2")
        return [float(value) for value in np.quantile(scores, np.linspace(0, 1, min(size, len(rows))))]

    def _gradients(self, scores: Floats) -> tuple[Singles, Singles]:
        found = self.lambdas(self.train.started(scores))
        if self.ranker.history and self.lambdas.iteration > 1 and not self._changes_trees:
            self._keep("train", self.train, self.lambdas.values)  # what the trees before this one reach
        return found

    def _after_tree(self, grown: int, others: Sequence[Floats]) -> bool:
        if self._changes_trees and self.ranker.history:
            self._keep("train", self.train, self.train.values(others[0]))
        if self.valid is not None:
            values = self.valid.values(others[-1])
            if self.ranker.history:
                self._keep("valid", self.valid, values)
            score = self._last_score = self.criterion(values, self.valid.baselines)
            if self.best_score is None or score > self.best_score:
                self.best_score, self.best_iteration = score, grown
            patience = self.settings.patience
            self._stop = patience is not None and grown - self.best_iteration >= patience
        if self.progress:
            self.progress(grown, self.history)
        return self._stop

    def _keep(self, which: str, watched: Watched, values: Floats) -> None:
        for name, value in figures(values, watched.baselines).items():
            self.history[which].setdefault(name, []).append(value)

    def _state(self) -> dict[str, Any]:
        return {
            "history": self.history,
            "best_iteration": self.best_iteration,
            "best_score": self.best_score,
            "last_score": self._last_score,
            "iteration": self.lambdas.iteration,
            "s_x": self.lambdas.s_x,
            "seed": self.seed,
        }

    def _go_on(self) -> Booster | None:
        """The booster of a checkpoint, with everything else as it was then; None where there is none."""
        found = None if self.checkpoint is None else self.checkpoint.read(self.settings.trees)
        if found is None:
            return None
        booster, state = found
        self.history = state["history"]
        self.best_iteration, self.best_score = state["best_iteration"], state["best_score"]
        self._last_score, self.seed = state["last_score"], state["seed"]
        self.lambdas.iteration, self.lambdas.s_x = state["iteration"], state["s_x"]
        return booster
