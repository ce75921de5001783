"""Generated logs written as real ones look: the 2014 challenge's lines, UBI's and Metarank's events, a plain table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import polars as pl

from surefoot.clicks.generator import Part
from surefoot.data.writing.all_or_nothing import ensure_folder, writing
from surefoot.errors import ArgumentError, shortened

_DAY = 86_400
_EPOCH = 1_767_225_600  # 2026-01-01, UTC, where day 0 of a generated log begins


def write_log(parts: Iterable[Part], path: str | os.PathLike[str], layout: str = "yandex2014") -> dict[str, int]:
    """Write a log; a file, or for `ubi` a folder. Returns what was written."""
    if layout not in _WRITERS:
        raise ArgumentError(f"no log can be written as {shortened(layout)}; {', '.join(_WRITERS)} can")
    names, write = _WRITERS[layout]
    counted = {"lists": 0, "clicks": 0, "lines": 0}
    with ExitStack() as stack:
        folder = stack.enter_context(ensure_folder(path)) if names else Path(path)
        files = [stack.enter_context(writing(folder / name)) for name in names] or [stack.enter_context(writing(path))]
        for header in filter(None, [_HEADERS.get(layout)]):
            files[0].write(f"{header}\n".encode())
        for part in parts:
            counted["lines"] += sum(_put(file, frame) for file, frame in zip(files, write(part), strict=True))
            counted["lists"] += len(part.lists)
            counted["clicks"] += len(part.clicks)
    return counted


def write_kinds(parts: Iterable[Part], path: str | os.PathLike[str]) -> None:
    """Write what only the generator knows: the kind of each list, by the name that it has in a study."""
    with writing(path) as file:
        for number, part in enumerate(parts):
            name = pl.concat_str("session", pl.col("list") + 1, separator="-")
            part.lists.select(list=name, kind="kind").write_csv(file, include_header=number == 0)


def _put(file: BinaryIO, lines: pl.DataFrame) -> int:
    lines.write_csv(file, include_header=False, quote_style="never")
    return len(lines)


def _joined(frame: pl.DataFrame, *columns: str) -> pl.Expr:
    """Lists of numbers of several columns as one text: pairs with commas, in order."""
    width = len(frame[columns[0]][0])
    cells = [
        pl.concat_str([pl.col(name).arr.get(place).cast(pl.String) for name in columns], separator=",")
        for place in range(width)
    ]
    return pl.concat_str(cells, separator="\t")


def _yandex2014(part: Part) -> Iterator[pl.DataFrame]:
    text = [pl.col(name).cast(pl.String) for name in ("session", "time", "list", "query")]
    lists = part.lists.select(
        "session", "time", kind=pl.lit(1, pl.Int8), line=pl.concat_str(
            [text[0], text[1], pl.lit("Q"), text[2], text[3], pl.concat_str(
                [pl.col("terms").arr.get(place).cast(pl.String) for place in range(2)], separator=","),
             _joined(part.lists, "documents", "domains")], separator="\t"),
    )  # fmt: skip
    clicks = part.clicks.select(
        "session", "time", kind=pl.lit(2, pl.Int8), line=pl.concat_str(
            [text[0], text[1], pl.lit("C"), text[2], pl.col("document").cast(pl.String)], separator="\t"),
    )  # fmt: skip
    sessions = part.lists.group_by("session", maintain_order=True).first().select(
        "session", time=pl.lit(0, pl.Int64), kind=pl.lit(0, pl.Int8), line=pl.concat_str(
            [text[0], pl.lit("M"), pl.col("day").cast(pl.String), pl.col("user").cast(pl.String)], separator="\t"),
    )  # fmt: skip
    ordered = pl.concat([sessions, lists, clicks]).sort("session", "time", "kind", maintain_order=True)
    yield ordered.select("line")


def _timed(part: Part) -> tuple[pl.DataFrame, pl.DataFrame]:
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


def _json(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows as JSON, in one column of text."""
    return frame.select(line=_json_of(**{name: pl.col(name) for name in frame.columns}))


def _json_of(**columns: str | pl.Expr) -> pl.Expr:
    named = [(pl.col(one) if isinstance(one, str) else one).alias(name) for name, one in columns.items()]
    return pl.struct(named).struct.json_encode()


def _ubi(part: Part) -> Iterator[pl.DataFrame]:
    lists, clicks = _timed(part)
    when = pl.from_epoch("stamp", time_unit="ms").dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
    common: dict[str, str | pl.Expr] = {
        "application": pl.lit("surefoot"),
        "timestamp": when,
        "client_id": "client",
        "query_id": "name",
    }
    yield _json(
        lists.select(
            **common, query_response_id="name", user_query=pl.col("query").cast(pl.String),
            query_response_hit_ids="documents",
        )
    )  # fmt: skip
    event: dict[str, str | pl.Expr] = {**common, "session_id": "session_name"}
    shown = lists.select("stamp", line=_json_of(action_name=pl.lit("impression"), **event))
    attributes = pl.struct(
        position=pl.struct(ordinal="position"), object=pl.struct(object_id="document", object_id_field=pl.lit("id"))
    )
    clicked = clicks.select("stamp", line=_json_of(action_name=pl.lit("click"), **event, event_attributes=attributes))
    yield pl.concat([shown, clicked]).sort("stamp", maintain_order=True).select("line")


def _metarank(part: Part) -> Iterator[pl.DataFrame]:
    lists, clicks = _timed(part)
    common: dict[str, str | pl.Expr] = {
        "timestamp": pl.col("stamp").cast(pl.String),
        "user": "client",
        "session": "session_name",
    }
    items = pl.col("documents").list.eval(pl.struct(id=pl.element()))
    field = pl.struct(name=pl.lit("query"), value=pl.col("query").cast(pl.String))
    ranked = lists.select(
        "stamp",
        line=_json_of(event=pl.lit("ranking"), id="name", **common, fields=pl.concat_list(field), items=items),
    )
    clicked = clicks.select(
        "stamp",
        line=_json_of(
            event=pl.lit("interaction"), id=pl.concat_str("name", "position", separator="-"), ranking="name",
            **common, type=pl.lit("click"), item="document",
        ),
    )  # fmt: skip
    yield pl.concat([ranked, clicked]).sort("stamp", maintain_order=True).select("line")


def _table(part: Part) -> Iterator[pl.DataFrame]:
    lists, clicks = _timed(part)
    shown = pl.col("documents").list.join(" ")
    text: dict[str, str | pl.Expr] = {
        "user": "client",
        "session": "session_name",
        "time": pl.col("stamp").cast(pl.String),
    }
    empty = pl.lit("")
    rows = [
        lists.select("stamp", line=_comma(**text, query=pl.col("query").cast(pl.String), shown=shown, click=empty)),
        clicks.select("stamp", line=_comma(**text, query=empty, shown=empty, click=pl.col("document"))),
    ]
    yield pl.concat(rows).sort("stamp", maintain_order=True).select("line")


def _comma(**columns: str | pl.Expr) -> pl.Expr:
    return pl.concat_str([pl.col(one) if isinstance(one, str) else one for one in columns.values()], separator=",")


_WRITERS: dict[str, tuple[tuple[str, ...], Callable[[Part], Iterator[pl.DataFrame]]]] = {
    "yandex2014": ((), _yandex2014),
    "ubi": (("ubi_queries.jsonl", "ubi_events.jsonl"), _ubi),
    "metarank": ((), _metarank),
    "table": ((), _table),
}
_HEADERS = {"table": "user,session,time,query,shown,click"}
