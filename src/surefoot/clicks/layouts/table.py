"""A plain table of events, CSV or Parquet: session, time, query and shown for a list, or click; and user, scores."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.clicks.backends import Backend
from surefoot.clicks.layouts.layout import LogFile, LogLayout, ReadingSettings, milliseconds
from surefoot.clicks.log import IbisTable, Log, has_empty, ibis, parsed_once, rejected_lines
from surefoot.errors import DataError, name_list

_REQUIRED = ("session", "time", "query", "shown", "click")
_OPTIONAL = ("user", "scores")


def _recognizes(line: str) -> bool:
    return set(_REQUIRED) <= {column.strip().strip('"') for column in line.split(",")}


def _read(backend: Backend, files: Sequence[LogFile], settings: ReadingSettings) -> Log:
    """A log of one file; `time` counts milliseconds where it is dates or no unit is given.

    `shown` is an array of documents in Parquet, and documents with spaces between in CSV; `scores` likewise. A row
    with both `shown` and `click` is a list and a click at one time.
    """
    (file,) = files
    parquet = file.path.suffix.lower() in LAYOUT.endings
    rows = backend.parquet(file.path) if parquet else backend.csv(file.path)
    if file.unfinished is not None:
        raise DataError.at(
            file.path, None, "the last line has no line feed at its end; complete the line, or add a line feed"
        )
    missing = [name for name in _REQUIRED if name not in rows.columns]
    if missing:
        raise DataError.at(
            file.path, 1, f"has no column {name_list(missing)}; a table of events has {', '.join(_REQUIRED)}, and may "
            f"have {' and '.join(_OPTIONAL)}"
        )  # fmt: skip
    rows = rows.mutate(number=ibis.row_number() + (0 if parquet else 1))  # a CSV file has a header
    has_users, has_scores = (name in rows.columns for name in _OPTIONAL)
    rows = rows.mutate(
        session=rows.session.cast("string").nullif(""),
        user=rows.user.cast("string").nullif("") if has_users else ibis.null("string"), time=_time(rows.time),
        query=rows.query.cast("string").nullif(""),
        documents=_array(rows.shown, "string"), document=rows.click.cast("string").nullif(""),
        scores=_array(rows.scores, "float64") if has_scores else ibis.null("array<float64>"),
    )  # fmt: skip
    is_list = rows.documents.length().fill_null(0) > 0
    line = ibis.literal(",").join(
        [rows[name].cast("string").fill_null("") for name in ("session", "time", "query", "document")]
    )
    rows = rows.mutate(
        is_list=is_list,
        line=line,
        reason=ibis.cases(
            (rows.session.isnull(), "has no session"), (rows.time.isnull(), "has no time"),
            (is_list & rows.query.isnull(), "shows documents for no query"),
            (~is_list & rows.document.isnull(), "neither shows documents nor is a click"),
            (has_empty(rows.documents), "shows a document without an id"),
            (is_list & has_scores & (rows.scores.length().fill_null(0) != rows.documents.length()), "lacks scores"),
        ),
    )  # fmt: skip
    rows = parsed_once(backend, rows.drop("shown", "click"))
    valid = rows.filter(rows.reason.isnull()).mutate(list=ibis.null("string"))
    return LAYOUT.log(
        valid.filter(valid.is_list), valid.filter(valid.document.notnull()), rejected_lines(rows, str(file.path)),
        settings, users=has_users, scores=has_scores,
    )  # fmt: skip


def _time(time: IbisTable) -> IbisTable:
    """A time as an integer: as it is, or milliseconds of a date."""
    if time.type().is_timestamp():
        return (time.cast("timestamp").epoch_seconds() * 1000) + time.cast("timestamp").millisecond()
    return milliseconds(time.cast("string"))


def _array(values: IbisTable, kind: str) -> IbisTable:
    if values.type().is_array():
        return values.cast(f"array<{kind}>")
    parts = values.cast("string").strip().nullif("").re_split(r"\s+")
    return parts if kind == "string" else parts.map(lambda part: part.try_cast(kind))


LAYOUT = LogLayout(
    name="table",
    recognizes=_recognizes,
    read=_read,
    endings=(".parquet",),
    unit=0.001,
    has_users=True,
    has_scores=True,
)
