"""A folder of files as many systems."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.data.reading.files import reason, system_name
from surefoot.errors import DataError


def files_in(folder: str | os.PathLike[str]) -> list[tuple[str, Path]]:
    """The files of a folder and of those in it, by name, each with the name that its system has.

    A file's system has the file's name without its endings, in a folder within with that folder's before it. What is
    hidden is left out.
    """
    root = Path(folder)
    try:
        paths = sorted(path for path in root.rglob("*") if path.is_file())
    except OSError as error:
        raise DataError.at(folder, None, f"cannot be read ({reason(error)})") from error
    files = []
    for path in paths:
        within = path.relative_to(root)
        if not any(part.startswith(".") for part in within.parts):
            files.append((str(within.parent / system_name(within)), path))
    if not files:
        raise DataError.at(folder, None, "the folder has no files; expected one file per system")
    names = [name for name, _ in files]
    for name, path in files:
        if names.count(name) > 1:
            raise DataError.at(
                path, None, f"two files of the folder {folder} belong to the system {name!r}; keep one, or rename one"
            )
    return files
