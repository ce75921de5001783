"""A log's files before a backend reads them: complete, UTF-8, and whether the last line is finished."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from surefoot.data.reading.files import BYTE_ORDER_MARK, existing_file, read_blocks, utf8_line
from surefoot.data.reading.limits import LONGEST_LINE
from surefoot.data.reading.parquet import check_parquet
from surefoot.errors import DataError
from surefoot.progress import busy

_BLOCK = 1 << 22
_BACKENDS_READ = ("", ".gz", ".zst")
_COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
_SEPARATORS = (b"\x00", b"\x01", b"\x02")  # backends are told that these separate columns and mean null


@dataclass(frozen=True)
class LogFile:
    """A file of a log: its path, a hash of what it holds, and its last line where that has no end."""

    path: Path
    digest: str
    unfinished: str | None = None


def check_file(path: str | os.PathLike[str], *, text: bool = True) -> LogFile:
    """Read a file once from end to end; one that is broken, empty or no text is rejected, with the line.

    Of a Parquet file (not `text`) the skeleton is checked, and it is hashed.
    """
    target = existing_file(path)
    if not text:
        check_parquet(target)
    ending = target.suffix.lower()
    if ending in _COMPRESSED and ending not in _BACKENDS_READ:
        raise DataError.at(path, None, f"logs are not read from {ending}; decompress it, or compress it as .gz or .zst")
    digest = hashlib.blake2b(digest_size=16)
    line, last = 1, b"\n"
    with busy(f"Looking through {target.name}"):
        for block in read_blocks(target, _BLOCK, LONGEST_LINE if text else None):
            digest.update(block)
            if text:
                _check(target, block, line)
            line, last = line + block.count(b"\n"), block
    if line == 1 and last == b"\n":
        raise DataError.at(path, None, "is empty; expected a click log")
    unfinished = None if not text or last.endswith(b"\n") else last.rpartition(b"\n")[2].decode().rstrip("\r")
    return LogFile(target, digest.hexdigest(), unfinished)


def _check(path: Path, block: bytes, first: int) -> None:
    """Reject what a backend would read in another way than it was meant."""
    try:
        block.decode()
    except UnicodeDecodeError as error:
        _reject(path, block, first, error.start)
    for character in _SEPARATORS:
        if character in block:
            _reject(path, block, first, block.index(character))
    if first == 1 and block.startswith(BYTE_ORDER_MARK):
        raise DataError.at(path, 1, "starts with a byte order mark; write the log without it")
    if block.count(b"\r") != block.count(b"\r\n"):
        raise DataError.at(path, None, "contains carriage returns within lines; end each line with a line feed")


def _reject(path: Path, block: bytes, first: int, position: int) -> None:
    before = block.count(b"\n", 0, position)
    start = block.rfind(b"\n", 0, position) + 1
    utf8_line(path, first + before, block[start:].partition(b"\n")[0])
    raise DataError.at(
        path, first + before, f"contains the control character {block[position : position + 1]!r}; is it a log?"
    )
