"""The trainings of a sweep: which are left, which can start now; several processes work on them until all are done.

Each process runs `worker.py`: work is given to it, and its answer waited for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any, TypeAlias

from surefoot.arguments import integer
from surefoot.choose.plan import SweepSetting, TrainingJob, best_parameters
from surefoot.choose.store import SweepStore
from surefoot.errors import DataError, shortened
from surefoot.runtime import cores

Work: TypeAlias = TrainingJob | str  # a training, or a fold to be met for the first time


class WorkerProcess:
    """A worker, the fold it holds, and what it is doing: nothing, or starting, or some work."""

    def __init__(self, folder: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "surefoot.choose.worker"],  # nothing of this folder is imported
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0,
            # Cores are shared out among workers, not fought over.
            env={"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"} | os.environ,
        )  # fmt: skip
        self.fold: str | None = None
        self.work: Work | None = None
        self.busy = True
        self.began = time.monotonic()
        self._send({"folder": folder})

    def start(self, work: Work) -> None:
        """Start some work."""
        self.work, self.busy, self.began = work, True, time.monotonic()
        self.fold = work if isinstance(work, str) else work.fold
        self._send({"fold": work} if isinstance(work, str) else {"job": work.to_dict()})

    def _send(self, message: Mapping[str, Any]) -> None:
        with suppress(OSError):  # a worker that died shows when its answer is read
            self._process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]

    def fileno(self) -> int:
        """What to wait for."""
        return int(self._process.stdout.fileno())  # type: ignore[union-attr]

    def answer(self) -> dict[str, Any] | None:
        """What came of the work; None if the worker died."""
        line: bytes = self._process.stdout.readline()  # type: ignore[union-attr]
        self.busy = False
        return dict(json.loads(line)) if line.endswith(b"\n") else None

    def cause_of_death(self) -> str:
        """How the worker ended, with its last words."""
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"its process died ({how}{': ' + shortened(lines[-1], 200) if lines else ''})"

    def end(self) -> None:
        """End the worker, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


def wait_for_answers(workers: Sequence[WorkerProcess]) -> list[WorkerProcess]:
    """Wait until some of the workers have an answer, or died."""
    ready = wait([worker.fileno() for worker in workers])
    return [worker for worker in workers if worker.fileno() in ready]


@dataclass(frozen=True)
class TrainingFailure:
    """A training that could not be done, and why; the next call tries it again."""

    job: TrainingJob
    message: str


@dataclass
class SweepProgress:
    """How far a sweep is, for whoever looks on."""

    total: int = 0
    done: int = 0
    resumed: int = 0  # of those done, by an earlier call
    running: list[str] = field(default_factory=list)
    last: list[tuple[str, float]] = field(default_factory=list)  # trainings that ended, with their seconds
    failures: list[TrainingFailure] = field(default_factory=list)
    left: float | None = None  # seconds, as far as can be told


class SweepTrainings:
    """What a sweep has to train. Points wait for the trials that find their parameters."""

    def __init__(self, store: SweepStore, *, finished: bool = False) -> None:
        self.store, self.plan = store, store.plan
        self._finished = finished  # what failed stays so: nothing is tried again
        self.folds = store.folds
        self._done: set[TrainingJob] = set()
        self.failed: set[TrainingJob] = set()  # trials, in this run: each run tries them again
        self._tuned: dict[tuple[str, SweepSetting], dict[str, Any]] = {}

    @property
    def total(self) -> int:
        """How many there are in all."""
        jobs = len(self.plan.settings()) * len(self.plan.seeds) * (1 + self.plan.inner_folds)
        return sum(jobs + len(list(self.plan.trials(fold))) for fold in self.folds)

    def startable(self) -> list[Work]:
        """Folds to meet for the first time, and trainings that nothing stands in the way of."""
        known = [fold for fold in self.folds if self._is_known(fold) and fold not in self.store.to_check]
        jobs = [job for fold in known for job in self._known(fold) if not self.is_done(job) and job not in self.failed]
        return [*(fold for fold in self.folds if fold not in known), *jobs]

    def count_done(self, apart_from: Collection[Work | None] = ()) -> int:
        """How many are stored, of those that are not counted elsewhere."""
        known = (job for fold in self.folds if self._is_known(fold) for job in self._known(fold))
        return sum(self.is_done(job) and job not in apart_from for job in known)

    def _is_known(self, fold: str) -> bool:
        return self.store.has_fold(fold) and self.store.has_inner_folds(fold)

    def _known(self, fold: str) -> Iterator[TrainingJob]:
        yield from self.plan.trials(fold)
        yield from self.ready_jobs(fold)

    def ready_jobs(self, fold: str) -> list[TrainingJob]:
        """A fold's trainings whose parameters are known."""
        groups = dict.fromkeys(map(self.plan.group, self.plan.settings())) if self.plan.tuned else {}
        tuned = {group: self.parameters(fold, group) for group in groups}
        return list(
            self.plan.jobs(fold, {group: parameters for group, parameters in tuned.items() if parameters is not None})
        )

    def parameters(self, fold: str, group: SweepSetting) -> dict[str, Any] | None:
        """What was tuned for a group of settings on a fold, once all trials that say so are done."""
        if (fold, group) not in self._tuned:
            trials = [job for job in self.plan.trials(fold) if job.setting == group]
            if not all(
                self.is_done(job) or job in self.failed or (self._finished and self.store.has(job)) for job in trials
            ):
                return None
            parameters = best_parameters(self.plan, [(job, self.store.result(job)) for job in trials])
            if parameters is None:
                return None
            self._tuned[fold, group] = parameters
        return self._tuned[fold, group]

    def is_done(self, job: TrainingJob) -> bool:
        """Whether a training is stored."""
        if job not in self._done and self.store.is_done(job):
            self._done.add(job)
        return job in self._done

    def give_up(self, job: TrainingJob, why: str) -> None:
        """Go on without a trial that failed."""
        self.store.write_trial(job, {"failed": why})
        self.failed.add(job)


