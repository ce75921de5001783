"""What is held of a table's rows while it is read: codes and numbers, and ids only where ties may need them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from surefoot.arrays import Ints, stretch_starts
from surefoot.data.types.ranking import codes_of, gather_few, pair_codes


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
