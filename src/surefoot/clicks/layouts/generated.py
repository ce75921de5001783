"""What layouts share that write generated logs: one clock for all sessions, and JSON lines."""

from __future__ import annotations

import polars as pl

from surefoot.clicks.generator import LogPart

_DAY = 86_400
_EPOCH = 1_767_225_600  # 2026-01-01, UTC, where day 0 of a generated log begins


def with_one_clock(part: LogPart) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Lists and clicks with one clock for all, in milliseconds, and the names that a web server would give."""
    begins = (_EPOCH + pl.col("day").cast(pl.Int64) * _DAY + pl.col("start")) * 1000
    lists = part.lists.with_columns(begins=begins, stamp=begins + pl.col("time") * 1000)
    lists = lists.with_columns(
        name=pl.concat_str("session", "list", separator="-"),
        documents=pl.col("documents").cast(pl.List(pl.String)),
        client=pl.col("user").cast(pl.String),
        session_name=pl.col("session").cast(pl.String),
    )
    joined = part.clicks.join(
        lists.select("session", "list", "name", "begins", "client", "session_name", shown="documents"),
        on=["session", "list"],
    )
    clicks = joined.with_columns(
        stamp=pl.col("begins") + pl.col("time") * 1000, document=pl.col("document").cast(pl.String)
    )
    return lists, clicks


def in_time_order(lists: pl.DataFrame, clicks: pl.DataFrame) -> pl.DataFrame:
    """The lines of lists and clicks in the order of their `stamp`."""
    return pl.concat([lists, clicks]).sort("stamp", maintain_order=True).select("line")


def as_json(**columns: str | pl.Expr) -> pl.Expr:
    """A row as a text of JSON, with these names."""
    named = [(pl.col(column) if isinstance(column, str) else column).alias(name) for name, column in columns.items()]
    return pl.struct(named).struct.json_encode()
