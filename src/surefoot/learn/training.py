"""One training: what is optimised and watched, what was seen so far, when to stop, how to go on after a kill."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from surefoot.data.ranking import Floats, Rows
from surefoot.data.ranking_data import RankingData, check_labels
from surefoot.errors import ArgumentError
from surefoot.learn import checkpoints
from surefoot.learn.criteria import Criterion, figures
from surefoot.learn.engine import Growth, check_parameters
from surefoot.learn.objectives import Lambdas, Objective
from surefoot.learn.target import Target
from surefoot.measures.notation import Measure

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

History: TypeAlias = dict[str, dict[str, list[float]]]
Progress: TypeAlias = Callable[[int, History], None]


def as_data(
    X: Any, y: npt.ArrayLike | None = None, qid: Any = None, group: npt.ArrayLike | None = None, baseline: Any = None
) -> RankingData:
    """RankingData, from itself or from arrays; `baseline` is (n,), (n, baselines) or a dict of scores by name."""
    if isinstance(X, RankingData):
        data = X
    else:
        if y is None:
            raise ArgumentError("labels are missing; call fit(X, y, qid=…), or fit(RankingData)")
        data = RankingData(X, y, qid=qid, group=group)
    for name, scores in _named(baseline).items():
        data = data.with_baseline(name, scores)
    return data


def _named(baseline: Any) -> dict[str, Any]:
    if baseline is None:
        return {}
    if isinstance(baseline, Mapping):
        return dict(baseline)
    scores = np.asarray(baseline, dtype=np.float64)
    if scores.ndim == 1:
        return {"baseline": scores}
    if scores.ndim != 2:
        raise ArgumentError(f"baseline has shape {scores.shape}; it must be (documents,) or (documents, baselines)")
    return {f"baseline{number}": column for number, column in enumerate(scores.T, start=1)}


def standardised_baseline(data: RankingData) -> Floats:
    """Where a model that starts from its baseline starts: the baselines' mean score, each standardised in its query."""
    if not data.baselines:
        raise ArgumentError("init='baseline' starts from a baseline's scores; give one")
    query = np.repeat(np.arange(len(data.queries)), data.lengths)
    start = np.zeros(len(data))
    for scores in data.baselines.values():
        mean = np.bincount(query, scores) / data.lengths
        centred = scores - mean[query]
        spread = np.sqrt(np.bincount(query, centred**2) / data.lengths)[query]
        start += np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    return start / len(data.baselines)


class Watched:
    """A set of queries under the measure: how its baselines do, and how scores do beside them."""

    def __init__(self, data: RankingData, measure: Measure, threads: int | None, start: str | None) -> None:
        check_labels(data.y, exponential=measure.settings.get("dcg") == "exp-log2" or measure.family == "ERR")
        self.tie_rule = data.tie_rule
        self.target = Target(measure, data.y, data.offsets, data.tie_order(), threads)
        self._start = standardised_baseline(data) if start == "baseline" else None
        self.baselines = (
            np.stack([self.target.values(scores) for scores in data.baselines.values()]) if data.baselines else None
        )

    def values(self, scores: Floats) -> Floats:
        """M(q) of a model's scores."""
        return self.target.values(self.started(scores))

    def started(self, scores: Floats, rows: Rows | slice = slice(None)) -> Floats:
        """A model's scores of some rows with what it started from."""
        return scores if self._start is None else scores + self._start[rows]