def run(
    store: SweepStore, workers: int | None = None, on_progress: Callable[[SweepProgress], None] | None = None
) -> SweepProgress:
    """Train all that is left of a sweep whose folder is locked; what fails is noted in it, and the rest still runs."""
    count = integer("workers", cores() if workers is None else workers, 1)
    store.begin()
    crew = _Crew(store, count)
    try:
        return crew.work(on_progress or (lambda _: None))
    finally:
        crew.end()


class _Crew:
    """The processes, and what is known of their work."""

    def __init__(self, store: SweepStore, count: int) -> None:
        self._store, self._count = store, count
        self._trainings = SweepTrainings(store)
        self._workers: list[WorkerProcess] = []
        self._waiting = self._trainings.startable()
        self._seconds: list[float] = []
        done = self._trainings.count_done()
        self.progress = SweepProgress(self._trainings.total, done, done)

    def work(self, on_progress: Callable[[SweepProgress], None]) -> SweepProgress:
        while True:
            for worker in self._workers:
                if not worker.busy and self._waiting:
                    work = self._most_suitable(worker)
                    self._waiting.remove(work)
                    worker.start(work)
            starting = sum(worker.busy and worker.work is None for worker in self._workers)
            while len(self._workers) < self._count and starting < len(self._waiting):
                self._workers.append(WorkerProcess(str(self._store.folder)))
                starting += 1
            busy = [worker for worker in self._workers if worker.busy]
            self._report(on_progress, busy)
            if not busy:
                return self.progress
            for worker in wait_for_answers(busy):
                self._collect(worker)

    def end(self) -> None:
        for worker in self._workers:
            worker.end()

    def _most_suitable(self, worker: WorkerProcess) -> Work:
        """Work on the fold that the worker holds; else on one that nobody holds; else whatever waits."""
        taken = {other.fold for other in self._workers if other is not worker}

        def distance(work: Work) -> int:
            fold = work if isinstance(work, str) else work.fold
            return 0 if fold == worker.fold else 1 if fold not in taken else 2

        return min(self._waiting, key=distance)

    def _collect(self, worker: WorkerProcess) -> None:
        """Note what came of a worker's work."""
        work, answer = worker.work, worker.answer()
        if answer is None:
            answer = {"failed" if isinstance(work, TrainingJob) else "stop": worker.cause_of_death()}
            self._workers.remove(worker)
            worker.end()
        if "stop" in answer or (
            "failed" in answer and not isinstance(work, TrainingJob)
        ):  # no other work would fare better
            raise DataError(str(answer.get("stop", answer.get("failed"))))
        if isinstance(work, TrainingJob) and "failed" in answer:
            self.progress.failures.append(TrainingFailure(work, str(answer["failed"])))
            if work.trial:
                self._trainings.give_up(work, str(answer["failed"]))
        elif isinstance(work, TrainingJob):
            took = time.monotonic() - worker.began
            self._seconds.append(took)
            self.progress.done += 1
            self.progress.last.append((work.name, took))
        if isinstance(work, str):
            self._store.confirm_fold(work)
        if isinstance(work, str) or (isinstance(work, TrainingJob) and work.trial):
            self._find_startable()

    def _find_startable(self) -> None:
        """A fold was met, or a trial ended: others may start now."""
        taken = {failure.job for failure in self.progress.failures} | {
            worker.work for worker in self._workers if worker.busy
        }
        self._waiting = [work for work in self._trainings.startable() if work not in taken]
        # What a worker has stored is counted when its answer is read.
        self.progress.done = self._trainings.count_done(apart_from=taken)
        if not self._seconds:
            self.progress.resumed = self.progress.done

    def _report(self, on_progress: Callable[[SweepProgress], None], busy: Sequence[WorkerProcess]) -> None:
        self.progress.running = [worker.work.name for worker in busy if isinstance(worker.work, TrainingJob)]
        left = self.progress.total - self.progress.done - len(self.progress.failures)
        if self._seconds and busy:
            self.progress.left = left * sum(self._seconds) / len(self._seconds) / len(busy)
        on_progress(self.progress)
