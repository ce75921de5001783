"""A Dask cluster by what a user writes, and XGBoost's tracker there, through which its machines find each other.

The tracker runs where the scheduler does, which all can reach.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from surefoot.errors import ArgumentError, shortened
from surefoot.learn.cluster import dask_library
from surefoot.runtime import cores

Client: TypeAlias = Any

HELP = "ADDRESS of a Dask scheduler, or local:N"
_LOCAL = re.compile(r"local:(\d{1,4})")
_REACHED_WITHIN = 20  # seconds
_running: dict[str, Any] = {}


@contextmanager
def cluster(text: str) -> Iterator[Client]:
    """A client of the cluster, which is closed afterwards; one that is local ends then too."""
    distributed = dask_library("distributed")
    local = _LOCAL.fullmatch(text)
    if local:
        workers = int(local[1])
        if not workers:
            raise ArgumentError(f"--dask {text} means no workers; write local:2")
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=max(1, cores() // workers), processes=True,
                dashboard_address=":0", silence_logs=logging.CRITICAL,  # the training itself reports what matters
            ) as started,
            distributed.Client(started) as client,
        ):  # fmt: skip
            yield client
        return
    if not re.fullmatch(r"(\w+://)?[^/\s:]+:\d{1,5}|inproc://.+", text):
        raise ArgumentError(f"--dask is {shortened(text)}; it must be {HELP}, such as tcp://10.0.0.5:8786")
    try:
        client = distributed.Client(text, timeout=_REACHED_WITHIN)
    except (OSError, TimeoutError, ValueError) as error:
        raise ArgumentError(
            f"no Dask scheduler answers at {text} ({shortened(str(error), 200)}); is it running, and can this machine "
            "reach its port?"
        ) from error
    with client:
        yield client


def start_tracker(client: Client, machines: int) -> tuple[str, dict[str, Any]]:
    """A tracker for one round, by name, and what each machine must be told to join it."""
    host = urlsplit(client.scheduler_info(n_workers=0)["address"]).hostname
    name = uuid.uuid4().hex
    return name, client.run_on_scheduler(_start, name, machines, host)


def stop_tracker(client: Client, name: str) -> None:
    """Let go of a tracker, whether its machines came to an end or not."""
    with suppress(OSError, TimeoutError):
        client.run_on_scheduler(_stop, name)


def _start(name: str, machines: int, host: str) -> dict[str, Any]:
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=machines, host_ip=host, sortby="task")
    tracker.start()
    _running[name] = tracker
    return dict(tracker.worker_args())


def _stop(name: str) -> None:
    tracker = _running.pop(name, None)
    with suppress(Exception):  # it complains of machines that left, which is known
        tracker.free()
