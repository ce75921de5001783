"""Being asked to stop: files in the making are removed, and the exit code is 128 plus the signal's number."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_PATIENCE = 0.5  # seconds in which the main thread must have heard of a signal


class StoppedError(BaseException):
    """A signal asked the command to end; not an Exception, so that nothing on the way mistakes it for a failure."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Turn signals that ask to stop into `StoppedError`, for the time of a command; gives those that came.

    Everything on the way out cleans up as it does after an error. A second signal does not wait for that.

    Python tells its main thread of a signal only between two steps of its own, and one step may be a library's work of
    minutes. So a thread hears of signals too, and ends the command if the main thread has not heard in time.
    """
    if threading.current_thread() is not threading.main_thread():  # only there may handlers be set
        yield []
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
    listening, told = os.pipe()
    os.set_blocking(told, False)
    fd_before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    listener = threading.Thread(target=_listen, args=(listening, stop, received), daemon=True, name="surefoot-signals")
    listener.start()
    try:
        sys.unraisablehook = unraisable
        for number in mine:
            signal.signal(number, stop)
        yield received
    finally:
        for number in mine:
            signal.signal(number, before[number])
        sys.unraisablehook = usual
        signal.set_wakeup_fd(fd_before)
        os.close(told)  # which ends the listener
        listener.join()
        os.close(listening)


def _listen(listening: int, stop: Any, received: list[int]) -> None:
    """End the command for each signal that the main thread does not take up in time.

    A signal that somebody else handles by now, such as a service that ends its connections first, is left to them.
    """
    heard = 0
    while numbers := os.read(listening, 64):
        for number in numbers:
            if number not in _SIGNALS or signal.getsignal(number) is not stop:
                continue
            heard += 1
            patience = time.monotonic() + _PATIENCE
            while len(received) < heard and time.monotonic() < patience:
                time.sleep(0.02)
            if len(received) < heard:
                print("surefoot: interrupted", file=sys.stderr)
                _end(received[0] if received else number)


def _end(number: int) -> None:
    """End now, without waiting for anything but the removal of unfinished files."""
    files = sys.modules.get("surefoot.data.writing.all_or_nothing")
    if files is not None:
        files.remove_unfinished()
    os._exit(128 + number)
