"""A score matrix that stays on disk: Parquet, read a block of queries at a time, for matrices larger than memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from surefoot.arrays import Floats
from surefoot.data.per_query.long_scores import LONG_FORM, is_long, refuse_table_of_means
from surefoot.data.reading.columns import ids_of, row_of
from surefoot.data.reading.files import WHITESPACE, existing_file
from surefoot.data.reading.frames import reading_parquet
from surefoot.data.reading.parquet import check_parquet, is_parquet
from surefoot.data.types.ranking import codes_of
from surefoot.data.types.scores import FLOOR, system_scores, unknown_system
from surefoot.errors import ArgumentError, DataError
from surefoot.progress import steps

BLOCK = 1 << 19  # queries read at once
LARGE = 1 << 27  # scores: 1 GB, and several times that while figures are made of them


def is_large(path: str | os.PathLike[str]) -> bool:
    """Whether this is Parquet with more scores than should be in memory at once."""
    if not is_parquet(path) or not Path(path).is_file():
        return False
    check_parquet(path)
    with reading_parquet(path):
        frame = pl.scan_parquet(Path(path), glob=False, hive_partitioning=False)
        return int(frame.select(pl.len()).collect().item()) * len(frame.collect_schema()) > LARGE


class StreamedScores:
    """Effectiveness of systems on queries, as `Scores` has it, in a Parquet file that is read again and again.

    Opening it reads it once: names, numbers and queries are checked as `read_scores` checks them, and sums are kept.
    Queries are known by 64-bit codes alone.
    """

    def __init__(self, path: str | os.PathLike[str], measure: str | None = None) -> None:
        self.path = existing_file(path)
        if not is_parquet(path):
            raise ArgumentError(f"{path}: only Parquet can be read a part at a time; write the matrix as .parquet")
        check_parquet(self.path)
        self.measure = measure or "score"
        with reading_parquet(path):
            frame = pl.scan_parquet(self.path, glob=False, hive_partitioning=False)
            names = frame.collect_schema().names()
            self._count = int(frame.select(pl.len()).collect().item())
        if len(names) < 2 or not self._count:
            raise DataError(
                f"{path}: expected a query column, at least one column per system and one row per query; "
                f"found {len(names)} columns and {self._count} rows"
            )
        if is_long(names):
            raise DataError(
                f"{path}: a long table ({LONG_FORM}) cannot be read in parts; write a matrix: the query first, one "
                "column per system"
            )
        refuse_table_of_means(names, str(path))
        if any(not name.strip(WHITESPACE) for name in names[1:]):
            raise DataError(f"{path}: a column has no name; every system needs one")
        self._frame, self._query = frame, names[0]
        self.systems: tuple[str, ...] = tuple(names[1:])
        self.missing = dict.fromkeys(self.systems, 0)
        self.dropped, self.no_relevant, self.tie_rule = 0, None, None
        self.runs: tuple[()] = ()
        self._totals = np.zeros(len(self.systems))
        self._logs = np.zeros(len(self.systems))
        self._lowest_and_highest = np.inf, -np.inf
        self._check()

    def _check(self) -> None:
        """Look at every row once: each number must be one, and each query stand once."""
        codes = np.empty(self._count, np.uint64)
        for start in steps(range(0, self._count, BLOCK), "Reading scores"):
            frame = self._read((self._query, *self.systems), start)

            def where(row: int, start: int = start) -> str:
                return row_of(str(self.path))(start + row)

            codes[start : start + len(frame)] = codes_of(ids_of(frame[self._query], "the query", where))
            values = np.stack([system_scores(frame[name], name, where) for name in self.systems])
            self._totals += values.sum(axis=1)
            self._logs += np.log(np.maximum(values, FLOOR)).sum(axis=1)
            lowest, highest = self._lowest_and_highest
            self._lowest_and_highest = min(lowest, float(values.min())), max(highest, float(values.max()))
        codes.sort()
        if any((part[1:] == part[:-1]).any() for part in _overlapping(codes)):
            raise DataError(f"{self.path}: a query appears twice; every query needs one row")

    def __repr__(self) -> str:
        """Size and measure."""
        return f"<StreamedScores {self.measure}: {len(self.systems):,} systems × {self._count:,} queries>"

    def _row(self, system: str) -> int:
        """The row of a system, by name."""
        if system not in self.systems:
            raise ArgumentError(unknown_system(system, self.systems))
        return self.systems.index(system)

    def _vector(self, row: int) -> ScoreColumn:
        """One system's scores, one value per query."""
        return ScoreColumn(self, row)

    def _blocks(self, rows: Sequence[int]) -> Iterator[Floats]:
        """The scores of some systems, systems × queries, a block of queries at a time."""
        names = [self.systems[row] for row in rows]
        for start in range(0, self._count, BLOCK):
            frame = self._read(dict.fromkeys(names), start)
            yield np.stack([frame[name].cast(pl.Float64).to_numpy() for name in names])

    def mean(self) -> Floats:
        """Arithmetic mean over queries, one value per system."""
        return self._totals / self._count

    def geometric_mean(self) -> Floats:
        """Geometric mean over queries, each score at least 1e-5, as `Scores` has it."""
        return np.exp(self._logs / self._count)

    def _ends(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return self._lowest_and_highest

    def _largest(self) -> float:
        """The greatest score without its sign, which rounding is measured by."""
        return max(self._lowest_and_highest[1], -self._lowest_and_highest[0])

    def _read(self, names: Iterable[str], start: int) -> pl.DataFrame:
        with reading_parquet(self.path):
            return self._frame.select(list(names)).slice(start, BLOCK).collect()


@dataclass(frozen=True)
class ScoreColumn:
    """A system's scores, read when they are needed."""

    scores: StreamedScores
    position: int

    def __len__(self) -> int:
        """How many queries there are."""
        return self.scores._count

    def blocks(self) -> Iterator[Floats]:
        """All of them, in order."""
        for block in self.scores._blocks([self.position]):
            yield block[0]


def _overlapping(values: np.ndarray[Any, np.dtype[np.uint64]]) -> Iterator[np.ndarray[Any, np.dtype[np.uint64]]]:
    """Parts that each begin with the last value of the one before."""
    for start in range(0, len(values), BLOCK):
        yield values[max(0, start - 1) : start + BLOCK]
