"""The client's side: parts are placed, batches of trees grown round by round, failures repeated or reported."""

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
from surefoot.errors import ArgumentError, SurefootError, SurefootWarning, name_list, shortened
from surefoot.learn.cluster import dask_library
from surefoot.learn.cluster.clusters import Client, start_tracker, stop_tracker
from surefoot.learn.cluster.parts import Delayed
from surefoot.learn.cluster.worker import TOPIC, BatchResult, TreeBatch, grow, versions

Future: TypeAlias = Any

_MOST_ATTEMPTS = 5  # at one batch, before a training is given up
_SECONDS_FOR_WORKERS = 60.0  # seconds that machines may take to come back, or to notice that another one left
_POLL_SECONDS = 0.25  # seconds between two looks at who is there


class MachinesLeftError(Exception):
    """Machines were lost on the way; what was grown before is not."""


@dataclass
class Machines:
    """The workers of a Dask cluster, and which parts each of them holds."""

    client: Client
    train: Sequence[Delayed]
    valid: Sequence[Delayed]
    placement: int = 0
    assigned: dict[str, tuple[list[Future], list[Future]]] = field(default_factory=dict)  # training, validation

    def place(self) -> None:
        """Hand the parts out anew to the workers that are there, to each about as many."""
        self.assigned = {}
        workers = self._workers()
        chosen = workers[: len(self.train)]
        self._check_versions(chosen)
        pairs = [self._computed(parts, chosen) for parts in (self.train, self.valid)]
        futures = [future for part in pairs for future in part]
        dask_library("distributed").wait(futures)
        _raise_errors(futures)
        where = self.client.who_has(futures)
        assigned: dict[str, tuple[list[Future], list[Future]]] = {}
        for future in pairs[0]:
            assigned.setdefault(_first_worker(where[future.key]), ([], []))[0].append(future)
        if not all(where.values()):
            raise MachinesLeftError("a worker stopped while it read its part")
        for number, future in enumerate(pairs[1]):
            worker = _first_worker(where[future.key])
            assigned.get(worker, assigned[sorted(assigned)[number % len(assigned)]])[1].append(future)
        self.assigned = dict(sorted(assigned.items()))
        self.placement += 1

    def round(self, batch: TreeBatch) -> tuple[BatchResult, Floats | None]:
        """One batch on all machines: the first one's result, and after the last batch a sample of all scores.

        Then the result also has the hashes of all machines' queries.
        """
        tracker, communicator = start_tracker(self.client, len(self.assigned))
        request = replace(batch, communicator=communicator, placement=self.placement)
        futures = {
            worker: self.client.submit(
                grow,
                request,
                f"{number:06}",
                *parts,
                workers=[worker],
                allow_other_workers=False,
                pure=False,
                retries=0,
            )
            for number, (worker, parts) in enumerate(self.assigned.items())
        }
        try:
            results = self._results(futures)
        finally:
            stop_tracker(self.client, tracker)
            self.client.cancel(list(futures.values()), force=True)
        for result in results:
            if result.error is not None and not result.lost_contact:
                raise result.error
        error = next((result.error for result in results if result.error is not None), None)
        if error is not None:
            raise MachinesLeftError(
                f"workers lost their connection ({shortened(str(error).strip().splitlines()[-1], 200)})"
            )
        first = next(result for result in results if result.model is not None)
        samples = [result.sample for result in results if result.sample is not None]
        fingerprints = joined_fingerprints(result.training_fingerprints for result in results)
        return replace(first, training_fingerprints=fingerprints), np.concatenate(samples) if samples else None

    def _results(self, futures: dict[str, Future]) -> list[BatchResult]:
        """The machines' results; those that left are waited for no longer than the others need to notice."""
        since: float | None = None
        unaware: list[str] = []
        while not all(future.done() for future in futures.values()):
            gone = sorted(set(futures) - set(self._present_workers()))
            failed = any(
                future.status in ("error", "cancelled", "lost")
                or (future.status == "finished" and future.result().error is not None)
                for future in futures.values()
                if future.done()
            )
            if gone or failed:
                since = since or time.monotonic()
                waiting = [worker for worker, future in futures.items() if not future.done() and worker not in gone]
                if not waiting or time.monotonic() - since > _SECONDS_FOR_WORKERS:
                    unaware = waiting
                    break
            time.sleep(_POLL_SECONDS)
        gone = sorted(set(futures) - set(self._present_workers()))
        results = [future.result() for future in futures.values() if future.status == "finished"]
        failures = [future for future in futures.values() if future.status == "error"]
        own_error = any(result.error is not None and not result.lost_contact for result in results)
        if unaware:
            self.client.cancel([futures[worker] for worker in unaware], force=True)
            self._restart(unaware)
        if not own_error and (gone or len(results) < len(futures) - len(failures)):
            raise MachinesLeftError(f"{name_list(gone) or 'a worker'} stopped")
        if not own_error and failures:
            _raise_errors(failures)
        return results

    def _restart(self, workers: Sequence[str]) -> None:
        """Start workers anew that did not notice that another one left, or remove them where nothing can.

        Their thread may wait in XGBoost for ever, and would never read a part again.
        """
        _warn(f"{name_list(workers)} did not notice that a worker stopped; restarted")
        self.client.restart_workers(list(workers), timeout=_SECONDS_FOR_WORKERS, raise_for_error=False)

    def _computed(self, parts: Sequence[Delayed], workers: Sequence[str]) -> list[Future]:
        """Each part on a machine of its own as far as possible; on another where that one leaves."""
        return [
            self.client.compute(part, workers=[workers[number % len(workers)]], allow_other_workers=True, retries=2)
            for number, part in enumerate(parts)
        ]

    def _present_workers(self) -> list[str]:
        """The workers that are there now; `scheduler_info` may forget them before it returns.

        Its answer lies in a field that the client fills anew every two seconds, without workers.
        """
        return sorted(self.client.nthreads())

    def _workers(self) -> list[str]:
        """The workers that are there, waited for a while if there are none."""
        with suppress(TimeoutError):
            self.client.wait_for_workers(1, timeout=_SECONDS_FOR_WORKERS)
        workers = self._present_workers()
        if not workers:
            raise ArgumentError("the Dask cluster has no worker; start some, for example with `dask worker ADDRESS`")
        return workers

    def _check_versions(self, workers: Sequence[str]) -> None:
        ours = versions()
        for worker, theirs in self.client.run(versions, workers=list(workers), on_error="return").items():
            if isinstance(theirs, Exception):
                raise ArgumentError(f"worker {worker} cannot train: {shortened(str(theirs), 200)}")
            other = [f"{name} {theirs[name]} (here {ours[name]})" for name in ours if theirs[name] != ours[name]]
            if other:
                raise ArgumentError(f"worker {worker} has {name_list(other)}; all machines need the same versions")


