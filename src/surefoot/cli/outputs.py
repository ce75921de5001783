"""Where a command's output goes, checked before any work: nothing is overwritten unasked, and all can be written."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from surefoot.errors import ArgumentError


def check_outputs(
    outputs: Mapping[str, str | None], inputs: Iterable[str], folders: Mapping[str, str | None] | None = None
) -> None:
    """Refuse, before anything is read, files and folders that cannot be written, are an input, or are named twice.

    `outputs` and `folders` have an option's name for each path, None where it was not given.
    """
    from surefoot.data.files import destination, destination_folder

    read = {_identity(path): path for path in inputs}
    taken: dict[object, str] = {}
    for given, check in ((outputs, destination), (folders or {}, destination_folder)):
        for option, path in given.items():
            if path is None:
                continue
            if not path:
                raise ArgumentError(f"{option} names no file; give it a name")
            check(path)
            identity = _identity(path)
            if identity is None:  # a pipe or device takes what it is given
                continue
            if identity in read:
                raise ArgumentError(f"{option} would overwrite {read[identity]}, which is read; name another file")
            if identity in taken:
                raise ArgumentError(f"{taken[identity]} and {option} would both be written to {path}; name two files")
            taken[identity] = option


def _identity(path: str) -> object:
    """The same for all names of one file or folder; None for what is neither."""
    from surefoot.data.files import state

    found = state(path)
    if found is not None:
        whole = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        return (found.st_dev, found.st_ino) if whole else None
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        return path
