"""A sweep's folder: its settings, each fold as it was first read, and every finished training, each stored in one step.

    sweep.json        the plan and where the data comes from
    traffic.json      how often each query is asked, where that counts
    folds/Fold1/      fold.json, arrays.npz: labels, baselines' scores and queries of validation and test data
    trials/KEY.json   what a training that finds parameters reached on validation data
    points/KEY/       a saved ranker, point.json, arrays.npz: its scores of validation and test data
    inner/Fold1-5/      arrays.npz: as in folds/, of the training queries, one inner fold after the other
    inner/KEY/        arrays.npz: scores of the inner fold that a training did not learn from

A key is a hash of everything that decides a training, so a changed plan finds what it shares with the one before. A
folder or file appears complete or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot import __version__
from surefoot.choose.folds import OWN_DATA_FOLDER, FoldSource
from surefoot.choose.options import PLAN_FILE
from surefoot.choose.plan import SweepPlan, TrainingJob
from surefoot.data.reading.files import read_json
from surefoot.data.reading.folders import describing_file
from surefoot.data.reading.traffic import Traffic
from surefoot.data.writing.all_or_nothing import new_folder, write_text
from surefoot.data.writing.resumable import Arrays, ResumableFolder, content_key, read_arrays, save_arrays
from surefoot.errors import DataError, expecting

SCHEMA = "surefoot/sweep-plan/1"
INNER_FILE = "inner"  # a folder in the sweep's
TRAFFIC_FILE = "traffic.json"
_AGAIN = "remove its folder, and run the sweep again"


def traffic_hash(traffic: Traffic) -> str:
    """By what the traffic of a sweep is told from others'."""
    return content_key(dict(traffic))


