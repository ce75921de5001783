"""A log's files, the layout that they have, and their lists and clicks.

`LAYOUTS` is the table of layouts: a new one is a module beside this and a line there (docs/extend/log-layout.md).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from surefoot.clicks.backends import Backend
from surefoot.clicks.layouts import metarank, table, ubi, yandex
from surefoot.clicks.layouts.layout import LogFile, LogLayout, ReadingSettings
from surefoot.clicks.log import Log, merge_logs, without_mixed_sessions
from surefoot.data.reading.files import BYTE_ORDER_MARK, existing_file, read_blocks, text_lines, utf8_line
from surefoot.data.reading.limits import LONGEST_LINE
from surefoot.data.reading.parquet import check_parquet
from surefoot.errors import ArgumentError, DataError, did_you_mean, name_list, shortened
from surefoot.progress import busy

LAYOUTS = {
    layout.name: layout
    for layout in (yandex.YANDEX_2012, yandex.YANDEX_2014, ubi.LAYOUT, metarank.LAYOUT, table.LAYOUT)
}
_FIRST = 1 << 16  # bytes of a file in which its first line is looked for
_BLOCK = 1 << 22
_NOT_READ = (".bz2", ".xz")  # by backends, which decompress others themselves
_SEPARATORS = (b"\x00", b"\x01", b"\x02")  # backends are told that these separate columns and mean null


def guess_layout(path: str | os.PathLike[str]) -> str:
    """The name of the layout of a log, by its files' names and its first line."""
    target = Path(path)
    files = _files_in(target) if target.is_dir() else [target]
    for layout in LAYOUTS.values():
        if target.is_dir() and layout.files and _named(files, layout.files[0]):
            return layout.name
    file = files[0]
    for layout in LAYOUTS.values():
        if file.suffix.lower() in layout.endings:
            return layout.name
    lines = (line for line in text_lines(file, _FIRST) if line.strip())
    first = next(lines, b"").decode("utf-8", "replace").strip()
    for layout in LAYOUTS.values():
        if layout.recognizes(first):
            return layout.name
    raise DataError.at(
        file, 1, f"the first line {shortened(first)} does not match any known layout; choose the layout with --layout: "
        f"{', '.join(LAYOUTS)}"
    )  # fmt: skip


def checked_files(path: str | os.PathLike[str], layout_name: str) -> list[LogFile]:
    """The files of a log, each read once from end to end."""
    layout = find_layout(layout_name)
    return [check_file(file, text=file.suffix.lower() != ".parquet") for file in _log_files(Path(path), layout)]


def read(backend: Backend, files: Sequence[LogFile], settings: ReadingSettings) -> Log:
    """A log's lists and clicks."""
    layout = find_layout(settings.layout)
    groups = [files] if layout.files else [[file] for file in files]
    log = merge_logs([layout.read(backend, group, settings) for group in groups])
    one_user = layout.one_user_per_session and len(groups) == 1  # in one file; two may have the same sessions
    return log if one_user else without_mixed_sessions(log)


def _log_files(path: Path, layout: LogLayout) -> list[Path]:
    """The file itself, or those of a folder: in the layout's order, or in order of their names."""
    if not layout.files:
        return _files_in(path) if path.is_dir() else [path]
    expected = " and ".join(f"{Path(name).stem}…" for name in layout.files)
    if not path.is_dir():
        raise DataError.at(path, None, f"a log in layout {layout.name} is a folder with {expected}; give that folder")
    files = _files_in(path)
    named = [_named(files, name) for name in layout.files]
    several = next((matches for matches in named if len(matches) > 1), None)
    if several is not None:
        names = name_list([match.name for match in several])
        raise DataError.at(
            path, None, f"has {names}, and a log in layout {layout.name} has one such file; make one file of them, or "
            "move the others away"
        )  # fmt: skip
    if not all(named):
        raise DataError.at(
            path, None, f"expected files with names {expected} here, because the layout is {layout.name}"
        )
    return [matches[0] for matches in named]


def _files_in(folder: Path) -> list[Path]:
    files = sorted(entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith("."))
    if not files:
        raise DataError.at(folder, None, "this folder has no files; expected the files of a click log")
    return files


def _named(files: Sequence[Path], name: str) -> list[Path]:
    """Files of that name, whatever their ending."""
    return [file for file in files if file.name.startswith(Path(name).stem)]


def find_layout(name: str) -> LogLayout:
    """The layout of this name."""
    if name not in LAYOUTS:
        raise ArgumentError(
            f"there is no layout {shortened(name)}{did_you_mean(name, LAYOUTS) or '.'} Choose one of: "
            f"{', '.join(LAYOUTS)}"
        )
    return LAYOUTS[name]


def check_file(path: str | os.PathLike[str], *, text: bool = True) -> LogFile:
    """Read a file once from end to end; one that is broken, empty or no text is rejected, with the line.

    Of a Parquet file (not `text`) the skeleton is checked, and it is hashed.
    """
    target = existing_file(path)
    if not text:
        check_parquet(target)
    ending = target.suffix.lower()
    if ending in _NOT_READ:
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
