"""A process that trains a sweep's jobs: it reads them as lines of JSON, stores each result, and answers with a line.

Started as `python -m surefoot.choose.worker`. The first line names the sweep's folder, every other one a job, or a
fold alone to make ready. One fold at a time is in memory, with its bins, so jobs of one fold should come together.
When the sweep ends, or dies, its end of the pipe closes, and the worker ends at once.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from surefoot.arrays import Floats
from surefoot.choose.folds import Fold
from surefoot.choose.options import CROSS_VALIDATION
from surefoot.choose.plan import TREES_PARAMETER, Networks, TrainingJob, fit, make_ranker
from surefoot.choose.store import SweepStore
from surefoot.data.hashes import data_hash, json_hash, query_hashes
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, DataError, SurefootError, shortened, visible
from surefoot.learn.combination import Aggregate
from surefoot.learn.measured_queries import EVALUATION_PARTS, PARTS
from surefoot.learn.prepared_data import PreparedData
from surefoot.learn.ranker import Ranker
from surefoot.learn.simple_rankers import adarank, feature_selection, regression_trees

# Learned on held-out queries (Dinçer et al., SIGIR 2016, §6.1): two of trees, two linear ones.
BASELINE_MODELS = ("LambdaMART", "GBRT", "AdaRank", "AFS")
_PATIENCE = 50


def learned_baselines(held_out: RankingData, measure: str, parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """LambdaMART, regression trees, AdaRank and automatic feature selection, by name; each has `predict`.

    Two thirds of the queries are learned from; the last third says when the trees have grown enough. `parameters` are
    the trees', and may name their engine.
    """
    order = np.random.default_rng(seed).permutation(len(held_out.queries))
    cut = len(order) - len(order) // 3
    train, valid = (held_out.select(np.sort(part)).with_baselines_only([]) for part in (order[:cut], order[cut:]))
    others = {name: value for name, value in parameters.items() if name != TREES_PARAMETER}
    trees = int(parameters[TREES_PARAMETER])
    ranker = Ranker(
        measure=measure, n_estimators=trees, early_stopping_rounds=_PATIENCE, random_state=seed, history=False,
        **others,
    ).fit(train, valid=valid)  # fmt: skip
    regression = regression_trees(train, valid, trees=trees, early_stopping_rounds=_PATIENCE, seed=seed, **others)
    models = (ranker, regression, adarank(train, measure), feature_selection(train, measure))
    return dict(zip(BASELINE_MODELS, models, strict=True))


def scores_of(models: Mapping[str, Any], data: RankingData) -> dict[str, Floats]:
    """Each model's scores of the documents."""
    plain = data.with_baselines_only([])
    return {name: np.asarray(model.predict(plain), dtype=np.float64) for name, model in models.items()}


class SweepStopError(SurefootError):
    """A result cannot be stored, or the data cannot be used: no other job could do better."""


@contextmanager
def stopping_the_sweep() -> Iterator[None]:
    """What is refused here is no job's own fault."""
    try:
        yield
    except SurefootError as error:
        raise SweepStopError(str(error)) from error


class Lesson(NamedTuple):
    """What jobs learn from, ready, and the queries whose documents their models score, by the name of these scores."""

    inner: int | None  # which of the inner folds is left out, if any
    prepared: PreparedData
    scored: dict[str, RankingData]


