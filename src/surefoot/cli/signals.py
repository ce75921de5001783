"""Being asked to stop: files in the making are removed, and the exit code is 128 plus the signal's number."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class StoppedError(BaseException):
    """A signal asked the command to end; not an Exception, so that nothing on the way mistakes it for a failure."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def stopping() -> Iterator[None]:
    """Turn signals that ask to stop into `StoppedError`, for the time of a command.

    Everything on the way out cleans up as it does after an error. A second signal does not wait for that.
    """
    if threading.current_thread() is not threading.main_thread():  # only there may handlers be set
        yield
        return
    received: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            _end(received[0])
        raise StoppedError(number)

    def unraisable(error: Any) -> None:
        # Where Python cannot raise (while it frees an object) it would print the error and go on.
        if isinstance(error.exc_value, StoppedError):
            _end(received[0])
        usual(error)

    usual = sys.unraisablehook
    # A signal that is ignored (nohup, a job in the background) stays so.
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    mine = [number for number, handler in before.items() if handler in (signal.SIG_DFL, signal.default_int_handler)]
    try:
        sys.unraisablehook = unraisable
        for number in mine:
            signal.signal(number, stop)
        yield
    finally:
        for number in mine:
            signal.signal(number, before[number])
        sys.unraisablehook = usual


def _end(number: int) -> None:
    """End now, without waiting for anything but the removal of unfinished files."""
    files = sys.modules.get("surefoot.data.writing.all_or_nothing")
    if files is not None:
        files.remove_unfinished()
    os._exit(128 + number)
