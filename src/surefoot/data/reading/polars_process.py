"""Whether Polars' threads are here: a forked child has only the thread that forked, and Polars would wait for ever.

A child whose parent had not used them yet starts its own. Otherwise text is read line by line, in Python, and
what only Polars can do is rejected at once. There is no way to learn of it from Polars, so the threads' names tell.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from surefoot.errors import SurefootError

_POLARS = re.compile(r"polars-\d|async-executor|tokio")
_state = {"used": False, "lost": False}


def threads_lost() -> bool:
    """Whether this process is a forked child that has lost Polars' threads."""
    return _state["lost"]


def refuse_in_fork(what: str) -> None:
    """An error, in such a child, instead of waiting for ever."""
    if threads_lost():
        raise SurefootError(
            f"{what} needs threads, but this process was forked from a process that already used them, so they are "
            "lost; "
            'start processes with multiprocessing.get_context("spawn") (or "forkserver")'
        )


def _before_fork() -> None:
    tasks = Path("/proc/self/task")
    try:
        _state["used"] = any(_POLARS.match((task / "comm").read_text()) for task in tasks.iterdir())
    except OSError:  # not Linux, or a thread that ended just now
        _state["used"] = True


def _in_child() -> None:
    _state["lost"] = _state["lost"] or _state["used"]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
