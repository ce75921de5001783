"""LETOR text into arrays: blocks of lines parsed by several threads, gathered in a matrix that grows in place.

Memory holds the matrix, up to a sixteenth more while that of a compressed file grows, and the blocks under way.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from surefoot.arrays import Floats, Ints
from surefoot.data.letor.letor_lines import FORM, MOST_FEATURES, parse_number, read_one_by_one
from surefoot.data.reading.files import is_compressed, text_blocks, text_lines
from surefoot.data.reading.held_rows import GrowableColumn, GrowableMatrix
from surefoot.data.reading.matrix import FeatureMatrix
from surefoot.data.reading.run_lines import is_utf8, line_of
from surefoot.errors import DataError
from surefoot.runtime import cores, library

_BLOCK = 1 << 19
_NEWLINE = ord("\n")
_MOST_THREADS = 8
_ALWAYS_ALLOWED_BYTES = 1 << 26  # of a matrix that a text may always ask for
_ALLOWED_PER_TEXT_BYTE = 32


@dataclass
class LetorBlock:
    """The rows of a block: `stretches` of one query id start at rows `starts`; `ids` None unless all have one."""

    X: FeatureMatrix
    y: Floats
    stretches: list[bytes]
    starts: Ints
    ids: list[str] | None

    size: int


@dataclass
class LetorRows:
    """A whole file's rows, in stretches of one query id."""

    X: FeatureMatrix
    y: Floats
    stretches: list[str]
    starts: Ints
    ids: pl.Series | None


def read_rows(path: str | os.PathLike[str], n_features: int | None) -> LetorRows:
    """All rows of a LETOR file, in its order."""
    matrix, labels = GrowableMatrix(np.float32, n_features or 0), GrowableColumn(np.float64)
    names: list[bytes] = []
    starts: list[Ints] = []
    ids: list[pl.Series] | None = []
    size = 0
    with closing(_blocks(path, n_features)) as blocks:  # or its threads would live as long as an error does
        for block in blocks:
            rows = matrix.rows
            size += block.size
            width = max(matrix.width, block.X.shape[1])
            if n_features is None and not _fits(rows + len(block.y), width, size):
                raise _too_wide(path, rows + len(block.y), width)
            if not rows:
                expected = _expected_rows(path, block)
                matrix.reserve(expected, block.X.shape[1])
                labels = GrowableColumn(np.float64, expected)
            if names and block.stretches and names[-1] == block.stretches[0]:  # a query goes on in the next block
                del block.stretches[0]
                block.starts = block.starts[1:]
            names += block.stretches
            starts.append(block.starts + rows)
            matrix.append(block.X)
            labels.extend(block.y)
            if block.ids is None:
                ids = None
            elif ids is not None:
                ids.append(pl.Series("doc_id", block.ids, dtype=pl.String))
    if not matrix.rows:
        raise DataError.at(path, None, f"the file is empty; expected lines of the form '{FORM}'")
    if not matrix.width:
        raise DataError.at(path, None, f"no line has a feature; expected lines of the form '{FORM}'")
    return LetorRows(
        matrix.take(),
        labels.take(),
        [name.decode() for name in names],
        np.concatenate(starts),
        None if ids is None else pl.concat(ids, rechunk=True),
    )


def line_of_row(path: str | os.PathLike[str], row: int) -> int:
    """The line number (from 1) of a row, blank lines and comments counted."""
    return line_of(path, row, lambda line: line.partition(b"#")[0])


def _blocks(path: str | os.PathLike[str], n_features: int | None) -> Generator[LetorBlock]:
    """The file's blocks, parsed ahead by threads and handed out in order; the first error is the file's first."""
    kernel = library("surefoot.data.letor.kernel", "learn", "reading LETOR text (it is parsed by Numba)")
    threads = min(_MOST_THREADS, cores())
    lines = 0
    width = n_features or 0
    pending: deque[Future[LetorBlock]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="surefoot-letor")
    try:
        for data in text_blocks(path, _BLOCK):
            ends = int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE))  # bytes.count is slower
            pending.append(pool.submit(_parse, kernel, path, data, lines, ends, width, n_features))
            lines += ends
            if len(pending) > threads:
                block = pending.popleft().result()
                width = max(width, block.X.shape[1])
                yield block
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _expected_rows(path: str | os.PathLike[str], first: LetorBlock) -> int:
    """How many rows the file has, by its size and its first block's rows, and a little more; 0 if it cannot be told."""
    file = Path(path)
    if not file.is_file() or is_compressed(file):
        return 0
    return int(1.02 * len(first.y) * file.stat().st_size / first.size)


