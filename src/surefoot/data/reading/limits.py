"""What a file may become: bounds that hold for every reader, so that a small file cannot fill the memory.

A file that becomes more than 200 times as large when it is read, and more than `max_input` bytes, is refused before it
has. That is 1 GB; `--max-input`, or `set_max_input` in Python, allows more. No line is longer than 64 MB.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path

from surefoot.errors import ArgumentError, DataError, shortened

LONGEST_LINE = 64 << 20
_GROWTH = 200
_DEFAULT = 1 << 30
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"([0-9]{1,15}) ?([KMGT]?)I?B?", re.IGNORECASE)
_allowed = {"bytes": _DEFAULT}


def set_max_input(size: int | str | None) -> None:
    """Allow a file to become as large as this, in bytes or as in "4GB", whatever its own size; None: 1 GB again.

    >>> set_max_input("4GB")
    >>> most_bytes(0) == 4 << 30
    True
    >>> set_max_input(None)
    """
    _allowed["bytes"] = _DEFAULT if size is None else parse_size(size)


def parse_size(size: int | str) -> int:
    """A number of bytes, written with a unit or without.

    >>> parse_size("1.5 GB")
    Traceback (most recent call last):
    ...
    surefoot.errors.ArgumentError: max-input is '1.5 GB'; write a size as in 500MB or 4GB
    """
    match = _SIZE.fullmatch(str(size).strip())
    if match is None or isinstance(size, bool) or not int(match[1]):
        raise ArgumentError(f"max-input is {shortened(size)}; write a size as in 500MB or 4GB")
    return int(match[1]) * _UNITS[match[2].upper()]


def most_bytes(stored: int) -> int:
    """How many bytes a file of this size may become."""
    return max(_allowed["bytes"], _GROWTH * stored)


def stored_bytes(path: Path) -> int:
    """The size of a file; 0 of a pipe, which has none before it was read."""
    status = path.stat()
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def check_growth(path: Path, size: int) -> None:
    """Refuse a file that would become this many bytes."""
    stored = stored_bytes(path)
    if size > most_bytes(stored):
        raise too_large(path, stored, size)


def too_large(path: Path, stored: int, size: int) -> DataError:
    """The error where a file becomes this large, or larger."""
    of_size = f"from {stored:,} bytes " if stored else ""
    return DataError.at(
        path, None, f"would grow {of_size}to {size:,} or more when it is read, which is refused (at most {_GROWTH} × "
        f"the file, or {_allowed['bytes'] / 1e9:.3g} GB); if the file is yours, allow more with --max-input, as in "
        "--max-input 4GB (in Python: surefoot.data.reading.limits.set_max_input)",
    )  # fmt: skip
