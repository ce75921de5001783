"""CSV text as records, each with its line.

Lines end with a line feed, or CR LF; a field that holds the separator, a line's end or a quotation mark is quoted as
spreadsheets do; records of nothing but white space do not count, nor does white space around a field.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from surefoot.data.reading.files import OLD_MAC, WHITESPACE, read_text
from surefoot.errors import DataError, shortened

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
