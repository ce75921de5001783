"""A folder for long work: a program that is started again goes on where one that was stopped left off.

A file in it holds the settings of the work. Each finished part appears in one step (`new_folder`, `write_text`), under
a name that is a hash of everything that decides it (`content_key`): what is there is complete and fits. Named arrays
are NumPy's .npz without pickles.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.data.hashes import json_hash
from surefoot.data.reading.files import read_json
from surefoot.data.reading.limits import check_growth
from surefoot.data.writing.all_or_nothing import LOCK, lock_folder, reporting_write_errors, write_text
from surefoot.errors import MISSHAPEN_ERRORS, DataError

_KEY_DIGITS = 20  # hexadecimal digits of a part's name


def content_key(content: Any) -> str:
    """A name for what this content decides: the same for the same content, in whatever order its keys are.

    >>> content_key({"a": 1, "b": (2, 3)}) == content_key({"b": [2, 3], "a": 1})
    True
    """
    return json_hash(content, _KEY_DIGITS)


class ResumableFolder:
    """The folder of one piece of `work` (such as "sweep"), whose settings are in one of its files.

    `beside` names what may be in the folder before the work begins.
    """

    def __init__(
        self, path: str | PathLike[str], settings_file: str, work: str, *, beside: Collection[str] = ()
    ) -> None:
        self.path, self.settings_file = Path(path), Path(path) / settings_file
        self._work, self._beside = work, {LOCK, *beside}

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Make the folder, and keep other programs out of it for as long as this one works there."""
        with lock_folder(self.path, self._work):
            yield

    def resume(self) -> dict[str, Any] | None:
        """The settings of the work that was begun here, None if none was; a folder of other files is refused.

        What a killed program left unfinished is removed.
        """
        for unfinished in list(self.path.rglob(".*.part")):
            shutil.rmtree(unfinished) if unfinished.is_dir() else unfinished.unlink(missing_ok=True)
        if self.settings_file.exists():
            settings = read_json(self.settings_file)
            if not isinstance(settings, dict):
                raise DataError.at(self.settings_file, None, f"was not written by a {self._work}; choose a new folder")
            return settings
        if any(entry.name not in self._beside for entry in self.path.iterdir()):
            raise DataError.at(
                self.path, None, f"contains files that do not belong to a {self._work}; choose a new folder"
            )
        return None

    def discard(self, parts: Collection[str]) -> None:
        """Remove what the work has made here, of which `parts` are the names; files of others stay."""
        for name in (self.settings_file.name, *parts):  # the settings first: without them nothing goes on
            part = self.path / name
            shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Write the settings, all or nothing."""
        write_text(self.settings_file, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")


Arrays = Mapping[str, np.ndarray[Any, Any]]


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write the arrays, and wait until the disk has them."""
    with reporting_write_errors(path), path.open("wb") as file:
        np.savez(file, allow_pickle=False, **dict(arrays))
        file.flush()
        os.fsync(file.fileno())


def read_arrays(path: Path, remedy: str) -> Arrays:
    """The arrays of a file; `remedy` says what to do where it is broken."""
    try:
        with zipfile.ZipFile(path) as archive_file:
            size = sum(member.file_size for member in archive_file.infolist())
        check_growth(path, size)
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, EOFError, MemoryError, zipfile.BadZipFile, *MISSHAPEN_ERRORS) as error:
        raise DataError.at(path, None, f"has changed since it was written; {remedy}") from error