def _parse(
    kernel: Any,
    path: str | os.PathLike[str],
    data: bytes,
    lines_before: int,
    ends: int,
    width: int,
    n_features: int | None,
) -> LetorBlock:
    """Parse a block; one that is not regular is read line by line, which finds the line that is wrong."""
    if not data.endswith(b"\n"):
        data += b"\n"
        ends += 1
    view = np.frombuffer(data, dtype=np.uint8)
    y = np.empty(ends)
    stretches, hard = np.empty((ends, 3), np.int64), np.empty((kernel.MOST_HARD_NUMBERS, 4), np.int64)
    ids, report = np.empty(len(data), np.uint8), np.zeros(8, np.int64)
    width = width or _features_of_first_line(data)
    if n_features is None and not _fits(ends, width, len(data)):  # a guess only, then; the kernel will tell
        width = 1
    while True:
        if n_features is None and not _fits(ends, width, len(data)):
            raise _too_wide(path, ends, width)
        X = _allocate(path, ends, width)
        kernel.parse(view, width, X, y, stretches, ids, hard, report)
        if report[kernel.IRREGULAR] or report[kernel.FEATURES_SEEN] <= width:
            break
        if n_features is not None:
            report[kernel.IRREGULAR] = 1
            break
        width = int(report[kernel.FEATURES_SEEN])
    rows, count = int(report[kernel.ROWS_READ]), int(report[kernel.STRETCHES])
    regular = not report[kernel.IRREGULAR] and not (report[kernel.NOT_ASCII] and not is_utf8(data))
    if not regular or not _fill(X, y, data, hard[: report[kernel.HARD_NUMBERS]]):
        return _parse_slowly(path, data, lines_before, n_features)
    names = [data[start:end] for _, start, end in stretches[:count].tolist()]
    documents = None
    if report[kernel.IDS_READ] == rows:
        documents = ids[: report[kernel.ID_BYTES]].tobytes().decode().split("\n")[:-1]
    return LetorBlock(
        X[:rows, : report[kernel.FEATURES_SEEN]], y[:rows], names, stretches[:count, 0].copy(), documents, len(data)
    )


def _features_of_first_line(data: bytes) -> int:
    """A guess of how wide the matrix is, so that most blocks are parsed once."""
    last = data[: data.find(b"\n")].partition(b"#")[0].rpartition(b":")[0].split()
    return min(int(last[-1]), MOST_FEATURES) if last and last[-1].isdigit() and len(last[-1]) < 8 else 1


def _fill(X: FeatureMatrix, y: Floats, data: bytes, hard: Ints) -> bool:
    """Numbers that the kernel left, as Python reads them; False if one cannot be, which reading slowly explains."""
    for row, column, start, end in hard.tolist():
        value = parse_number(data[start:end])
        if value is None or value in (np.inf, -np.inf):
            return False
        if column < 0:
            if not value >= 0:
                return False
            y[row] = value
        else:
            with np.errstate(over="ignore"):
                X[row, column] = value
            if np.isinf(X[row, column]):
                return False
    return True


def _parse_slowly(path: str | os.PathLike[str], data: bytes, lines_before: int, n_features: int | None) -> LetorBlock:
    lines = read_one_by_one(path, data, lines_before, n_features)
    if n_features is None and not _fits(len(lines.labels), lines.n_features, len(data)):
        raise _too_wide(path, len(lines.labels), lines.n_features)
    X = _allocate(path, len(lines.labels), n_features or lines.n_features)
    X[:] = 0
    for row, features in zip(X, lines.features, strict=True):
        row[list(features)] = list(features.values())
    starts = [i for i, query in enumerate(lines.queries) if i == 0 or query != lines.queries[i - 1]]
    documents = [name.decode() for name in lines.ids if name is not None]
    return LetorBlock(
        X,
        np.array(lines.labels, dtype=np.float64),
        [lines.queries[i] for i in starts],
        np.array(starts, dtype=np.int64),
        documents if len(documents) == len(lines.ids) else None,
        len(data),
    )


def _fits(rows: int, width: int, size: int) -> bool:
    """Whether a dense matrix is in proportion to a text of `size` bytes."""
    return 4 * rows * width <= max(_ALWAYS_ALLOWED_BYTES, _ALLOWED_PER_TEXT_BYTE * size)


def _too_wide(path: str | os.PathLike[str], rows: int, width: int) -> DataError:
    named = f"{width}:".encode()
    lines = enumerate(text_lines(path, _BLOCK), start=1) if Path(path).is_file() else iter(())
    line_numbers = (
        number for number, line in lines if any(word.lstrip(b"0").startswith(named) for word in line.split())
    )
    return DataError.at(
        path,
        next(line_numbers, None),
        f"found feature {width}; a dense matrix of so many columns would take {4 * rows * width / 1e6:,.0f} MB for "
        f"{rows:,} rows, far more than the text; number features without gaps, or give n_features={width} if "
        "this is meant",
    )


def _allocate(path: str | os.PathLike[str], rows: int, width: int) -> FeatureMatrix:
    try:
        return np.empty((rows, width), dtype=np.float32)
    except (MemoryError, ValueError) as error:
        raise DataError.at(
            path, None, f"a dense matrix of {rows:,} documents × {width:,} features does not fit in memory"
        ) from error
