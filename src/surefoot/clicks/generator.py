"""A made-up click log of any size, in which it is known whom personalization can help.

Queries have one meaning or several; what most people mean is highest in the shown list. Users have lasting
interests and, for a session, passing ones; some come back for one document. A user looks down the list, from result to
result (a cascade), clicks what looks right, and stays where it is. So personalization can help whoever means something
else than most people do, or looks for a document of their own, and nobody else.

The numbers below were fixed before anything was trained on such a log; docs/personalize.md says why they are what they
are, and what came of another set of them.

A generated log is written as real ones look, in a layout of `GENERATED_FILES`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from surefoot.arrays import Floats, Ints
from surefoot.clicks.options import GENERATED_FILES
from surefoot.data.writing.all_or_nothing import ensure_folder, writing
from surefoot.errors import ArgumentError, shortened

SHOWN = 10  # results in a list
TOPICS = 24
DOMAINS = 8  # of each topic
CANDIDATES = 14  # documents of a query; the best SHOWN of them are shown
AMBIGUOUS = 0.5  # share of queries with several meanings
MEANINGS = np.array([0.5, 0.3, 0.2])  # how many people mean each
SCORE_NOISE = 0.02  # deviation of the search engine's scores: for one query it shows nearly the same list every time
LASTING = np.array([0.7, 0.3])  # how much each of a user's two lasting interests counts
PASSING = 0.4  # share of sessions about something else
FAVOURITES = np.array([0.5, 0.25, 0.15, 0.1])  # queries for which a user wants a document of their own, by how often
REFINDING = 0.33  # share of lists that are about one of them: a third of all queries repeat (Teevan et al., SIGIR 2007)
DAYS = 30
SESSIONS = 8.0  # of a user, on average
LISTS = 1.8  # of a session, on average
LOOK_ON = 0.9  # chance to look at the next result after one that was not clicked …
LOOK_ON_CLICKED = 0.85  # … after a click that did not satisfy …
LOOK_ON_SATISFIED = 0.15  # … and after one that did
KINDS = ("plain", "ambiguous", "refinding")
_USERS = 20_000  # simulated at once
_DAY = 86_400
_EPOCH = 1_767_225_600  # 2026-01-01, UTC, where day 0 of a generated log begins
_HEADERS = {"table": "user,session,time,query,shown,click"}


@dataclass(frozen=True)
class LogPart:
    """Lists and clicks of some users, in time order within a session.

    `lists`: session, user, day, start (second of the day), time (since the session's start), list (number within the
    session), query, terms, documents, domains, and what only the generator knows: kind, topic, and `wanted`, the
    position of the best result for this user (0 where it was not shown). `clicks`: session, list, time, document,
    position.
    """

    lists: pl.DataFrame
    clicks: pl.DataFrame


class World:
    """Queries and their documents, the same for all users."""

    def __init__(self, queries: int, rng: np.random.Generator) -> None:
        self.ambiguous = rng.random(queries) < AMBIGUOUS
        meanings = np.argsort(rng.random((queries, TOPICS)), axis=1)[:, : len(MEANINGS)]
        weight = np.where(self.ambiguous[:, None], MEANINGS, [1.0, 0.0, 0.0])
        popularity = 1 / (1 + rng.permutation(queries))
        # A document is about one of its query's meanings; every meaning has at least one.
        choice = np.minimum((rng.random((queries, CANDIDATES, 1)) > np.cumsum(weight, axis=1)[:, None, :]).sum(2), 2)
        choice[:, : len(MEANINGS)] = np.where(self.ambiguous[:, None], np.arange(len(MEANINGS)), 0)
        self.topic = np.take_along_axis(meanings, choice, axis=1)
        self.quality = rng.uniform(0.3, 1.0, (queries, CANDIDATES))
        self.base = np.take_along_axis(weight, choice, axis=1) * self.quality
        self.order = np.argsort(-self.base, axis=1, kind="stable")  # as the search engine would show them
        self.domain = self.topic * DOMAINS + rng.integers(DOMAINS, size=self.topic.shape)
        self.terms = np.sort(rng.integers(1, max(20, queries // 3), (queries, 2)), axis=1)
        # For each topic, the queries that can mean it, by how often they do.
        self.by_topic: list[tuple[Ints, Floats]] = []
        for topic in range(TOPICS):
            interest = (weight * (meanings == topic)).sum(axis=1) * popularity
            known = np.flatnonzero(interest) if interest.any() else np.arange(queries)
            chance = interest[known] if interest.any() else popularity
            self.by_topic.append((known, np.cumsum(chance) / chance.sum()))

    def query(self, topic: Ints, rng: np.random.Generator) -> Ints:
        """A query that someone with this topic in mind types."""
        typed = np.empty(len(topic), dtype=np.int64)
        drawn = rng.random(len(topic))
        for number, (queries, chance) in enumerate(self.by_topic):
            mine = topic == number
            typed[mine] = queries[np.searchsorted(chance, drawn[mine]).clip(max=len(queries) - 1)]
        return typed


def generate_log(users: int, *, queries: int | None = None, seed: int = 0) -> Iterator[LogPart]:
    """A log of so many users, part by part; the same numbers and seed give the same log.

    There are 200 + users / 10 queries by default.

    >>> part = next(generate_log(3))
    >>> part.lists.columns[:5]
    ['session', 'user', 'day', 'start', 'time']
    """
    if users < 1 or (queries is not None and queries < 1):
        raise ArgumentError(f"a log needs at least one user and one query; found {users} and {queries}")
    world = World(200 + users // 10 if queries is None else queries, np.random.default_rng([seed, 0]))
    session = 0
    for first in range(0, users, _USERS):
        numbers = np.arange(first, min(users, first + _USERS))
        part = _simulate(world, numbers, session, np.random.default_rng([seed, 1, first]))
        session = int(part.lists["session"][-1])
        yield part


def _simulate(world: World, users: Ints, before: int, rng: np.random.Generator) -> LogPart:
    lasting = np.argsort(rng.random((len(users), TOPICS)), axis=1)[:, : len(LASTING)]
    favourite_query = world.query(lasting[:, [0] * len(FAVOURITES)].ravel(), rng).reshape(-1, len(FAVOURITES))
    # What one comes back for is something that one was shown.
    favourite_rank = rng.integers(SHOWN, size=favourite_query.shape)
    favourite_place = np.take_along_axis(world.order[favourite_query], favourite_rank[:, :, None], axis=2)[:, :, 0]
    sessions = 1 + rng.poisson(SESSIONS - 1, len(users))
    user_at = np.repeat(np.arange(len(users)), sessions)
    day = rng.integers(1, DAYS + 1, len(user_at))
    by_day = np.lexsort((day, user_at))
    day = day[by_day]
    start = rng.integers(0, 80_000, len(user_at))
    interest = np.where(
        rng.random(len(user_at)) < PASSING,
        rng.integers(TOPICS, size=len(user_at)),
        lasting[user_at, (rng.random(len(user_at)) > LASTING[0]).astype(int)],
    )
    count = rng.geometric(1 / LISTS, len(user_at))
    at = np.repeat(np.arange(len(user_at)), count)  # the session of each list
    who, topic = user_at[at], interest[at]
    refinding = rng.random(len(at)) < REFINDING
    which = rng.choice(len(FAVOURITES), size=len(at), p=FAVOURITES)
    query = np.where(refinding, favourite_query[who, which], world.query(topic, rng))
    # Who comes back for a document of their own wants no other, whatever its topic.
    own_place = np.where(refinding, favourite_place[who, which], -1)
    noisy = world.base[query] + rng.normal(0, SCORE_NOISE, (len(at), CANDIDATES))
    shown_candidates = np.argsort(-noisy, axis=1, kind="stable")[:, :SHOWN]
    matches = np.take_along_axis(world.topic[query], shown_candidates, axis=1) == topic[:, None]
    quality = np.take_along_axis(world.quality[query], shown_candidates, axis=1)
    own = shown_candidates == own_place[:, None]
    attracts = np.where(matches, 0.2 + 0.6 * quality, 0.05)
    satisfies = np.where(matches, 0.3 + 0.6 * quality, 0.1)
    attracts = np.where(refinding[:, None], np.where(own, 0.95, 0.05), attracts)
    satisfies = np.where(refinding[:, None], np.where(own, 0.95, 0.1), satisfies)
    clicked, satisfied = _cascade(attracts, satisfies, rng)
    dwell = np.where(satisfied, 50 + rng.lognormal(5.5, 1.0, clicked.shape), rng.integers(2, 45, clicked.shape))
    dwell = np.minimum(dwell, 3000).astype(np.int64)
    think = rng.integers(3, 15, len(at))  # before the first click
    # A click's time: the list's, the thinking, and the dwell on all clicks before it.
    spent = np.cumsum(dwell * clicked, axis=1)
    offset = think[:, None] + spent - dwell * clicked
    duration = think + spent[:, -1] + rng.integers(5, 60, len(at))
    first_list = np.flatnonzero(np.diff(at, prepend=-1))
    running = np.cumsum(duration) - duration
    time = running - np.repeat(running[first_list], count)
    number = np.arange(len(at)) - np.repeat(first_list, count)
    worth = np.where(refinding[:, None], own.astype(float), matches * quality)
    best = np.where(worth.max(axis=1) > 0, worth.argmax(axis=1) + 1, 0)
    kind = np.where(refinding, 2, world.ambiguous[query].astype(int))
    document = query[:, None] * CANDIDATES + shown_candidates + 1
    domain = np.take_along_axis(world.domain[query], shown_candidates, axis=1) + 1
    lists: dict[str, Any] = {
        "session": before + 1 + at, "user": users[who] + 1, "day": day[at], "start": start[at], "time": time,
        "list": number, "query": query + 1, "terms": world.terms[query], "documents": document, "domains": domain,
        "kind": pl.Series(np.array(KINDS)[kind]), "topic": topic, "wanted": best,
    }  # fmt: skip
    row, position = np.nonzero(clicked)
    clicks = pl.DataFrame(
        {
            "session": before + 1 + at[row], "list": number[row], "time": time[row] + offset[row, position],
            "document": document[row, position], "position": position + 1,
        }
    )  # fmt: skip
    return LogPart(pl.DataFrame(lists), clicks.sort("session", "time", maintain_order=True))


def _cascade(attracts: Floats, satisfies: Floats, rng: np.random.Generator) -> tuple[Any, Any]:
    """What is clicked, and what satisfies, when each user looks at one result after the other."""
    looks = np.ones(len(attracts), dtype=bool)
    clicked, satisfied = np.zeros(attracts.shape, dtype=bool), np.zeros(attracts.shape, dtype=bool)
    for position in range(attracts.shape[1]):
        clicked[:, position] = looks & (rng.random(len(looks)) < attracts[:, position])
        satisfied[:, position] = clicked[:, position] & (rng.random(len(looks)) < satisfies[:, position])
        on = np.where(satisfied[:, position], LOOK_ON_SATISFIED, LOOK_ON_CLICKED)
        looks &= rng.random(len(looks)) < np.where(clicked[:, position], on, LOOK_ON)
    return clicked, satisfied


def write_log(parts: Iterable[LogPart], path: str | os.PathLike[str], layout: str = "yandex2014") -> dict[str, int]:
    """Write a log; a file, or for `ubi` a folder. Returns how much was written."""
    lines_of = _LINES_OF.get(layout)
    if lines_of is None:
        raise ArgumentError(
            f"a log cannot be written in layout {shortened(layout)}; choose one of: {', '.join(_LINES_OF)}"
        )
    names = GENERATED_FILES[layout]
    if not names and Path(path).suffix.lower() == ".parquet":
        raise ArgumentError(f"{path}: a log is written as text, and Parquet is expected under this name; take another")
    counts = {"lists": 0, "clicks": 0, "lines": 0}
    with ExitStack() as stack:
        folder = stack.enter_context(ensure_folder(path)) if names else Path(path)
        paths = [folder / name for name in names] or [folder]
        files = [stack.enter_context(writing(path)) for path in paths]
        if layout in _HEADERS:
            files[0].write(f"{_HEADERS[layout]}\n".encode())
        for part in parts:
            for file, lines in zip(files, lines_of(part), strict=True):
                lines.write_csv(file, include_header=False, quote_style="never")
                counts["lines"] += len(lines)
            counts["lists"] += len(part.lists)
            counts["clicks"] += len(part.clicks)
    return counts


def write_kinds(parts: Iterable[LogPart], path: str | os.PathLike[str]) -> None:
    """Write what only the generator knows: the kind of each list, by the name that it has in a study."""
    with writing(path) as file:
        for number, part in enumerate(parts):
            name = pl.concat_str("session", pl.col("list") + 1, separator="-")
            part.lists.select(list=name, kind="kind").write_csv(file, include_header=number == 0)


def _yandex_lines(part: LogPart) -> Iterator[pl.DataFrame]:
    def text(name: str) -> pl.Expr:
        return pl.col(name).cast(pl.String)

    def items(*columns: str) -> list[pl.Expr]:
        """The items of arrays as one column of text for each place, of several arrays with commas between."""
        width = len(part.lists[columns[0]][0])
        by_position = (
            [pl.col(name).arr.get(position).cast(pl.String) for name in columns] for position in range(width)
        )
        return [pl.concat_str(cells, separator=",") for cells in by_position]

    def line(*cells: pl.Expr) -> pl.Expr:
        return pl.concat_str(cells, separator="\t")

    terms = pl.concat_str(items("terms"), separator=",")
    lists = part.lists.select(
        "session", "time", kind=pl.lit(1, pl.Int8),
        line=line(
            text("session"), text("time"), pl.lit("Q"), text("list"), text("query"), terms,
            *items("documents", "domains"),
        ),
    )  # fmt: skip
    clicks = part.clicks.select(
        "session", "time", kind=pl.lit(2, pl.Int8),
        line=line(text("session"), text("time"), pl.lit("C"), text("list"), text("document")),
    )  # fmt: skip
    sessions = part.lists.group_by("session", maintain_order=True).first().select(
        "session", time=pl.lit(0, pl.Int64), kind=pl.lit(0, pl.Int8),
        line=line(text("session"), pl.lit("M"), text("day"), text("user")),
    )  # fmt: skip
    ordered = pl.concat([sessions, lists, clicks]).sort("session", "time", "kind", maintain_order=True)
    yield ordered.select("line")


def _ubi_lines(part: LogPart) -> Iterator[pl.DataFrame]:
    lists, clicks = _with_one_clock(part)
    common: dict[str, str | pl.Expr] = {
        "application": pl.lit("surefoot"),
        "timestamp": pl.from_epoch("stamp", time_unit="ms").dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"),
        "client_id": "client",
        "query_id": "name",
    }
    yield lists.select(
        line=_as_json(
            **common, query_response_id="name", user_query=pl.col("query").cast(pl.String),
            query_response_hit_ids="documents",
        )
    )  # fmt: skip
    event: dict[str, str | pl.Expr] = {**common, "session_id": "session_name"}
    attributes = pl.struct(
        position=pl.struct(ordinal="position"), object=pl.struct(object_id="document", object_id_field=pl.lit("id"))
    )
    yield _in_time_order(
        lists.select("stamp", line=_as_json(action_name=pl.lit("impression"), **event)),
        clicks.select("stamp", line=_as_json(action_name=pl.lit("click"), **event, event_attributes=attributes)),
    )


def _metarank_lines(part: LogPart) -> Iterator[pl.DataFrame]:
    lists, clicks = _with_one_clock(part)
    common: dict[str, str | pl.Expr] = {
        "timestamp": pl.col("stamp").cast(pl.String),
        "user": "client",
        "session": "session_name",
    }
    items = pl.col("documents").list.eval(pl.struct(id=pl.element()))
    field = pl.struct(name=pl.lit("query"), value=pl.col("query").cast(pl.String))
    rankings = lists.select(
        "stamp",
        line=_as_json(event=pl.lit("ranking"), id="name", **common, fields=pl.concat_list(field), items=items),
    )
    interactions = clicks.select(
        "stamp",
        line=_as_json(
            event=pl.lit("interaction"), id=pl.concat_str("name", "position", separator="-"), ranking="name",
            **common, type=pl.lit("click"), item="document",
        ),
    )  # fmt: skip
    yield _in_time_order(rankings, interactions)


def _table_lines(part: LogPart) -> Iterator[pl.DataFrame]:
    lists, clicks = _with_one_clock(part)
    common, empty = [pl.col("client"), pl.col("session_name"), pl.col("stamp").cast(pl.String)], pl.lit("")
    query, documents = pl.col("query").cast(pl.String), pl.col("documents").list.join(" ")
    yield _in_time_order(
        lists.select("stamp", line=pl.concat_str([*common, query, documents, empty], separator=",")),
        clicks.select("stamp", line=pl.concat_str([*common, empty, empty, pl.col("document")], separator=",")),
    )


def _with_one_clock(part: LogPart) -> tuple[pl.DataFrame, pl.DataFrame]:
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


def _in_time_order(lists: pl.DataFrame, clicks: pl.DataFrame) -> pl.DataFrame:
    """The lines of lists and clicks in the order of their `stamp`."""
    return pl.concat([lists, clicks]).sort("stamp", maintain_order=True).select("line")


def _as_json(**columns: str | pl.Expr) -> pl.Expr:
    """A row as a text of JSON, with these names."""
    named = [(pl.col(column) if isinstance(column, str) else column).alias(name) for name, column in columns.items()]
    return pl.struct(named).struct.json_encode()


_LINES_OF: dict[str, Callable[[LogPart], Iterator[pl.DataFrame]]] = {
    "yandex2014": _yandex_lines, "ubi": _ubi_lines, "metarank": _metarank_lines, "table": _table_lines,
}  # fmt: skip