def grow_in_rounds(
    machines: Machines,
    batch: TreeBatch,
    next_end: Callable[[int], int],
    after_round: Callable[[BatchResult], None],
) -> tuple[BatchResult, Floats]:
    """Round after round until there are no more trees to grow; a round in which machines leave is done again.

    `next_end` gives the number of trees after the next round; `after_round` is called after each round but the last.
    """
    attempts = 0
    while True:
        try:
            if not machines.assigned:
                machines.place()
            batch = replace(batch, until=next_end(batch.grown))
            result, sample = machines.round(batch)
        except (MachinesLeftError, OSError) as error:
            attempts += 1
            if attempts >= _MOST_ATTEMPTS:
                raise SurefootError(
                    f"training failed {attempts} times in a row after {batch.grown} trees: {error}; the logs of the "
                    "workers say why they stop (usually they need more memory)"
                ) from error
            machines.assigned = {}
            _warn(f"{error}, after {batch.grown} trees; training continues from there with the other workers")
            continue
        attempts = 0
        if sample is not None:
            return result, sample
        after_round(result)
        batch = replace(batch, model=result.model, state=result.state, grown=result.trees)


def gather_parts(client: Client, parts: Sequence[Delayed]) -> list[Any]:
    """The computed parts, on this machine; they should be small."""
    futures = client.compute(list(parts), retries=2)
    dask_library("distributed").wait(futures)
    _raise_errors(futures)
    return list(client.gather(futures))


def subscribe_progress(client: Client, training_id: str, progress: Callable[[int, Any], None]) -> Callable[[], None]:
    """Call `progress` with what the first machine reports of its trees; the function that is returned ends it."""

    def on_event(event: tuple[float, Any]) -> None:
        content = event[1]
        if content.get("fit") == training_id:
            progress(content["trees"], content["history"])

    client.subscribe_topic(TOPIC, on_event)
    return lambda: client.unsubscribe_topic(TOPIC)


def _first_worker(workers: Sequence[str]) -> str:
    if not workers:
        raise MachinesLeftError("a worker stopped while it read its part")
    return sorted(workers)[0]


def _raise_errors(futures: Sequence[Future]) -> None:
    """The first error of ours that a machine met; any other as it is."""
    errors = [future.exception() for future in futures if future.status == "error"]
    for error in errors:
        if isinstance(error, SurefootError):
            raise error
    for error in errors:
        if type(error).__name__ == "KilledWorker":
            raise MachinesLeftError(f"workers stop at one part of the data ({shortened(str(error), 200)})")
        if error is not None:
            raise SurefootError(f"a worker failed: {shortened(str(error), 300)}") from error


def _warn(text: str) -> None:
    warnings.warn(text, SurefootWarning, stacklevel=2)