class Training:
    """A run of `Ranker.fit`."""

    def __init__(
        self, ranker: Ranker, train: RankingData, valid: RankingData | None, progress: Progress | None = None
    ) -> None:
        _check(ranker, train, valid)
        self.ranker = ranker
        self.progress = progress
        self.criterion = Criterion.parse(ranker.stop_on)
        measure = Measure.parse(ranker.measure)
        objective = Objective(ranker.objective, ranker.alpha, ranker.rule, ranker.estimate)
        parameters = {"deterministic": True, "force_col_wise": True} | check_parameters(ranker.engine_parameters)
        if parameters.get("force_row_wise"):
            parameters.pop("force_col_wise")
        threads = int(parameters.get("num_threads", 0)) or None
        self.train = Watched(train, measure, threads, ranker.init)
        self.valid = None if valid is None else Watched(valid, measure, threads, ranker.init)
        self.lambdas = Lambdas(
            objective,
            self.train.target,
            self.train.baselines,
            sigma=ranker.sigma,
            all_ranks=ranker.delta_cutoff is None,
        )
        first, _ = self.lambdas.peek(self.train.started(np.zeros(len(train))))
        if not first.any():
            raise ArgumentError(
                "nothing to learn: no two documents of a query have labels that the measure tells apart"
            )
        self._growth = Growth(parameters, train.X, None if valid is None else valid.X, train.feature_names)
        self._fingerprint = checkpoints.fingerprint(ranker.get_params(), train, valid)
        self.history: History = {"train": {}, "valid": {}}
        self.best_iteration = 0
        self.best_score: float | None = None
        self._stop = False

    def run(self) -> Any:
        """Grow the trees, in stretches that end where a checkpoint is kept; gives the booster."""
        ranker, booster = self.ranker, self._go_on()
        every = ranker.n_estimators if ranker.checkpoint is None else ranker.checkpoint_every
        while (grown := 0 if booster is None else booster.num_trees()) < ranker.n_estimators and not self._stop:
            trees = min(every - grown % every, ranker.n_estimators - grown)
            # A seed for each stretch, so that going on from a checkpoint draws what an undisturbed run draws.
            booster = self._growth.grow(
                trees, self._gradients, self._after_tree, booster, seed=ranker.random_state + grown
            )
            if booster.num_trees() < grown + trees:
                break  # no leaf left to split, or stopped early
            if ranker.checkpoint is not None and booster.num_trees() < ranker.n_estimators:
                checkpoints.write(ranker.checkpoint, self._fingerprint, booster, self._state())
        if booster is None or not booster.num_trees():
            raise ArgumentError("no tree could be grown: no split met the leaves' requirements (min_data_in_leaf, …)")
        if ranker.history:
            self._keep("train", self.train, self.train.values(booster.predict(self._growth.X)))
        if ranker.checkpoint is not None:
            checkpoints.remove(ranker.checkpoint)
        if ranker.early_stopping_rounds is None:
            self.best_iteration = booster.num_trees()
        return booster

    def score_sample(self, booster: Any, documents: int = 20_000, size: int = 2001) -> list[float]:
        """Evenly spaced quantiles of what the model gives training documents: its scores in little room."""
        rows = np.unique(np.linspace(0, len(self._growth.X) - 1, documents).astype(np.int64))
        scores = booster.predict(self._growth.X[rows], num_iteration=self.best_iteration)
        scores = self.train.started(scores, rows)
        return [float(value) for value in np.quantile(scores, np.linspace(0, 1, min(size, len(rows))))]

    def _gradients(self, scores: Floats) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        found = self.lambdas(self.train.started(scores))
        if self.ranker.history and self.lambdas.iteration > 1:  # what the trees before this one reach
            self._keep("train", self.train, self.lambdas.values)
        return found

    def _after_tree(self, grown: int, valid_scores: Floats | None) -> bool:
        if self.valid is not None and valid_scores is not None:
            values = self.valid.values(valid_scores)
            if self.ranker.history:
                self._keep("valid", self.valid, values)
            score = self.criterion(values, self.valid.baselines)
            if self.best_score is None or score > self.best_score:
                self.best_score, self.best_iteration = score, grown
            patience = self.ranker.early_stopping_rounds
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
            "iteration": self.lambdas.iteration,
            "s_x": self.lambdas.s_x,
        }

    def _go_on(self) -> Any:
        """The booster of a checkpoint, with everything else as it was then; None where there is none."""
        found = None if self.ranker.checkpoint is None else checkpoints.read(self.ranker.checkpoint, self._fingerprint)
        if found is None:
            return None
        booster, state = found
        self.history = state["history"]
        self.best_iteration, self.best_score = state["best_iteration"], state["best_score"]
        self.lambdas.iteration, self.lambdas.s_x = state["iteration"], state["s_x"]
        return booster


def _check(ranker: Ranker, train: RankingData, valid: RankingData | None) -> None:
    for name, value, known in (
        ("delta_cutoff", ranker.delta_cutoff, ("measure", None)),
        ("init", ranker.init, (None, "baseline")),
    ):
        if value not in known:
            raise ArgumentError(f"{name} is {value!r}; it must be {' or '.join(map(repr, known))}")
    for name, number in (("n_estimators", ranker.n_estimators), ("checkpoint_every", ranker.checkpoint_every)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise ArgumentError(f"{name} is {number!r}; it must be a whole number above 0")
    if not ranker.sigma > 0:
        raise ArgumentError(f"sigma is {ranker.sigma!r}; it must be above 0")
    if ranker.early_stopping_rounds is not None and valid is None:
        raise ArgumentError("early_stopping_rounds needs validation data; give valid=")
    if valid is not None and valid.n_features != train.n_features:
        raise ArgumentError(
            f"the validation data has {valid.n_features} features, the training data {train.n_features}; "
            "both need the same"
        )
    if valid is not None and list(valid.baselines) != list(train.baselines):
        raise ArgumentError(
            f"the validation data has the baselines {list(valid.baselines)}, the training data "
            f"{list(train.baselines)}; "
            "both need the same"
        )
