"""Score matrices in CSV: a header, then a line per query; commas, tabs or semicolons between columns.

One grammar: lines end with a line feed, or CR LF; a field that holds the separator, a line's end or a quotation mark is
quoted as spreadsheets do; blank lines do not count, nor does white space around a field. Where nothing is quoted,
Polars splits the text; otherwise, and where it cannot, it is read record by record, which finds what is wrong.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import polars as pl

from surefoot.arguments import decimal
from surefoot.data.columns import WHITESPACE, first_repeated
from surefoot.data.files import OLD_MAC, read_text, uncompressed
from surefoot.data.forks import forked
from surefoot.data.frames import QUERY_COLUMNS
from surefoot.errors import DataError, shortened

Columns: TypeAlias = "Sequence[pl.Series | list[str | None]]"

_EMPTY = "the file is empty; expected a header 'query,system,…' and a line per query"
_HEADS = (*QUERY_COLUMNS, "topic", "")
_BLANK = re.compile(r"(?:[ \t\v\f\r]*\n)+")
_LONE_RETURN = re.compile(r"\r(?!\n|\Z)")


def read_csv(path: Path) -> tuple[list[str], Columns, Callable[[int | None], str]]:
    """The columns' names, their texts (None where there is none), and what says where a row stands."""
    text = read_text(path)
    if lone := _LONE_RETURN.search(text):
        line = text.count("\n", 0, lone.start()) + 1
        raise DataError.at(path, line, OLD_MAC if "\n" not in text else "a carriage return stands inside the line")
    blank = _BLANK.match(text)
    header = text[blank.end() if blank else 0 :].partition("\n")[0]
    separator = "\t" if header.count("\t") > header.count(",") else ";" if "," not in header and ";" in header else ","

    def where(row: int | None) -> str:
        if row is None:
            return f"{path}"
        line = next((line for i, (line, _) in enumerate(_records(path, text, separator)) if i == row + 1), row + 2)
        return f"{path}, line {line}"

    split = None if forked() or '"' in text else _split(text[blank.end() if blank else 0 :], separator)
    columns = split or _one_by_one(path, text, separator)
    names = [column[0] or "" for column in columns]
    _check_header(names, where)
    return names, [column[1:] for column in columns], where


def _check_header(names: list[str], where: Callable[[int], str]) -> None:
    twice = first_repeated(names)
    if twice is not None:
        raise DataError(f"{where(-1)}: two columns are named {shortened(twice)}; every system needs its own name")
    if names[1:] and names[0].lower() not in _HEADS and all(map(_is_number, names[1:])):
        raise DataError(
            f"{where(-1)}: this line seems to be scores, and the first must be the header: query,system,… "
            "(where systems' names are numbers, call the first column 'query')"
        )


def _is_number(text: str) -> bool:
    try:
        decimal(text)
    except ValueError:
        return False
    return True


def _split(text: str, separator: str) -> list[pl.Series] | None:
    """The columns as Polars splits them, which takes a short line and refuses a long one."""
    try:
        # Names come from the first row as data: Polars would silently rename a column that stands twice.
        table = pl.read_csv(
            uncompressed(text.encode()),
            has_header=False,
            infer_schema=False,
            separator=separator,
            quote_char=None,
            truncate_ragged_lines=False,
        )
    except (pl.exceptions.PolarsError, OSError):
        return None
    cells = table.select(pl.all().str.strip_chars(WHITESPACE).replace("", None))
    cells = cells.filter(~pl.all_horizontal(pl.all().is_null()))
    return cells.get_columns() if cells.height else None


def _one_by_one(path: Path, text: str, separator: str) -> list[list[str | None]]:
    rows: list[list[str | None]] = []
    for line, record in _records(path, text, separator):
        if rows and len(record) != len(rows[0]):
            raise DataError.at(path, line, f"found {len(record)} columns where the header has {len(rows[0])}")
        rows.append([field.strip(WHITESPACE) or None for field in record])
    if not rows:
        raise DataError.at(path, None, _EMPTY)
    return [list(column) for column in zip(*rows, strict=True)]


def _records(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The file's filled records, each with the line it starts at."""
    if '"' not in text:
        for line, written in enumerate(text.split("\n"), start=1):
            record = written.removesuffix("\r").split(separator)
            if any(field.strip(WHITESPACE) for field in record):
                yield line, record
        return
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    start = 1
    try:
        for record in reader:
            if any(field.strip(WHITESPACE) for field in record):
                yield start, record
            start = reader.line_num + 1
    except csv.Error as error:
        what = "a quotation mark is not closed, or closed before the column's end"
        raise DataError.at(path, start, what if "limit" not in str(error) else f"{error}") from error