class Worker:
    """Trains the jobs of a sweep that is stored in a folder."""

    def __init__(self, folder: str) -> None:
        self.store = SweepStore.read(folder)
        self.plan = self.store.plan
        self._fold: Fold | None = None

    def make_ready(self, name: str) -> None:
        """Load a fold, unless it is the one at hand, and learn or read its baselines."""
        if self._fold is not None and self._fold.name == name:
            return
        self._fold = None  # before the next one comes: memory holds one
        with stopping_the_sweep():
            fold = self.store.source.load(name)
            traffic = self.store.traffic
            fold = fold if traffic is None else fold.with_traffic(traffic)
            digest = self._digest(fold)
            if self.store.has_fold(name) and self.store.fold(name)["digest"] != digest:
                also = ", or its baselines are learned in a different way" if self.store.learns_baselines else ""
                raise DataError.at(
                    self.store.source.path,
                    None,
                    f"{name} is not the data that this sweep started with{also}; name another folder",
                )
            fold = self._with_learned(fold) if self.store.learns_baselines else fold
            self._check_baselines(list(fold.train.baselines))
            self._fold = fold
            if not self.store.has_fold(name):
                self._store_fold(self._fold, digest)
            if self.plan.inner_folds:
                self._inner_parts = fold.inner_folds(self.plan.inner_folds, self.store.source.seed)
            if not self.store.has_inner_folds(name):
                together = fold.train.select(np.concatenate(self._inner_parts))
                self.store.write_inner_folds(name, self._arrays_of(CROSS_VALIDATION, together))
        scored = {f"{part}_scores": data for part, data in zip(EVALUATION_PARTS, fold.sets[1:], strict=True)}
        self._whole = Lesson(None, PreparedData(fold.train, fold.valid), scored)
        self._inner: Lesson | None = None

    def _check_baselines(self, names: list[str]) -> None:
        settings = {setting.name: setting for setting in self.plan.settings()}
        for name in names:
            if not name.strip() or name in settings:
                raise ArgumentError(
                    f"a baseline is called {shortened(name)}; this is empty, or a setting of this sweep has this name; "
                    "give the baseline another name"
                )
        setting_against_all = next(
            (setting for setting in settings.values() if setting.against_all and len(names) < 2), None
        )
        if setting_against_all is not None:
            raise ArgumentError(
                f"{setting_against_all.objective} needs several baselines, but there is only one; name more"
            )

    def _digest(self, fold: Fold) -> str:
        """A hash of a fold's data and, where baselines are learned, of everything that decides those."""
        parts = [data_hash(data) for data in fold.sets]
        if self.store.learns_baselines and fold.held_out is not None:
            parts += [
                data_hash(fold.held_out),
                self.plan.measure,
                json.dumps(self._baseline_parameters, sort_keys=True),
            ]
        return json_hash(parts)

    @property
    def _baseline_parameters(self) -> dict[str, Any]:
        """The parameters of learned baselines' trees: the grid's first, and the most trees."""
        return self.plan.combinations()[0] | {TREES_PARAMETER: max(self.plan.grid[TREES_PARAMETER])}

    @property
    def _threads(self) -> int | None:
        return self.plan.options.get(self.plan.engine.threads_parameter)

    def _with_learned(self, fold: Fold) -> Fold:
        """The fold with learned baselines' scores, from the store where they are known."""
        if self.store.has_fold(fold.name):
            arrays = self.store.fold_arrays(fold.name)
            learned = [dict(zip(BASELINE_MODELS, arrays[f"{part}_learned"], strict=True)) for part in PARTS]
        else:
            if fold.held_out is None:
                raise ArgumentError("baselines are learned on held-out queries; set held_out to their number")
            engine = self.plan.engine
            grower = {"engine": engine.name} | (
                {} if self._threads is None else {engine.threads_parameter: self._threads}
            )
            models = learned_baselines(
                fold.held_out, self.plan.measure, self._baseline_parameters | grower, self.store.source.seed
            )
            learned = [scores_of(models, data) for data in fold.sets]
        for name in BASELINE_MODELS:
            if name in fold.train.baselines:
                raise ArgumentError(
                    f"a baseline is called {name}, but a learned baseline has this name; give it another name"
                )
            fold = fold.with_baseline(name, [scores[name] for scores in learned])
        return fold

    def _store_fold(self, fold: Fold, digest: str) -> None:
        arrays: dict[str, Any] = {}
        for part, data in zip(PARTS, fold.sets, strict=True):
            if self.store.learns_baselines:
                arrays[f"{part}_learned"] = np.stack([data.baselines[name] for name in BASELINE_MODELS])
            if part == "train":
                continue
            arrays |= self._arrays_of(part, data)
        about = {
            "digest": digest,
            "baselines": list(fold.train.baselines),
            "queries": {part: list(data.queries) for part, data in zip(EVALUATION_PARTS, fold.sets[1:], strict=True)},
            "sizes": {part: [len(data.queries), len(data)] for part, data in zip(PARTS, fold.sets, strict=True)},
            "tie_rule": fold.train.tie_rule,
            "tested": query_hashes(fold.test),
        }
        if fold.test._weighting is not None:
            about["left_out"] = {
                part: 0 if data._weighting is None else len(data._weighting.left_out)
                for part, data in zip(PARTS, fold.sets, strict=True)
            }
        self.store.write_fold(fold.name, about, arrays)

    def _arrays_of(self, part: str, data: RankingData) -> dict[str, Any]:
        """What candidates are measured with on some queries."""
        arrays: dict[str, Any] = {
            f"{part}_labels": data.y,
            f"{part}_offsets": data.offsets,
            f"{part}_ties": data.tie_order(),
            f"{part}_baselines": np.array(list(data.baselines.values()), dtype=np.float64).reshape(-1, len(data)),
        }
        if data.traffic is not None:
            arrays[f"{part}_weights"] = data.traffic
        if self.store.source.selective is not None:
            arrays[f"{part}_aggregate"] = Aggregate.parse(self.store.source.selective)(data)
        return arrays

    def run(self, job: TrainingJob) -> None:
        """Train and store a job, unless it is stored already."""
        self.make_ready(job.fold)
        if self._fold is None or self.store.is_done(job):
            return
        lesson = self._whole if job.inner is None else self._inner_lesson(self._fold, job.inner)
        began = time.monotonic()
        names = list(self._fold.train.baselines)
        data = lesson.prepared.with_baselines_only(names if job.setting.against_all else names[:1])
        arguments = self.plan.ranker_arguments(job)
        if job.inner is not None and not isinstance(self.plan.engine, Networks):
            arguments["history"] = False
        ranker = make_ranker(self.plan.engine, arguments)
        fit(ranker, data)
        result: dict[str, Any] = {"seconds": time.monotonic() - began, "trees": ranker.best_iteration_}
        if job.trial:
            result["valid"] = ranker.history_["valid"]["effectiveness"]
            with stopping_the_sweep():
                self.store.write_trial(job, result)
            return
        scores = {
            name: ranker.predict(queries.with_baselines_only(data.train.baselines))
            for name, queries in lesson.scored.items()
        }
        with stopping_the_sweep():
            self.store.write_training(job, ranker, result, scores)

    def _inner_lesson(self, fold: Fold, number: int) -> Lesson:
        """Training queries without one part of them, which is scored; validation queries where trainings stop early."""
        if self._inner is None or self._inner.inner != number:
            self._inner = None  # before the next one comes: memory holds one
            parts = self._inner_parts
            rest = np.sort(np.concatenate([part for other, part in enumerate(parts) if other != number]))
            valid = None if self.plan.options.get("early_stopping_rounds") is None else fold.valid
            prepared = PreparedData(fold.train.select(rest), valid)
            self._inner = Lesson(number, prepared, {"scores": fold.train.select(parts[number])})
        return self._inner


def main() -> None:
    """Work until the pipe closes."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    lines: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)  # whoever asked is gone, also in the middle of a training

    threading.Thread(target=listen, daemon=True).start()
    worker: Worker | None = None
    while True:
        message = json.loads(lines.get())
        answer: dict[str, Any] = {"ended": True}
        try:
            if worker is None:
                worker = Worker(message["folder"])
            elif "fold" in message:
                worker.make_ready(message["fold"])
            else:
                worker.run(TrainingJob.from_dict(message["job"]))
        except SweepStopError as error:
            answer = {"stop": visible(str(error))}
        except SurefootError as error:
            answer = {"failed": visible(str(error))}
        except MemoryError:
            answer = {"failed": "there is not enough memory"}
        except Exception as error:
            answer = {"failed": visible(f"{type(error).__name__}: {error}")}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