class SweepStore:
    """The folder of one sweep."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        plan: SweepPlan,
        source: FoldSource,
        learned: bool = False,
        traffic: Traffic | None = None,
    ) -> None:
        self.folder = Path(folder)
        self._traffic = traffic
        self._resumable = ResumableFolder(folder, PLAN_FILE, "sweep", beside=[OWN_DATA_FOLDER])
        self.plan, self.source, self.learns_baselines = plan, source, learned
        self._folds: dict[str, dict[str, Any]] = {}
        self.files: list[list[Any]] = []
        self.folds: list[str] = []
        self.to_check: set[str] = set()  # folds whose files have changed since

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> SweepStore:
        """The store that is there."""
        return cls.from_dict(folder, read_json(describing_file(folder, PLAN_FILE, "give the folder of a sweep")))

    @classmethod
    def from_dict(cls, folder: str | os.PathLike[str], content: Any) -> SweepStore:
        """The store of a folder with these settings."""
        path = Path(folder) / PLAN_FILE
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise DataError.at(path, None, "does not describe a sweep of this version; start it in a new folder")
        with expecting("a sweep", path, "start it in a new folder"):
            plan, source = SweepPlan.from_dict(content["plan"]), FoldSource.from_dict(content["source"])
            store = cls(folder, plan, source, bool(content["learned"]))
            store.files, store.folds = list(content["files"]), list(content["folds"])
            return store

    def begin(self) -> None:
        """Write the settings; another sweep's folder, or one with other files, is rejected."""
        begun = self._resumable.resume()
        files, self.folds = self._files(), self.source.names()
        if begun is not None:
            before = SweepStore.from_dict(self.folder, begun)
            if before.files != files:  # each fold must be what it was before anything is taken as done
                self.to_check, files = set(self.folds), before.files
            if (before.source, before.learns_baselines) != (self.source, self.learns_baselines):
                raise DataError.at(
                    self.folder, None, f"has a sweep of other data ({before.description}); name another folder"
                )
        self._write(files)
        if self._traffic is not None:
            write_text(self.folder / TRAFFIC_FILE, json.dumps(self._traffic), durable=True)
        for kind in ("folds", "trials", "points", INNER_FILE):
            (self.folder / kind).mkdir(exist_ok=True)

    def confirm_fold(self, fold: str) -> None:
        """Note that a fold is what it was, or new."""
        if fold in self.to_check:
            self.to_check.discard(fold)
            if not self.to_check:
                self._write(self._files())

    def _files(self) -> list[list[Any]]:
        """The data's files, and what tells that one has changed."""
        return [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in self.source.files()]

    def _write(self, files: list[list[Any]]) -> None:
        self.files = files
        self._resumable.write_settings(
            {
                "schema": SCHEMA, "plan": self.plan.to_dict(), "source": self.source.to_dict(),
                "learned": self.learns_baselines, "folds": self.folds, "files": files,
            }
        )  # fmt: skip

    @property
    def traffic(self) -> Traffic | None:
        """How often each query is asked; None where all count the same."""
        if self._traffic is None and self.source.traffic is not None:
            content = self._json(self.folder / TRAFFIC_FILE)
            if traffic_hash(content) != self.source.traffic:
                raise DataError.at(
                    self.folder / TRAFFIC_FILE,
                    None,
                    "is not the traffic that the sweep began with; run the sweep again",
                )
            self._traffic = content
        return self._traffic

    @property
    def description(self) -> str:
        """The data in a few words."""
        parts = [self.source.path, *self.source.baselines, *(["learned baselines"] if self.learns_baselines else [])]
        parts.append("without traffic" if self.source.traffic is None else f"traffic {self.source.traffic[:8]}")
        return ", ".join(parts)

    @property
    def settings_hash(self) -> str:
        """A hash of the settings, by which a result is known to be of it."""
        return content_key([self.plan.to_dict(), self.source.to_dict(), self.learns_baselines])

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Make the folder, and keep other sweeps out of it for as long as this one works there."""
        with self._resumable.lock():
            yield

    def key(self, job: TrainingJob) -> str:
        """A name for a job's files: the same for trainings that are alike in everything."""
        baselines = self.fold(job.fold)["baselines"]
        named = baselines if job.setting.against_all else baselines[:1]
        engine = self.plan.engine
        arguments = self.plan.ranker_arguments(job)
        return content_key([
            __version__, engine.name, engine.version, job.trial, self.fold(job.fold)["digest"], named,
            {name: value for name, value in arguments.items() if name not in engine.without_effect},
            *([] if job.inner is None else [[job.inner, self.plan.inner_folds]]),
        ])  # fmt: skip

    def has_fold(self, name: str) -> bool:
        """Whether a fold was read before."""
        return (self.folder / "folds" / name).is_dir()

    def fold(self, name: str) -> dict[str, Any]:
        """What is known of a fold: digest, baselines, queries."""
        if name not in self._folds:
            self._folds[name] = self._json(self.folder / "folds" / name / "fold.json")
        return self._folds[name]

    def fold_arrays(self, name: str) -> Arrays:
        """A fold's labels, ties and baselines."""
        return read_arrays(self.folder / "folds" / name / "arrays.npz", _AGAIN)

    def write_fold(self, name: str, about: Mapping[str, Any], arrays: Arrays) -> None:
        """Keep a fold."""
        with new_folder(self.folder / "folds" / name) as folder:
            write_text(folder / "fold.json", json.dumps(about), durable=True)
            save_arrays(folder / "arrays.npz", arrays)

    def has_inner_folds(self, name: str) -> bool:
        """Whether what a plan needs to know of a fold's inner folds is stored."""
        return not self.plan.inner_folds or self._inner_folds(name).is_dir()

    def inner_folds(self, name: str) -> Arrays:
        """Labels, ties, baselines and offsets of a fold's training queries, one inner fold after the other."""
        return read_arrays(self._inner_folds(name) / "arrays.npz", _AGAIN)

    def write_inner_folds(self, name: str, arrays: Arrays) -> None:
        """Keep them."""
        with new_folder(self._inner_folds(name)) as folder:
            save_arrays(folder / "arrays.npz", arrays)

    def _inner_folds(self, name: str) -> Path:
        return self.folder / INNER_FILE / f"{name}-{self.plan.inner_folds}"

    def has(self, job: TrainingJob) -> bool:
        """Whether a job's result is stored: what it found, or that it failed."""
        return self.result_path(job).exists()

    def is_done(self, job: TrainingJob) -> bool:
        """Whether a job is stored and did not fail."""
        return self.has(job) and not (job.trial and "failed" in self.result(job))

    def result_path(self, job: TrainingJob) -> Path:
        """Where a job's result is."""
        key = self.key(job)
        if job.inner is not None:
            return self.folder / INNER_FILE / key
        return self.folder / "trials" / f"{key}.json" if job.trial else self.folder / "points" / key

    def result(self, job: TrainingJob) -> dict[str, Any]:
        """What a job found."""
        result_path = self.result_path(job)
        return self._json(result_path if job.trial else result_path / "point.json")

    def arrays(self, job: TrainingJob) -> Arrays:
        """A trained ranker's scores."""
        return read_arrays(self.result_path(job) / "arrays.npz", _AGAIN)

    def write_trial(self, job: TrainingJob, result: Mapping[str, Any]) -> None:
        """Keep what a trial found."""
        write_text(self.result_path(job), json.dumps(result), durable=True)

    def write_training(self, job: TrainingJob, ranker: Any, result: Mapping[str, Any], arrays: Arrays) -> None:
        """Keep a trained ranker and its scores; without an inner fold these alone, as they are all that it is for."""
        with new_folder(self.result_path(job)) as folder:
            if job.inner is None:
                ranker.save(folder)
                write_text(folder / "point.json", json.dumps({"job": job.to_dict(), **result}), durable=True)
            save_arrays(folder / "arrays.npz", arrays)

    def _json(self, path: Path) -> dict[str, Any]:
        content = read_json(path)
        if not isinstance(content, dict):
            raise DataError.at(path, None, "is not a file that a sweep writes; remove it, and run the sweep again")
        return content
