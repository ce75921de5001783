"""Files out: compression by file ending, writes that never leave half a file, and one writer at a time.

A lock keeps a second program out of a folder that is worked in for long, or away from a file that several add to.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, BinaryIO

from surefoot.data.reading.files import COMPRESS, OPENERS, file_status, reason, resolve_links
from surefoot.errors import DataError

_UNFINISHED: set[Path] = set()  # what is being written beside its target

FINISHED: set[Path] = set()  # what was written since a command began


def destination(path: str | os.PathLike[str]) -> Path:
    """Where a file written to `path` will stand, links followed, if it can be written there."""
    try:
        status = file_status(path)
        if status is None or stat.S_ISREG(status.st_mode):
            target = resolve_links(path)
            _check_folder(target.parent)
        elif stat.S_ISDIR(status.st_mode):
            raise OSError("it is a folder; choose a file")
        else:
            target = Path(path)  # a pipe or device stays what it is and where it is
        if status is not None and not os.access(target, os.W_OK):
            raise OSError("its file permissions do not allow it")
    except (OSError, ValueError) as error:
        raise DataError.at(path, None, f"cannot be written ({reason(error)})") from error
    return target


def destination_folder(path: str | os.PathLike[str]) -> Path:
    """The folder that will be at `path`, if it is there or can be made, and can be written to."""
    try:
        target = resolve_links(path)
        _check_folder(next(folder for folder in (target, *target.parents) if file_status(folder) is not None))
    except (OSError, ValueError) as error:
        raise DataError.at(path, None, f"cannot be made ({reason(error)})") from error
    return target


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise OSError(f"{folder} is not a folder" if file_status(folder) else f"there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OSError(f"the folder {folder} cannot be written to")


@contextmanager
def ensure_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The folder at `path`, made where there is none, and taken away again if what should go into it fails."""
    folder = Path(path)
    new_folders: list[Path] = []
    try:
        for parent in (*reversed(folder.parents), folder):
            if not parent.is_dir():
                parent.mkdir(exist_ok=True)
                new_folders.append(parent)
    except (OSError, ValueError) as error:
        _remove_empty(new_folders)
        raise DataError.at(path, None, f"cannot be made ({reason(error)})") from error
    try:
        yield folder
    except BaseException:
        _remove_empty(new_folders)
        raise


def _remove_empty(folders: list[Path]) -> None:
    with suppress(OSError):
        for folder in reversed(folders):
            if [entry.name for entry in folder.iterdir()] == [LOCK]:
                (folder / LOCK).unlink()
            folder.rmdir()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path that takes the place of `path` once all was written, and vanishes otherwise.

    It stands beside the file that links lead to, whose mode it takes on. A pipe or device is given itself.
    """
    target = destination(path)
    status = file_status(target)
    with reporting_write_errors(path):
        if status is not None and not stat.S_ISREG(status.st_mode):
            yield target
            FINISHED.add(target)
            return
        with temporary_path(target) as temporary:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            yield temporary
            temporary.chmod(stat.S_IMODE(status.st_mode) if status else 0o666 & ~_umask())
            temporary.replace(target)
            FINISHED.add(target)


@contextmanager
def reporting_write_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """While something is written at `path`: what the system refuses becomes an error that names it."""
    try:
        yield
    except Exception as error:
        # Polars has an error of its own for what the system refuses, such as a full disk.
        if not isinstance(error, OSError) and "(os error " not in str(error):
            raise
        raise DataError.at(path, None, f"cannot be written ({reason(error)})") from error


@contextmanager
def temporary_path(target: Path) -> Iterator[Path]:
    """A free name beside `target` for an unfinished file or folder; what has this name at the end is removed."""
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.part")
    # Known before it is made: an interrupt at any moment finds it, or finds nothing to remove.
    _UNFINISHED.add(temporary)
    try:
        yield temporary
    finally:
        _remove(temporary)
        _UNFINISHED.discard(temporary)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder that appears at `target` once it is complete; one that is there by then stays."""
    with reporting_write_errors(target), temporary_path(target) as temporary:
        temporary.mkdir()
        yield temporary
        if not target.exists():
            temporary.rename(target)


def remove_unfinished() -> None:
    """Remove all that is not finished: for a program that has to end at once."""
    for temporary in tuple(_UNFINISHED):
        _remove(temporary)


def _remove(path: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write bytes to in pieces, compressed by the ending of `path`, whose place it takes at the end."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        compress = OPENERS.get(Path(path).suffix.lower())
        if compress:
            with compress(file, "wb") as compressed:
                yield compressed
        else:
            yield file


def write_bytes(path: str | os.PathLike[str], data: bytes, *, durable: bool = False) -> None:
    """Write the bytes, compressed by the file's ending, all or nothing; if `durable`, even if the power fails."""
    compress = COMPRESS.get(Path(path).suffix.lower())
    with replacing(path) as temporary:
        temporary.write_bytes(compress(data) if compress else data)
        if durable:
            _flush_to_disk(temporary)
    if durable:
        with suppress(OSError):  # not every system can flush a folder's list of files
            _flush_to_disk(destination(path).parent)


def write_text(path: str | os.PathLike[str], text: str, *, durable: bool = False) -> None:
    """Write text as UTF-8, all or nothing."""
    write_bytes(path, text.encode(), durable=durable)


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    # The only way to read the umask is to set it; a file in the making is private.
    mask = os.umask(0)
    os.umask(mask)
    return mask


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
