"""Named arrays in a file, as NumPy's .npz without pickles."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.data.reading.limits import check_growth
from surefoot.data.writing.all_or_nothing import reporting_write_errors
from surefoot.errors import MISSHAPEN_ERRORS, DataError

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
