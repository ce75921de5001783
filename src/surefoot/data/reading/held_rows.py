"""Where a table's document ids come from: memory, or the file, which is read again when they are needed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from surefoot.arrays import Ints
from surefoot.data.reading.files import file_status
from surefoot.data.reading.run_lines import LineLayout, line_of, read_lines
from surefoot.errors import DataError

if TYPE_CHECKING:
    from surefoot.data.types.runs import RankedTable


@dataclass(frozen=True)
class RowIds:
    """Documents of rows held in memory."""

    documents: pl.Series

    def __call__(self, rows: Ints) -> pl.Series:
        """The ids of rows."""
        return self.documents.gather(rows)


class FileIds:
    """Documents and places of a file's rows, found by reading it again; it must not have changed.

    The path is absolute, so that another working folder, or another process, finds the same file.
    """

    def __init__(self, path: str | os.PathLike[str], layout: LineLayout) -> None:
        self._given_path, self._path, self._layout = str(path), Path(path).absolute(), layout
        self._seen = self._state()

    def _state(self) -> tuple[int, int]:
        status = file_status(self._path)
        return (status.st_size, status.st_mtime_ns) if status else (0, 0)

    def __call__(self, rows: Ints) -> pl.Series:
        """The ids of rows."""
        if self._state() != self._seen:
            raise DataError.at(self._given_path, None, "the file has changed since it was read; read it again")
        ascending = np.argsort(rows, kind="stable")
        sorted_rows = rows[ascending]
        parts: list[pl.Series] = []
        before = 0
        for _, documents, _ in read_lines(self._path, self._layout, lambda *columns: columns):
            low, high = np.searchsorted(sorted_rows, [before, before + len(documents)])
            parts.append(documents.gather(sorted_rows[low:high] - before))
            before += len(documents)
        back = np.empty_like(ascending)
        back[ascending] = np.arange(len(ascending))
        return pl.concat(parts).gather(back)

    def location(self, row: int) -> str:
        """Where a row stands, for messages."""
        return f"{self._given_path}, line {line_of(self._path, row)}"


@dataclass(frozen=True)
class ShiftedIds:
    """The documents of a part of a table that starts at a position of the whole."""

    table: RankedTable
    start: int

    def __call__(self, positions: Ints) -> pl.Series:
        """The ids at positions."""
        return self.table.documents(positions + self.start)
