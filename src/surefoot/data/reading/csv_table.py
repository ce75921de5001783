"""Tables in CSV: a header, then a line per row; commas, tabs or semicolons between columns.

Where nothing is quoted, Polars splits the text; otherwise, and where it cannot, it is read record by record, which
finds what is wrong. Lines end with a line feed, or CR LF; a field that holds the separator, a line's end or a quotation
mark is quoted as spreadsheets do; records of nothing but white space do not count, nor does white space around a field.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import polars as pl

from surefoot.arguments import is_decimal
from surefoot.data.reading.columns import first_repeated
from surefoot.data.reading.files import OLD_MAC, WHITESPACE, plain_for_polars, read_text
from surefoot.data.reading.frames import QUERY_COLUMNS
from surefoot.data.reading.polars_process import threads_lost
from surefoot.errors import DataError, shortened

CsvColumns: TypeAlias = "Sequence[pl.Series | list[str | None]]"

_QUERY_HEADINGS = (*QUERY_COLUMNS, "topic", "")
_BLANK = re.compile(rf"(?:[{WHITESPACE}]*\n)+")


def read_csv(path: Path, expected_header: str) -> tuple[list[str], CsvColumns, Callable[[int | None], str]]:
    """The columns' names, their texts (None where there is none), and what says where a row stands.

    `expected_header` is how the header should look, for messages.
    """
    text = read_csv_text(path)
    blank = _BLANK.match(text)
    header = text[blank.end() if blank else 0 :].partition("\n")[0]
    separator = "\t" if header.count("\t") > header.count(",") else ";" if "," not in header and ";" in header else ","

    def where(row: int | None) -> str:
        if row is None:
            return f"{path}"
        line = next((line for i, (line, _) in enumerate(records(path, text, separator)) if i == row + 1), row + 2)
        return f"{path}, line {line}"

    split = None if threads_lost() or '"' in text else _split(text[blank.end() if blank else 0 :], separator)
    columns = split or _one_by_one(path, text, separator, expected_header)
    names = [column[0] or "" for column in columns]
    _check_header(names, where, expected_header)
    return names, [column[1:] for column in columns], where


def _check_header(names: list[str], where: Callable[[int], str], expected_header: str) -> None:
    twice = first_repeated(names)
    if twice is not None:
        raise DataError(f"{where(-1)}: two columns are named {shortened(twice)}; every column needs a different name")
    if names[1:] and names[0].lower() not in _QUERY_HEADINGS and all(map(is_decimal, names[1:])):
        raise DataError(
            f"{where(-1)}: the first line must be the header ({expected_header}), but it seems to contain numbers; if "
            "the names are numbers, call the first column 'query'"
        )


def _split(text: str, separator: str) -> list[pl.Series] | None:
    """The columns as Polars splits them, if every line has as many; Polars itself takes a short one."""
    lines = text.removesuffix("\n")
    try:
        # Names come from the first row as data: Polars would silently rename a column that appears twice.
        table = pl.read_csv(
            plain_for_polars(lines.encode() + b"\n"),  # a last line without an end may be too long, unseen
            has_header=False,
            infer_schema=False,
            separator=separator,
            quote_char=None,
            truncate_ragged_lines=False,
        )
    except (pl.exceptions.PolarsError, OSError):
        return None
    if lines.count(separator) != (table.width - 1) * (lines.count("\n") + 1):
        return None
    cells = table.select(pl.all().str.strip_chars(WHITESPACE).replace("", None))
    cells = cells.filter(~pl.all_horizontal(pl.all().is_null()))
    return cells.get_columns() if cells.height else None


def _one_by_one(path: Path, text: str, separator: str, expected_header: str) -> list[list[str | None]]:
    rows: list[list[str | None]] = []
    for line, record in records(path, text, separator):
        if rows and len(record) != len(rows[0]):
            raise DataError.at(path, line, f"found {len(record)} columns, but the header has {len(rows[0])}")
        rows.append([field or None for field in record])
    if not rows:
        raise DataError.at(
            path, None, f"the file is empty; expected a header '{expected_header}' and then a line per row"
        )
    return [list(column) for column in zip(*rows, strict=True)]


_UNWRITABLE = re.compile(r"[\x00\r\ud800-\udfff]")
_LONE_RETURN = re.compile(r"\r(?!\n|\Z)")


def read_csv_text(path: Path) -> str:
    """The file's text, which must be UTF-8 and have no carriage return but before a line feed."""
    text = read_text(path)
    if lone := _LONE_RETURN.search(text):
        line = text.count("\n", 0, lone.start()) + 1
        raise DataError.at(path, line, OLD_MAC if "\n" not in text else "the line contains a carriage return")
    return text


def check_csv_names(
    path: str | os.PathLike[str], names: Iterable[str], remedy: str = "write a .parquet file instead"
) -> None:
    """Refuse to write names that would not be read back from CSV as they are."""
    for name in names:
        if not name or name != name.strip(WHITESPACE) or _UNWRITABLE.search(name):
            raise DataError.at(
                path,
                None,
                f"the name {shortened(name)} cannot be written in CSV, because it is empty, starts or ends with white "
                f"space, or contains a carriage return, NUL or an incomplete character; {remedy}",
            )


def records(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The filled records, each with the line it starts at."""
    for line, record in _all_records(path, text, separator):
        fields = [field.strip(WHITESPACE) for field in record]
        if any(fields):
            yield line, fields


def _all_records(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    if '"' not in text:
        yield from ((line, content.split(separator)) for line, content in enumerate(text.split("\n"), start=1))
        return
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    start = 1
    try:
        for record in reader:
            yield start, record
            start = reader.line_num + 1
    except csv.Error as error:
        quote = "a quotation mark is not closed, or closed before the column's end"
        what = f"a column is too long ({error})" if "limit" in str(error) else quote
        raise DataError.at(path, start, what) from error
