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
from typing import Any

import numpy as np

from surefoot.choose.aggregates import Aggregate
from surefoot.choose.baselines import LEARNED, learned_baselines, scores_of
from surefoot.choose.folds import Fold
from surefoot.choose.plan import TREES_PARAMETER, Job, reported_measures
from surefoot.choose.store import Store
from surefoot.data.hashes import data_hash, json_hash, query_hashes
from surefoot.errors import ArgumentError, DataError, SurefootError, shortened, visible
from surefoot.learn.held_out import EVALUATED, PARTS
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.prepared_data import PreparedData
from surefoot.learn.ranker import Ranker


class StorageError(SurefootError):
    """A result cannot be stored, or the data cannot be used: no other job could do better."""


class Worker:
    """Trains the jobs of a sweep that is stored in a folder."""

    def __init__(self, folder: str) -> None:
        self.store = Store.read(folder)
        self.plan = self.store.plan
        self._fold: Fold | None = None

    def make_ready(self, name: str) -> None:
        """Load a fold, unless it is the one at hand, and learn or read its baselines."""
        if self._fold is not None and self._fold.name == name:
            return
        self._fold = None  # before the next one comes: memory holds one
        try:
            fold = self.store.source.load(name)
            digest = self._digest(fold)
            if self.store.has_fold(name) and self.store.fold(name)["digest"] != digest:
                also = ", or its baselines are learned in another way" if self.store.learned else ""
                raise DataError.at(
                    self.store.source.path,
                    None,
                    f"{name} is not the data that this sweep began with{also}; name another folder",
                )
            fold = self._with_learned(fold) if self.store.learned else fold
            self._check_baselines(list(fold.train.baselines))
            self._fold = fold
            if not self.store.has_fold(name):
                self._store_fold(self._fold, digest)
        except SurefootError as error:
            raise StorageError(str(error)) from error
        self._prepared = PreparedData(self._fold.train, self._fold.valid)
        self._targets = {
            part: {
                measure: MeasuredQueries.from_data(data, measure, self._threads)
                for measure in reported_measures(self.plan.measure)
            }
            for part, data in zip(EVALUATED, self._fold.sets[1:], strict=True)
        }

    def _check_baselines(self, names: list[str]) -> None:
        settings = {setting.name: setting for setting in self.plan.settings()}
        for name in names:
            if not name.strip() or name in settings:
                raise ArgumentError(
                    f"a baseline is called {shortened(name)}, which is empty, or the name of a setting of this sweep; "
                    "give it another name"
                )
        alone = next((setting for setting in settings.values() if setting.against_all and len(names) < 2), None)
        if alone is not None:
            raise ArgumentError(f"{alone.objective} compares with several baselines, and there is one; name more")

    def _digest(self, fold: Fold) -> str:
        """A hash of a fold's data and, where baselines are learned, of everything that decides those."""
        parts = [data_hash(data) for data in fold.sets]
        if self.store.learned and fold.held_out is not None:
            parts += [data_hash(fold.held_out), self.plan.measure, json.dumps(self._first, sort_keys=True)]
        return json_hash(parts)

    @property
    def _first(self) -> dict[str, Any]:
        """The parameters of learned baselines' trees: the grid's first, and the most trees."""
        return self.plan.combinations()[0] | {TREES_PARAMETER: max(self.plan.grid[TREES_PARAMETER])}

    @property
    def _threads(self) -> int | None:
        return self.plan.options.get(self.plan.engine.threads_parameter)

    def _with_learned(self, fold: Fold) -> Fold:
        """The fold with learned baselines' scores, from the store where they are known."""
        if self.store.has_fold(fold.name):
            arrays = self.store.fold_arrays(fold.name)
            learned = [dict(zip(LEARNED, arrays[f"{part}_learned"], strict=True)) for part in PARTS]
        else:
            if fold.held_out is None:
                raise ArgumentError("baselines are learned on held-out queries; say how many with held_out")
            engine = self.plan.engine
            grower = {"engine": engine.name} | (
                {} if self._threads is None else {engine.threads_parameter: self._threads}
            )
            models = learned_baselines(fold.held_out, self.plan.measure, self._first | grower, self.store.source.seed)
            learned = [scores_of(models, data) for data in fold.sets]
        for name in LEARNED:
            if name in fold.train.baselines:
                raise ArgumentError(f"a baseline is called {name}, as a learned one is; give it another name")
            fold = fold.with_baseline(name, [scores[name] for scores in learned])
        return fold

    def _store_fold(self, fold: Fold, digest: str) -> None:
        arrays: dict[str, Any] = {}
        for part, data in zip(PARTS, fold.sets, strict=True):
            if self.store.learned:
                arrays[f"{part}_learned"] = np.stack([data.baselines[name] for name in LEARNED])
            if part == "train":
                continue
            arrays[f"{part}_labels"] = data.y
            arrays[f"{part}_offsets"] = data.offsets
            arrays[f"{part}_ties"] = data.tie_order()
            arrays[f"{part}_baselines"] = np.array(list(data.baselines.values()), dtype=np.float64).reshape(
                -1, len(data)
            )
            if self.store.source.selective is not None:
                arrays[f"{part}_aggregate"] = Aggregate.parse(self.store.source.selective)(data)
        about = {
            "digest": digest,
            "baselines": list(fold.train.baselines),
            "queries": {part: list(data.queries) for part, data in zip(EVALUATED, fold.sets[1:], strict=True)},
            "sizes": {part: [len(data.queries), len(data)] for part, data in zip(PARTS, fold.sets, strict=True)},
            "tie_rule": fold.train.tie_rule,
            "tested": query_hashes(fold.test),
        }
        self.store.write_fold(fold.name, about, arrays)

    def run(self, job: Job) -> None:
        """Train and store a job, unless it is stored already."""
        self.make_ready(job.fold)
        if self._fold is None or (self.store.has(job) and "failed" not in self.store.result(job)):
            return
        began = time.monotonic()
        names = list(self._fold.train.baselines)
        data = self._prepared.with_only(names if job.setting.against_all else names[:1])
        ranker = Ranker(**self.plan.ranker(job)).fit(data)
        result: dict[str, Any] = {"seconds": time.monotonic() - began, "trees": ranker.best_iteration_}
        if job.trial:
            result["valid"] = ranker.history_["valid"]["effectiveness"]
            self._store(lambda: self.store.write_trial(job, result))
            return
        arrays: dict[str, Any] = {}
        for part, evaluated in zip(EVALUATED, self._fold.sets[1:], strict=True):
            scores = ranker.predict(evaluated.with_only(data.train.baselines))
            arrays[f"{part}_scores"] = scores
            arrays[f"{part}_values"] = np.stack([target.values(scores) for target in self._targets[part].values()])
        self._store(lambda: self.store.write_point(job, ranker, result, arrays))

    @staticmethod
    def _store(write: Any) -> None:
        try:
            write()
        except SurefootError as error:
            raise StorageError(str(error)) from error


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
                worker.run(Job.from_dict(message["job"]))
        except StorageError as error:
            answer = {"stop": visible(str(error))}
        except SurefootError as error:
            answer = {"failed": visible(str(error))}
        except MemoryError:
            answer = {"failed": "there is not enough memory for it"}
        except Exception as error:
            answer = {"failed": visible(f"{type(error).__name__}: {error}")}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
