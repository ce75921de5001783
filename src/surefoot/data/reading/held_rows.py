"""What is held of a table's rows: codes and numbers while it is read, and where its document ids come from.

Ids come from memory, or from the file, which is read again when they are needed; only those are held meanwhile that
ties may need. Columns and matrices grow in place, so that memory never holds their parts and all of them at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.arrays import Ints, stretch_starts
from surefoot.data.reading.files import file_status
from surefoot.data.reading.run_lines import LineLayout, line_of, read_lines
from surefoot.data.types.ranking import codes_of, gather_few, pair_codes
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


class RowBlock:
    """What is held of a table's rows: their codes and numbers, the stretches of one query, and ids that ties may need.

    Where ties go by id, those are the ids of rows that score as a neighbour does, and of both ends, which may tie with
    another block.
    """

    def __init__(
        self, ties_by_id: bool, numbers_are_ranks: bool, queries: pl.Series, documents: pl.Series, numbers: pl.Series
    ) -> None:
        query_codes = codes_of(queries)
        self.starts = stretch_starts(query_codes)
        self.stretch_codes = query_codes[self.starts]
        self.names = gather_few(queries, self.starts).to_list()
        self.codes = pair_codes(query_codes, codes_of(documents))
        self.numbers = numbers.to_numpy().astype(np.float64)  # a copy: Polars' memory is free for the next block
        if numbers_are_ranks:
            np.negative(self.numbers, out=self.numbers)
        equal = self.numbers[1:] == self.numbers[:-1]
        tied = np.append(equal, True) | np.insert(equal, 0, True)
        self.tied = np.flatnonzero(tied & ties_by_id)
        self.tied_ids = gather_few(documents, self.tied)


class NeighbourTies:
    """Ids of rows that score as their neighbour does: in a sorted file all that breaking ties will ask for."""

    def __init__(self, ids: Callable[[Ints], pl.Series]) -> None:
        self._ids = ids
        self._rows: list[Ints] = []
        self._stored_ids: list[pl.Series] = []

    def keep(self, before: int, block: RowBlock) -> None:
        """Keep what may be needed of a block that follows `before` rows."""
        self._rows.append(block.tied + before)
        self._stored_ids.append(block.tied_ids)

    def __call__(self, rows: Ints) -> pl.Series:
        """The ids of rows, from what was kept if all are there."""
        stored_rows = np.concatenate(self._rows)
        at = np.minimum(np.searchsorted(stored_rows, rows), len(stored_rows) - 1)
        return gather_few(pl.concat(self._stored_ids), at) if np.array_equal(stored_rows[at], rows) else self._ids(rows)


class GrowableColumn:
    """Values that come one part after the other.

    Too much room costs nothing: memory is only taken when it is written to.
    """

    def __init__(self, dtype: npt.DTypeLike, room: int = 0) -> None:
        self._values: npt.NDArray[Any] = np.empty(0, dtype)
        self._length = 0
        with suppress(MemoryError):
            self._values = np.empty(room, dtype)

    def __len__(self) -> int:
        """How many values there are."""
        return self._length

    def extend(self, part: npt.NDArray[Any]) -> None:
        """Put the part after what is there."""
        self.more(len(part))[:] = part

    def more(self, count: int) -> npt.NDArray[Any]:
        """Room for so many values after what is there, to be filled in."""
        start, self._length = self._length, self._length + count
        if self._length > len(self._values):
            # The system moves large arrays without a copy; a little at a time, as NumPy fills the new part with zeros.
            # Without references to look for: nobody else keeps the array.
            self._values.resize(max(self._length, len(self._values) * 17 // 16), refcheck=False)
        return self._values[start : self._length]

    def first(self, count: int) -> npt.NDArray[Any]:
        """A view of the first values, for as long as nothing is added."""
        return self._values[:count]

    def take(self) -> npt.NDArray[Any]:
        """All values, which this column then no longer holds."""
        values, self._values = self._values, self._values[:0].copy()
        values.resize(self._length, refcheck=False)
        self._length = 0
        return values


class GrowableMatrix:
    """Rows that come one block after the other, with columns of 0 to the right when wider ones come."""

    def __init__(self, dtype: npt.DTypeLike, width: int = 0) -> None:
        self.rows = 0
        self.width = width
        self._cells = GrowableColumn(dtype)

    def reserve(self, rows: int, width: int) -> None:
        """Make room before the first row comes."""
        self.width = max(self.width, width)
        self._cells = GrowableColumn(self._cells.first(0).dtype, rows * self.width)

    def append(self, block: npt.NDArray[Any]) -> None:
        """Put the block's rows below the others."""
        if block.shape[1] > self.width:
            self._widen(block.shape[1])
        rows = self._cells.more(len(block) * self.width).reshape(len(block), self.width)
        rows[:, : block.shape[1]] = block
        rows[:, block.shape[1] :] = 0
        self.rows += len(block)

    def _widen(self, width: int) -> None:
        old, self.width = self.width, width
        self._cells.more(self.rows * (width - old))
        cells = self._cells.first(self.rows * width)
        # From the last rows to the first, so that none is overwritten before it has moved.
        step = max(1, (1 << 20) // width)
        for end in range(self.rows, 0, -step) if old else ():
            start = max(0, end - step)
            moved = cells[start * old : end * old].reshape(-1, old).copy()
            rows = cells[start * width : end * width].reshape(-1, width)
            rows[:, :old] = moved
            rows[:, old:] = 0

    def take(self) -> npt.NDArray[Any]:
        """All rows, which this matrix then no longer holds."""
        return self._cells.take().reshape(self.rows, self.width)
