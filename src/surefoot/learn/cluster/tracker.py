"""XGBoost's tracker, through which machines find each other; it runs where the scheduler does, which all can reach."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

_running: dict[str, Any] = {}


def start_tracker(client: Any, machines: int) -> tuple[str, dict[str, Any]]:
    """A tracker for one round, by name, and what each machine must be told to join it."""
    host = urlsplit(client.scheduler_info(n_workers=0)["address"]).hostname
    name = uuid.uuid4().hex
    return name, client.run_on_scheduler(_start, name, machines, host)


def stop_tracker(client: Any, name: str) -> None:
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
