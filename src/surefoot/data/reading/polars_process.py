"""What Polars needs of the process, and does to it: threads, and messages on the standard error stream.

A forked child has only the thread that forked, and Polars would wait for ever. A child whose parent had not used its
threads yet starts its own. Otherwise text is read line by line, in Python, and what only Polars can do is rejected at
once. There is no way to learn of it from Polars, so the threads' names tell.

A library in another language, such as Polars' reader of Parquet, writes to file descriptor 2 by itself: it tells where
it gave up beside the message that names the user's file. The command line writes to a copy of that descriptor, so that
the descriptor itself can lead nowhere for a while, and no message of ours, from whatever thread, is lost. A Python
program that uses surefoot keeps its streams as they are.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError

_POLARS = re.compile(r"polars-\d|async-executor|tokio")
_threads = {"used": False, "lost": False}


def threads_lost() -> bool:
    """Whether this process is a forked child that has lost Polars' threads."""
    return _threads["lost"]


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
        _threads["used"] = any(_POLARS.match((task / "comm").read_text()) for task in tasks.iterdir())
    except OSError:  # not Linux, or a thread that ended just now
        _threads["used"] = True


def _in_child() -> None:
    _threads["lost"] = _threads["lost"] or _threads["used"]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)


_LOCK = threading.Lock()
_messages: dict[str, Any] = {"kept": False, "inside": 0}
_STDERR = 2


@contextmanager
def own_messages() -> Iterator[None]:
    """Give `sys.stderr` a descriptor of its own, if it is the process's, until the end of a command."""
    before, copy = sys.stderr, None
    with suppress(OSError, ValueError, AttributeError):
        if before.fileno() == _STDERR:
            before.flush()
            copy = os.fdopen(
                os.dup(_STDERR), "w", buffering=1, encoding=before.encoding, errors=before.errors or "backslashreplace"
            )
    if copy is None:
        yield
        return
    sys.stderr = copy
    _messages["kept"] = True
    try:
        yield
    finally:
        _messages["kept"] = False
        if _messages["inside"]:
            _messages["inside"] = 1
            _leave()
        sys.stderr = before
        with suppress(OSError, ValueError):
            copy.close()


@contextmanager
def without_native_messages() -> Iterator[None]:
    """While this lasts, in any thread, what other languages' libraries write to the standard error stream is lost.

    Where it ends by an error, that stays so until the command ends.
    """
    if not _messages["kept"]:
        yield
        return
    _enter()
    yield
    _leave()  # not where reading failed: a library's other threads may tell of it later


def _enter() -> None:
    with _LOCK:
        if not _messages["inside"]:
            _messages["saved"] = os.dup(_STDERR)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, _STDERR)
            os.close(nowhere)
        _messages["inside"] += 1


def _leave() -> None:
    with _LOCK:
        _messages["inside"] -= 1
        if not _messages["inside"]:
            os.dup2(_messages["saved"], _STDERR)
            os.close(_messages["saved"])
