"""Whitespace-separated lines (runs, judgments) as columns, at Polars' speed and with errors that name the line.

One grammar: lines end with a line feed; a line's fields are its longest pieces without white space, which is a space,
tab, vertical tab, form feed or carriage return; a blank line has none, any other as many as the layout says. The
text is UTF-8 without NUL. Other characters, such as a no-break space, are part of a field like any letter. A header of
ir_metadata at the very start does not count.

`_read_slowly` is that grammar. A file is read in blocks, so that memory does not hold its text. Blocks are nearly
always regular: one separator between fields, no other white space. So a block is first parsed as such, and kept
only if it is; otherwise its spaces are made regular; and only when that fails too is it read line by line,
which either finds what is wrong and where, or reads it after all.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
import polars as pl

from surefoot.arguments import LARGEST_EXACT, decimal, is_rounded
from surefoot.arrays import ROUNDED
from surefoot.data.reading.files import OLD_MAC, WHITESPACE, lines_in, plain_for_polars, text_blocks, utf8_line
from surefoot.data.reading.polars_process import threads_lost
from surefoot.errors import DataError, shortened

_SPACES = bytes.maketrans(WHITESPACE.encode(), b" " * len(WHITESPACE))
_BLOCK = 5 << 19
_WORKERS = 3  # Polars parses a block with every core, except when it starts and ends
_RETURN, _FEED, _SPACE = b"\r\n "  # bytes up to a space are white space or control characters
_CACHED = 1 << 16  # bytes that stay near the processor

Converted = TypeVar("Converted")
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class LineLayout:
    """The columns of a line; the ones in `used` are read, of which `number` must be a finite number."""

    what: str
    fields: tuple[str, ...]
    used: tuple[str, ...]
    number: str

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """Polars' types of all columns."""
        return {name: pl.Float64() if name == self.number else pl.String() for name in self.fields}

    @property
    def shortest(self) -> int:
        """The fewest bytes of a line: one for each field and one after it."""
        return 2 * len(self.fields)

    @property
    def shape(self) -> str:
        """The line's form, for messages."""
        return " ".join(self.fields)


def read_lines(
    path: str | os.PathLike[str], layout: LineLayout, convert: Callable[..., Converted]
) -> Iterator[Converted]:
    """What `convert` makes of the layout's used columns (one row per line) of each block of a file, in its order.

    Blocks are parsed and converted in threads, so that of their texts only what it keeps is held for long.
    """

    def parse(block: bytes) -> tuple[bytes, int, Converted | None]:
        if threads_lost():
            return block, block.count(b"\n"), None
        frame = _parse(block, layout)
        lines = block.count(b"\n") if frame is None else frame.height
        if frame is None:
            frame = _parse(_with_single_spaces(block), layout)
        return block, lines, None if frame is None else convert(*map(frame.get_column, layout.used))

    before, some = 0, False
    # Closed at once where a line is wrong: a generator, and its threads, would live as long as the error it raised.
    with closing(_side_by_side(parse, line_blocks(path, _BLOCK))) as parsed:
        for block, lines, converted in parsed:
            if converted is not None:
                some = True
                yield converted
            elif (frame := _read_slowly(path, block, layout, before)).height:
                some = True
                yield convert(*map(frame.get_column, layout.used))
            before += lines
    if not some:
        raise DataError.at(path, None, f"the file is empty; expected lines of the form '{layout.shape}'")


def line_blocks(path: str | os.PathLike[str], size: int) -> Iterator[bytes]:
    """The file's blocks of whole lines, those of an ir_metadata header made blank."""
    return without_metadata(path, text_blocks(path, size))


def _side_by_side(function: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result]:
    """The function's results in the order of the items, of which few are held at a time."""
    with ThreadPoolExecutor(_WORKERS) as pool:
        pending: deque[Future[Result]] = deque()
        for item in items:
            pending.append(pool.submit(function, item))
            if len(pending) > _WORKERS:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def line_of(path: str | os.PathLike[str], row: int, content: Callable[[bytes], bytes] = lambda line: line) -> int:
    """The line number (from 1) of a row; lines whose `content` is blank have no row."""
    filled = (
        number for number, line in enumerate(lines_in(line_blocks(path, _BLOCK)), start=1) if content(line).split()
    )
    return next(number for position, number in enumerate(filled) if position == row)


def _parse(data: bytes, layout: LineLayout) -> pl.DataFrame | None:
    """The columns if the lines are regular, else nothing."""
    try:
        frame = pl.read_csv(
            plain_for_polars(data),
            separator="\t" if b"\t" in data[: data.find(b"\n")] else " ",
            has_header=False,
            quote_char=None,
            schema=layout.schema,
            # Also the last field, so that a line which stops before it shows as a null.
            columns=sorted({layout.fields.index(name) for name in (*layout.used, layout.fields[-1])}),
        )
    except (pl.exceptions.PolarsError, ValueError, OSError):
        return None
    if frame.height == 0 or any(column.null_count() for column in frame.get_columns()):
        return None
    # Of the text Polars has looked only at fields that are used.
    if not (_is_regular(data, len(layout.fields), frame.height) and is_utf8(data)):
        return None
    # What is not finite is told of line by line, and so is a whole number that may have been rounded.
    return frame if (np.abs(frame[layout.number].to_numpy()) < LARGEST_EXACT).all() else None


