"""One program at a time in a folder that is worked in for long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from surefoot.data.files import reason
from surefoot.errors import DataError

LOCK = ".lock"


@contextmanager
def alone_in(folder: Path, what: str) -> Iterator[None]:
    """Make the folder, and keep others out of it for as long as `what`, in a word, is done there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOCK).open("a+") as file:
            if not _locked(file):
                raise DataError.at(
                    folder, None, f"is in use: another {what} is working there; wait for it, or name another folder"
                )
            yield
    except OSError as error:
        raise DataError.at(folder, None, f"cannot hold a {what} ({reason(error)})") from error


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
