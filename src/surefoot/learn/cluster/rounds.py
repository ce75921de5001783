"""The client's side: parts are placed, batches of trees grown round by round, and what goes wrong is mended or told."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.hashes import joined_fingerprints
from surefoot.errors import ArgumentError, SurefootError, SurefootWarning, listed, shortened
from surefoot.learn.cluster.libraries import dask_library
from surefoot.learn.cluster.parts import Delayed
from surefoot.learn.cluster.tracker import start_tracker, stop_tracker
from surefoot.learn.cluster.worker import TOPIC, Batch, Grown, grow, versions

Client: TypeAlias = Any
Future: TypeAlias = Any

_ATTEMPTS = 5  # at one batch, before a training is given up
_PATIENCE = 60.0  # seconds that machines may take to come back, or to notice that another one left
_LOOK = 0.25  # seconds between two looks at who is there


class MachinesLeftError(Exception):
    """Machines were lost on the way; what was grown before is not."""


@dataclass
class Machines:
    """The workers of a Dask cluster, and which parts each of them holds."""

    client: Client
    train: Sequence[Delayed]
    valid: Sequence[Delayed]
    placement: int = 0
    held: dict[str, tuple[list[Future], list[Future]]] = field(default_factory=dict)

    def place(self) -> None:
        """Hand the parts out anew to the workers that are there, to each about as many."""
        self.held = {}
        workers = self._workers()
        chosen = workers[: len(self.train)]
        self._check_versions(chosen)
        pairs = [self._computed(parts, chosen) for parts in (self.train, self.valid)]
        futures = [future for part in pairs for future in part]
        dask_library("distributed").wait(futures)
        _raise_errors(futures)
        where = self.client.who_has(futures)
        held: dict[str, tuple[list[Future], list[Future]]] = {}
        for future in pairs[0]:
            held.setdefault(_one(where[future.key]), ([], []))[0].append(future)
        if not all(where.values()):
            raise MachinesLeftError("a worker left while it read its part")
        for number, future in enumerate(pairs[1]):
            worker = _one(where[future.key])
            held.get(worker, held[sorted(held)[number % len(held)]])[1].append(future)
        self.held = dict(sorted(held.items()))
        self.placement += 1

    def round(self, batch: Batch) -> tuple[Grown, Floats | None]:
        """One batch on all machines; what the first says, and a sample of all scores where it was the last batch.

        Then it also knows by what the queries of all machines are recognised.
        """
        tracker, communicator = start_tracker(self.client, len(self.held))
        asked = replace(batch, communicator=communicator, placement=self.placement)
        futures = {
            worker: self.client.submit(
                grow, asked, f"{number:06}", *parts, workers=[worker], allow_other_workers=False, pure=False, retries=0
            )
            for number, (worker, parts) in enumerate(self.held.items())
        }
        try:
            answers = self._answers(futures)
        finally:
            stop_tracker(self.client, tracker)
            self.client.cancel(list(futures.values()), force=True)
        told = [answer for answer in answers if answer.error is not None and not answer.apart]
        if told and told[0].error is not None:
            raise told[0].error
        apart = next((answer.error for answer in answers if answer.error is not None), None)
        if apart is not None:
            raise MachinesLeftError(f"workers lost each other ({shortened(str(apart).strip().splitlines()[-1], 200)})")
        first = next(answer for answer in answers if answer.model is not None)
        samples = [answer.sample for answer in answers if answer.sample is not None]
        queries = joined_fingerprints(answer.queries for answer in answers)
        return replace(first, queries=queries), np.concatenate(samples) if samples else None

    def _answers(self, futures: dict[str, Future]) -> list[Grown]:
        """What the machines say; those that left are waited for no longer than the others need to notice."""
        since: float | None = None
        while not all(future.done() for future in futures.values()):
            gone = sorted(set(futures) - set(self._there()))
            failed = any(
                future.status in ("error", "cancelled", "lost")
                or (future.status == "finished" and future.result().error is not None)
                for future in futures.values()
                if future.done()
            )
            if gone or failed:
                since = since or time.monotonic()
                waiting = [worker for worker, future in futures.items() if not future.done() and worker not in gone]
                if not waiting or time.monotonic() - since > _PATIENCE:
                    break
            time.sleep(_LOOK)
        gone = sorted(set(futures) - set(self._there()))
        answers = [future.result() for future in futures.values() if future.status == "finished"]
        wrong = [future for future in futures.values() if future.status == "error"]
        own = [answer for answer in answers if answer.error is not None and not answer.apart]
        if not own and (gone or len(answers) < len(futures) - len(wrong)):
            raise MachinesLeftError(f"{listed(gone) or 'a worker'} left")
        if not own and wrong:
            _raise_errors(wrong)
        return answers

    def _computed(self, parts: Sequence[Delayed], workers: Sequence[str]) -> list[Future]:
        """Each part on a machine of its own as far as possible; on another where that one leaves."""
        return [
            self.client.compute(part, workers=[workers[number % len(workers)]], allow_other_workers=True, retries=2)
            for number, part in enumerate(parts)
        ]

    def _there(self) -> list[str]:
        """The workers that are there now; `scheduler_info` may forget them before it returns.

        Its answer lies in a field that the client fills anew every two seconds, without workers.
        """
        return sorted(self.client.nthreads())

    def _workers(self) -> list[str]:
        """The workers that are there, waited for a while if there are none."""
        with suppress(TimeoutError):
            self.client.wait_for_workers(1, timeout=_PATIENCE)
        found = self._there()
        if not found:
            raise ArgumentError("the Dask cluster has no worker; start some, such as with `dask worker ADDRESS`")
        return found

    def _check_versions(self, workers: Sequence[str]) -> None:
        ours = versions()
        for worker, theirs in self.client.run(versions, workers=list(workers), on_error="return").items():
            if isinstance(theirs, Exception):
                raise ArgumentError(f"worker {worker} cannot train: {shortened(str(theirs), 200)}")
            other = [f"{name} {theirs[name]} (here {ours[name]})" for name in ours if theirs[name] != ours[name]]
            if other:
                raise ArgumentError(f"worker {worker} has {listed(other)}; all machines need the same versions")


def grown(
    machines: Machines,
    batch: Batch,
    ends: Callable[[int], int],
    keep: Callable[[Grown], None],
) -> tuple[Grown, Floats]:
    """Round after round until there are no more trees to grow; a round in which machines leave is done again.

    `ends` says how many trees there are after the next round; `keep` is told of each round but the last.
    """
    attempts = 0
    while True:
        try:
            if not machines.held:
                machines.place()
            batch = replace(batch, wanted=ends(batch.grown))
            found, sample = machines.round(batch)
        except (MachinesLeftError, OSError) as error:
            attempts += 1
            if attempts >= _ATTEMPTS:
                raise SurefootError(
                    f"training failed {attempts} times in a row after {batch.grown} trees: {error}; see the workers' "
                    "own logs for why they leave (memory is the most common reason)"
                ) from error
            machines.held = {}
            _say(f"{error}, after {batch.grown} trees; going on from there with the workers that remain")
            continue
        attempts = 0
        if sample is not None:
            return found, sample
        keep(found)
        batch = replace(batch, start=found.model, state=found.state, grown=found.trees)


def gathered(client: Client, parts: Sequence[Delayed]) -> list[Any]:
    """What parts come to, here; they should be small."""
    futures = client.compute(list(parts), retries=2)
    dask_library("distributed").wait(futures)
    _raise_errors(futures)
    return list(client.gather(futures))


def listening(client: Client, fit: str, progress: Callable[[int, Any], None]) -> Callable[[], None]:
    """Hand on what the first machine tells of its trees; call what is returned to stop."""

    def heard(event: tuple[float, Any]) -> None:
        content = event[1]
        if content.get("fit") == fit:
            progress(content["trees"], content["history"])

    client.subscribe_topic(TOPIC, heard)
    return lambda: client.unsubscribe_topic(TOPIC)


def _one(workers: Sequence[str]) -> str:
    if not workers:
        raise MachinesLeftError("a worker left while it read its part")
    return sorted(workers)[0]


def _raise_errors(futures: Sequence[Future]) -> None:
    """The first error of ours that a machine met; any other as it is."""
    errors = [future.exception() for future in futures if future.status == "error"]
    for error in errors:
        if isinstance(error, SurefootError):
            raise error
    for error in errors:
        if type(error).__name__ == "KilledWorker":
            raise MachinesLeftError(f"workers die with one part of the data ({shortened(str(error), 200)})")
        if error is not None:
            raise SurefootError(f"a worker failed: {shortened(str(error), 300)}") from error


def _say(text: str) -> None:
    warnings.warn(text, SurefootWarning, stacklevel=2)