def _is_regular(data: bytes, fields: int, lines: int) -> bool:
    """Whether white space is nothing but one separator between two fields and a line feed, or CR LF, after a line.

    No line may have too few separators. None has too many, then, and no other white space or control character is
    there, if these are together as many as needed; and no field is empty if none but CR and LF are neighbours.
    """
    letters = np.frombuffer(data, dtype=np.uint8)
    spaces = returns = 0
    for start in range(0, len(letters), _CACHED):
        piece = letters[start : start + _CACHED + 1]
        space = piece <= _SPACE
        neighbours = np.logical_and(space[1:], space[:-1])
        if neighbours.any():
            pairs = np.flatnonzero(neighbours)
            if (piece[pairs] != _RETURN).any() or (piece[pairs + 1] != _FEED).any():
                return False
            returns += len(pairs)
        spaces += int(np.count_nonzero(space[:_CACHED]))
    return spaces == fields * lines + returns - (not data.endswith(b"\n")) and letters[0] > _SPACE


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8 text: as Polars says, in a tenth of the time that decoding takes."""
    if data.isascii():
        return True
    try:
        if threads_lost():
            data.decode()
        else:
            pl.Series([data], dtype=pl.Binary).cast(pl.String)
    except (UnicodeDecodeError, pl.exceptions.PolarsError):
        return False
    return True


def _with_single_spaces(data: bytes) -> bytes:
    """The same lines with single spaces and no blank lines."""
    data = data.translate(_SPACES)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    while b"\n\n" in data:
        data = data.replace(b"\n\n", b"\n")
    return data.strip()


def _read_slowly(path: str | os.PathLike[str], data: bytes, layout: LineLayout, lines_before: int) -> pl.DataFrame:
    """Read line by line; raise at the first line that is wrong."""
    rows: list[list[str | float]] = []
    at = layout.fields.index(layout.number)
    for number, raw in enumerate(data.split(b"\n"), start=lines_before + 1):
        fields = raw.split()
        if not fields:
            continue
        texts: list[str | float] = [*utf8_line(path, number, b" ".join(fields)).split(" ")]
        if len(texts) != len(layout.fields):
            if b"\r" in raw.strip():
                raise DataError.at(path, number, OLD_MAC)
            raise DataError.at(
                path,
                number,
                f"expected {len(layout.fields)} columns ({layout.shape}), found {len(texts)}: "
                f"{shortened(' '.join(map(str, texts)))}{_swapped([*map(str, texts)], layout)}",
            )
        texts[at] = _finite(path, number, layout.number, str(texts[at]))
        rows.append(texts)
    return pl.DataFrame(rows, schema=layout.schema, orient="row")


def _swapped(texts: Sequence[str], layout: LineLayout) -> str:
    """What to say of a line of a run among judgments, or the other way round; nothing of any other."""
    if len(layout.fields) == 4 and len(texts) == 6 and texts[1] == "Q0":
        return "; this looks like a run (six columns, Q0); judgments have four: query, 0, document, grade"
    if len(layout.fields) == 6 and len(texts) == 4 and texts[1].isdecimal():
        return "; this looks like judgments (four columns); a run has six: query, Q0, document, rank, score, tag"
    return ""


def _finite(path: str | os.PathLike[str], line: int, name: str, text: str) -> float:
    try:
        value = decimal(text)
    except ValueError:
        raise DataError.at(path, line, f"the {name} {shortened(text)} is not a number") from None
    if not math.isfinite(value):
        raise DataError.at(path, line, f"the {name} is {text[:60]}; every {name} must be finite")
    if is_rounded(text):
        raise DataError.at(path, line, f"the {name} is {shortened(text)}; {ROUNDED}")
    return value


_START, _END = b"# ir_metadata.start", b"# ir_metadata.end"


def without_metadata(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks of whole lines; a line of the header becomes a blank one, so that all others keep their numbers."""
    rest = iter(blocks)
    first = next(rest, b"")
    if first.partition(b"\n")[0].rstrip() != _START:
        yield from chain([first] if first else [], rest)
        return
    number = 0
    for block in chain([first], rest):
        end = 0
        while end < len(block):
            start, end = end, block.find(b"\n", end) + 1 or len(block)
            line, number = block[start:end].strip(), number + 1
            if line == _END:
                yield b"\n" * number
                if end < len(block):
                    yield block[end:]
                yield from rest
                return
            if line and not line.startswith(b"#"):
                raise DataError.at(
                    path,
                    number,
                    f"found {shortened(line.decode(errors='replace'))} in the ir_metadata header, whose lines start "
                    f"with #; end the header with a line '{_END.decode()}'",
                )
    raise DataError.at(path, 1, f"the ir_metadata header does not end; a line '{_END.decode()}' must follow it")
