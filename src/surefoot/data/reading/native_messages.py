"""The standard error stream of the command line, kept for our own messages while a library reads what is damaged.

A library in another language, such as Polars' reader of Parquet, writes to file descriptor 2 by itself: it tells where
it gave up beside the message that names the user's file. The command line writes to a copy of that descriptor, so that
the descriptor itself can lead nowhere for a while, and no message of ours, from whatever thread, is lost. A Python
program that uses surefoot keeps its streams as they are.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_LOCK = threading.Lock()
_state: dict[str, Any] = {"kept": False, "inside": 0}
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
    _state["kept"] = True
    try:
        yield
    finally:
        _state["kept"] = False
        if _state["inside"]:
            _state["inside"] = 1
            _leave()
        sys.stderr = before
        with suppress(OSError, ValueError):
            copy.close()


@contextmanager
def without_native_messages() -> Iterator[None]:
    """While this lasts, in any thread, what other languages' libraries write to the standard error stream is lost.

    Where it ends by an error, that stays so until the command ends.
    """
    if not _state["kept"]:
        yield
        return
    _enter()
    yield
    _leave()  # not where reading failed: a library's other threads may tell of it later


def _enter() -> None:
    with _LOCK:
        if not _state["inside"]:
            _state["saved"] = os.dup(_STDERR)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, _STDERR)
            os.close(nowhere)
        _state["inside"] += 1


def _leave() -> None:
    with _LOCK:
        _state["inside"] -= 1
        if not _state["inside"]:
            os.dup2(_state["saved"], _STDERR)
            os.close(_state["saved"])
