"""One program at a time in a folder that is worked in for long, or with a file that several add to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO

from surefoot.data.reading.files import reason
from surefoot.errors import DataError

LOCK = ".lock"
_SECONDS_TO_WAIT = 20.0  # seconds that a program waits for its turn with a file


@contextmanager
def lock_folder(folder: Path, what: str) -> Iterator[None]:
    """Make the folder, and keep others out of it for as long as `what`, in a word, is done there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOCK).open("a+") as file:
            if not _locked(file):
                raise DataError.at(
                    folder, None, f"is in use: another {what} is working there; wait for it, or choose another folder"
                )
            yield
    except OSError as error:
        raise DataError.at(folder, None, f"cannot be used for a {what} ({reason(error)})") from error


@contextmanager
def lock_file(path: str | PathLike[str], what: str) -> Iterator[None]:
    """Keep others from a file while it is read and written anew; wait a while for those who came first.

    The lock is a file beside it, which stays: whoever removed it could let two in at once.
    """
    lock = Path(path).with_name(f".{Path(path).name}{LOCK}")
    try:
        file = lock.open("a+")
    except (OSError, ValueError) as error:
        raise DataError.at(path, None, f"cannot be used for a {what} ({reason(error)})") from error
    with file:
        until = time.monotonic() + _SECONDS_TO_WAIT
        while not _locked(file):
            if time.monotonic() > until:
                raise DataError.at(path, None, f"is in use: another program is writing this {what}; try again later")
            time.sleep(0.05)
        yield


def _locked(file: IO[str]) -> bool:
    """Whether the file could be locked until it is closed; a program that dies lets go of it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
