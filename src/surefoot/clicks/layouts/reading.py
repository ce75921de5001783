"""Which reader takes a log: by its name, or by what its first line looks like."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot.clicks.backends import Engine
from surefoot.clicks.layouts import metarank, table, ubi, yandex
from surefoot.clicks.log import Log, of_one_user, together
from surefoot.clicks.log_files import LogFile, look_through
from surefoot.clicks.options import LAYOUTS
from surefoot.data.reading.files import text_lines
from surefoot.errors import ArgumentError, DataError, did_you_mean, shortened

_UBI = {"queries": "ubi_queries", "events": "ubi_events"}


@dataclass(frozen=True)
class Reading:
    """How a log is read: its layout, what a unit of time lasts, and what counts as a click.

    `clock` is for the layout of 2012, where times may count from each session's start ("session") or be one clock for
    all sessions ("log").
    """

    layout: str
    seconds: float | None = None
    clock: str = "session"
    actions: tuple[str, ...] = ("click",)


def log_files(path: str | os.PathLike[str], layout: str) -> list[Path]:
    """The files of a log: the file itself, or those of a folder, in order of their names."""
    target = Path(path)
    if not target.is_dir():
        return [target]
    found = sorted(entry for entry in target.iterdir() if entry.is_file() and not entry.name.startswith("."))
    if layout == "ubi":
        found = [next((file for file in found if file.name.startswith(name)), Path()) for name in _UBI.values()]
        if Path() in found:
            raise DataError.at(
                path, None, "expected two files here, called ubi_queries… and ubi_events…, of JSON lines"
            )
    if not found:
        raise DataError.at(path, None, "there is no file in this folder; expected a log's")
    return found


def guess_layout(path: str | os.PathLike[str]) -> str:
    """The layout that a log's first line has."""
    target = Path(path)
    if target.is_dir() and any(entry.name.startswith(_UBI["queries"]) for entry in target.iterdir()):
        return "ubi"
    file = log_files(path, "")[0]
    if file.suffix.lower() == ".parquet":
        return "table"
    first = next((line for line in text_lines(file, 1 << 16) if line.strip()), b"").decode("utf-8", "replace").strip()
    parts = first.split("\t")
    if first.startswith("{"):
        return "metarank"
    if len(parts) == 4 and parts[1] == "M":
        return "yandex2014"
    if len(parts) >= 4 and parts[2] in ("Q", "C"):
        return "yandex2012" if "," not in parts[-1] else "yandex2014"
    if set(table.NEEDED) <= {part.strip().strip('"') for part in first.split(",")}:
        return "table"
    raise DataError.at(
        file, 1, f"found {shortened(first)}, which is no log's first line; say which it is with --layout: "
        f"{', '.join(LAYOUTS)}"
    )  # fmt: skip


def look(path: str | os.PathLike[str], layout: str) -> list[LogFile]:
    """Look through the files of a log."""
    if layout not in LAYOUTS:
        raise ArgumentError(
            f"there is no layout {shortened(layout)}{did_you_mean(layout, LAYOUTS)}; known are {', '.join(LAYOUTS)}"
        )
    if layout == "ubi" and not Path(path).is_dir():
        raise DataError.at(path, None, "a log of User Behavior Insights is a folder with ubi_queries and ubi_events")
    return [look_through(file, text=file.suffix.lower() != ".parquet") for file in log_files(path, layout)]


def read(engine: Engine, files: Sequence[LogFile], how: Reading) -> Log:
    """A log's lists and clicks."""
    if how.layout == "ubi":
        queries, events = files
        return of_one_user(ubi.read(engine, queries, events, how.actions))
    if how.layout == "metarank":
        return of_one_user(together([metarank.read(engine, file, how.actions) for file in files]))
    if how.layout == "table":
        return of_one_user(together([table.read(engine, file, how.seconds) for file in files]))
    if how.layout == "yandex2014":
        return together([yandex.read_2014(engine, file, how.seconds or 1.0) for file in files])
    if how.seconds is None:
        raise ArgumentError("the log does not say what a unit of its time lasts; say it with --unit, such as --unit ms")
    clock = "time" if how.clock == "log" else None
    return together([yandex.read_2012(engine, file, how.seconds, clock) for file in files])
