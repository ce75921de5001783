"""A Dask cluster by what a user writes: a scheduler's address, or `local:N` for N processes here."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from surefoot.errors import ArgumentError, shortened
from surefoot.learn.cluster.libraries import dask_library
from surefoot.learn.cluster.rounds import Client
from surefoot.runtime import cores

HELP = "ADDRESS of a Dask scheduler, or local:N"
_LOCAL = re.compile(r"local:(\d{1,4})")
_REACHED_WITHIN = 20  # seconds


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
