"""Dates of queries, from a file of lines `query date`."""

from __future__ import annotations

import datetime
import os
import re

from surefoot.data.reading.files import OLD_MAC, WHITESPACE, existing_file, read_text
from surefoot.errors import DataError, shortened

_BETWEEN = re.compile(f"[{WHITESPACE},]+")
_DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?)?", re.ASCII
)


def read_dates(path: str | os.PathLike[str]) -> dict[str, datetime.date]:
    """Queries' dates from lines `query date`, the date as 2026-11-15 (a time of day after it is left out).

    Columns are separated by white space, or by a comma or tab; a header line `query date` may come first.
    """
    dates: dict[str, datetime.date] = {}
    text = read_text(existing_file(path))
    if "\n" not in text and "\r" in text.strip(WHITESPACE):
        raise DataError.at(path, 1, OLD_MAC)
    first = True
    for number, line in enumerate(text.split("\n"), start=1):
        query, _, text_of_date = _BETWEEN.sub(" ", line).strip(" ").partition(" ")
        if not query:
            continue
        header, first = first and text_of_date.lower() == "date", False
        if header:
            continue
        if not text_of_date:
            raise DataError.at(
                path, number, f"no date after {shortened(query)}; expected 'query date', as in '301 2026-11-15'"
            )
        date = date_of(text_of_date)
        if date is None:
            raise DataError.at(path, number, f"{shortened(text_of_date)} is not a date; write it as 2026-11-15")
        if dates.setdefault(query, date) != date:
            raise DataError.at(
                path, number, f"query {shortened(query)} has two dates, {dates[query]} and {date}; keep one"
            )
    if not dates:
        raise DataError.at(path, None, "the file contains no dates; expected lines of the form 'query date'")
    return dates


def date_of(text: str) -> datetime.date | None:
    """The date of a text that is one, with or without a time of day."""
    match = _DATE.fullmatch(text)
    try:
        return datetime.date.fromisoformat(match[1]) if match else None
    except ValueError:  # such as a 13th month
        return None
