"""A plain table of events, CSV or Parquet: session, time, query and shown for a list, or click; and user, score."""

from __future__ import annotations

from surefoot.clicks.backends import Engine
from surefoot.clicks.expressions import Table, ibis
from surefoot.clicks.layouts.timestamps import milliseconds
from surefoot.clicks.log import CLICKS, LISTS, Log, has_empty, of_schema, rejected
from surefoot.clicks.log_files import LogFile
from surefoot.errors import DataError, listed

NEEDED = ("session", "time", "query", "shown", "click")
_OPTIONAL = ("user", "scores")


def read(engine: Engine, file: LogFile, seconds: float | None) -> Log:
    """A log of one file; `seconds` is what a unit of `time` lasts, milliseconds where it is dates or nothing is said.

    `shown` is an array of documents in Parquet, and documents with spaces between in CSV; `scores` likewise. A row
    with both `shown` and `click` is a list and a click at one time.
    """
    parquet = file.path.suffix.lower() == ".parquet"
    rows = engine.parquet(file.path) if parquet else engine.csv(file.path)
    if file.unfinished is not None:
        raise DataError.at(file.path, None, "its last line has no end; finish it, or end it if it is whole")
    missing = [name for name in NEEDED if name not in rows.columns]
    if missing:
        raise DataError.at(
            file.path, 1, f"has no column {listed(missing)}; a table of events has {', '.join(NEEDED)}, and may have "
            f"{' and '.join(_OPTIONAL)}"
        )  # fmt: skip
    rows = rows.mutate(number=ibis.row_number())
    known = "user" in rows.columns
    user = rows.user.cast("string").nullif("") if known else ibis.null("string")
    scores = "scores" in rows.columns
    time = _moment(rows.time)
    rows = rows.mutate(
        session=rows.session.cast("string").nullif(""), user=user, time=time,
        query=rows.query.cast("string").nullif(""),
        documents=_array(rows.shown, "string"), document=rows.click.cast("string").nullif(""),
        scores=_array(rows.scores, "float64") if scores else ibis.null("array<float64>"),
    )  # fmt: skip
    is_list = rows.documents.length().fill_null(0) > 0
    written = [rows[name].cast("string").fill_null("") for name in ("session", "query", "document")]
    rows = rows.mutate(
        is_list=is_list,
        line=written[0] + "," + rows.time.cast("string").fill_null("") + "," + written[1] + "," + written[2],
        reason=ibis.cases(
            (rows.session.isnull(), "has no session"), (rows.time.isnull(), "has no time"),
            (is_list & rows.query.isnull(), "shows documents for no query"),
            (~is_list & rows.document.isnull(), "neither shows documents nor is a click"),
            (has_empty(rows.documents), "shows a document without an id"),
            (is_list & scores & (rows.scores.length().fill_null(0) != rows.documents.length()), "lacks scores"),
        ),
    )  # fmt: skip
    right = rows.filter(rows.reason.isnull())
    return Log(
        of_schema(right.filter(right.is_list).mutate(list=ibis.null("string")), LISTS),
        of_schema(right.filter(right.document.notnull()).mutate(list=ibis.null("string")), CLICKS),
        rejected(rows, str(file.path)),
        "time", seconds or 0.001, linked=False, users=known, domains=False,
        terms=False, scores=scores,
    )  # fmt: skip


def _moment(time: Table) -> Table:
    """A time as a whole number: as it is, or milliseconds of a date."""
    if time.type().is_timestamp():
        return (time.cast("timestamp").epoch_seconds() * 1000) + time.cast("timestamp").millisecond()
    return milliseconds(time.cast("string"))


def _array(values: Table, kind: str) -> Table:
    if values.type().is_array():
        return values.cast(f"array<{kind}>")
    parts = values.cast("string").strip().nullif("").re_split(r"\s+")
    return parts if kind == "string" else parts.map(lambda part: part.try_cast(kind))
