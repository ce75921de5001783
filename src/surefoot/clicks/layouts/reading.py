"""A log's files, the layout that they have, and their lists and clicks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from surefoot.clicks.backends import Backend
from surefoot.clicks.layouts.layout import LogLayout, ReadingSettings
from surefoot.clicks.layouts.registry import LAYOUTS, find_layout
from surefoot.clicks.log import Log, merge_logs, without_mixed_sessions
from surefoot.clicks.log_files import LogFile, check_file
from surefoot.data.reading.files import text_lines
from surefoot.errors import DataError, name_list, shortened

_FIRST = 1 << 16  # bytes of a file in which its first line is looked for


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
