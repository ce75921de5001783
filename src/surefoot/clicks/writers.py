"""Generated logs written as real ones look, in every layout that says how (`LogLayout.write`)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import polars as pl

from surefoot.clicks.generator import LogPart
from surefoot.clicks.layouts.registry import WRITABLE
from surefoot.data.writing.all_or_nothing import ensure_folder, writing
from surefoot.errors import ArgumentError, shortened


def write_log(parts: Iterable[LogPart], path: str | os.PathLike[str], layout: str = "yandex2014") -> dict[str, int]:
    """Write a log; a file, or for `ubi` a folder. Returns how much was written."""
    chosen = WRITABLE.get(layout)
    if chosen is None or chosen.write is None:
        raise ArgumentError(
            f"a log cannot be written in layout {shortened(layout)}; choose one of: {', '.join(WRITABLE)}"
        )
    if not chosen.files and Path(path).suffix.lower() == ".parquet":
        raise ArgumentError(f"{path}: a log is written as text, and Parquet is expected under this name; take another")
    counts = {"lists": 0, "clicks": 0, "lines": 0}
    with ExitStack() as stack:
        folder = stack.enter_context(ensure_folder(path)) if chosen.files else Path(path)
        paths = [folder / name for name in chosen.files] or [Path(path)]
        files = [stack.enter_context(writing(path)) for path in paths]
        if chosen.header is not None:
            files[0].write(f"{chosen.header}\n".encode())
        for part in parts:
            tables = zip(files, chosen.write(part), strict=True)
            counts["lines"] += sum(_write_lines(file, lines) for file, lines in tables)
            counts["lists"] += len(part.lists)
            counts["clicks"] += len(part.clicks)
    return counts


def write_kinds(parts: Iterable[LogPart], path: str | os.PathLike[str]) -> None:
    """Write what only the generator knows: the kind of each list, by the name that it has in a study."""
    with writing(path) as file:
        for number, part in enumerate(parts):
            name = pl.concat_str("session", pl.col("list") + 1, separator="-")
            part.lists.select(list=name, kind="kind").write_csv(file, include_header=number == 0)


def _write_lines(file: BinaryIO, lines: pl.DataFrame) -> int:
    lines.write_csv(file, include_header=False, quote_style="never")
    return len(lines)
