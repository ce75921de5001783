"""Columns and matrices that grow in place, so that memory never holds their parts and all of them at once."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt


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
