"""The events of a log in one DuckDB file: what a session, a user, a query or a document needs, and what is added.

`lists` and `clicks` hold the events, each once; `clicked` which results they clicked, as population counts need them.
An update is one transaction: once it returns, its events are on disk; a program that is killed before keeps none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from surefoot.clicks.backends import (
    check_tables,
    duckdb_library,
    pattern,
    reading_connection,
    record_batches,
    sealed_file,
)
from surefoot.clicks.events import ARRAY_COLUMNS, ClockSpan, LogFacts
from surefoot.clicks.log import CLICKS, LISTS
from surefoot.clicks.served.session_events import ClickEvent, Event, SessionEvents, ShownEvent
from surefoot.clicks.served.tallies import ClickedResult, QueryHistory, Tally
from surefoot.data.reading.limits import check_growth
from surefoot.errors import DataError, expecting, shortened

SCHEMA = "surefoot/click-state/1"
# Arrays are JSON texts here: with each new array, DuckDB's journal repeats those of up to 2,048 rows before it, 100 KB
# for one list, and every few hundred updates one waits until a journal so long is worked into the file.
_ARRAY_PLACES = [place for place, name in enumerate(LISTS) if name in ARRAY_COLUMNS]
_SCORES_PLACE = list(LISTS).index("scores")
_PARQUET = "read_parquet(?, hive_partitioning = false)"
_OWNER = "coalesce('u' || \"user\", 's' || session)"  # as `owner_name` has it
_EVENTS = {"lists": LISTS, "clicks": CLICKS}
_HIGHEST = "SELECT coalesce(max(number), 0) FROM (SELECT number FROM lists UNION ALL SELECT number FROM clicks)"
_CLICKED = {"session": "string", "query": "string", "document": "string", "owner": "string", "clicked": "int64",
            "satisfied": "int64"}  # fmt: skip
_INDEXES = {"lists": ("session", "user", "query"), "clicks": ("session", "user"),
            "clicked": ("session", "query", "document")}  # fmt: skip
_TABLES = {
    table: {name: "BIGINT" if kind == "int64" else "VARCHAR" for name, kind in columns.items()}
    for table, columns in (("lists", LISTS), ("clicks", CLICKS), ("clicked", _CLICKED))
} | {"about": {"name": "VARCHAR", "value": "VARCHAR"}}
# Columns without which an event is none.
_NEVER_NULL = {
    "lists": ("session", "time", "query", "documents", "number"), "clicks": ("session", "time", "document", "number"),
    "clicked": ("session", "query", "document", "owner", "clicked"), "about": ("name",),
}  # fmt: skip
_FEW = 20  # sessions that are looked up one by one


class StateError(DataError):
    """The file of events cannot be read or written."""


@dataclass
class AddedEvents:
    """What an update changes: sessions before and after, new events, users of sessions that had none, and clicks."""

    before: dict[str, SessionEvents]
    after: dict[str, SessionEvents] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    users: dict[str, str] = field(default_factory=dict)
    clicked: dict[str, list[ClickedResult]] = field(default_factory=dict)  # of sessions in which they changed
    no_longer: list[ClickedResult] = field(default_factory=list)  # what these had clicked before

    @property
    def lists(self) -> list[ShownEvent]:
        """Those of the new events that are lists."""
        return [event for event in self.events if isinstance(event, ShownEvent)]


class EventStore:
    """The file of a log's events; one program at a time may have it open, unless it only reads."""

    def __init__(self, path: Path, facts: LogFacts, *, read_only: bool) -> None:
        duckdb = duckdb_library()
        if not path.is_file():
            raise DataError.at(path, None, "there is no such file; save the model again")
        self.path, self._facts, self._errors = path, facts, duckdb.Error
        self.reporting = partial(reporting, duckdb.Error, path)
        self._shared = '"day"' if facts.shared_clock == "day" else '"time"'
        with self.reporting():
            try:
                self._connection = sealed_file(path, read_only=read_only)
            except duckdb.IOException as error:
                if "lock" not in str(error):
                    raise
                raise DataError.at(
                    path, None, "is in use by another program; one program at a time may have a model open (several, "
                    "if all only read)"
                ) from error  # fmt: skip
            self._writer = self._connection.cursor()
            try:
                self._check_contents()
            except BaseException:
                self.close()
                raise
            self._next_number = 1 + int(self._connection.execute(_HIGHEST).fetchall()[0][0])
            self.span = self._span()
            self._snapshots = {name: _Snapshot(self._connection, *sql) for name, sql in self._in_memory().items()}

    def _check_contents(self) -> None:
        """Refuse a file that holds something else, before anything in it is used."""
        execute = self._connection.execute
        check_tables(self._connection, self.path, _TABLES)
        stored = execute("SELECT value FROM about WHERE name = 'schema'").fetchone()
        if stored is None or stored[0] != SCHEMA:
            raise DataError.at(
                self.path, None, f"has schema {shortened(stored and stored[0])}; this version reads {SCHEMA!r}"
            )
        letters = 0
        for table, columns in _NEVER_NULL.items():
            absent = " OR ".join(f"{column} IS NULL" for column in columns)
            texts = [name for name, kind in _TABLES[table].items() if kind == "VARCHAR"]
            size = " + ".join(f'coalesce(strlen("{name}"), 0)' for name in texts)
            found = execute(f"SELECT count(*) FILTER (WHERE {absent}), coalesce(sum({size}), 0) FROM {table}")
            without, size_of_texts = found.fetchall()[0]
            letters += int(size_of_texts)
            if without:
                raise DataError.at(
                    self.path, None, f"has a row in {table} without {' or '.join(columns)}; save the model again"
                )
        check_growth(self.path, letters)

    @staticmethod
    def create(path: Path, study: Path, facts: LogFacts, name: Path | None = None) -> None:
        """A new file with the events of a study's folder; `name` is where it will be, for messages."""
        clock = ("day", "day") if facts.shared_clock == "day" else ("clicked_at", "satisfied_at")
        satisfied = f"CASE WHEN satisfied_at IS NOT NULL THEN {clock[1]} END AS satisfied"
        clicked = f"session, query, document, {_OWNER} AS owner, {clock[0]} AS clicked, {satisfied}"
        # The new file's own connection reads no other file, so rows are handed over to it, a batch at a time.
        with (
            reporting(duckdb_library().Error, name or path, "written"),
            sealed_file(path) as connection,
            reading_connection() as reading,
        ):
            for table, chosen, source, order in (
                ("lists", _as_stored(LISTS), "lists", '"user", session'),
                ("clicks", _as_stored(CLICKS), "clicks", '"user", session'),
                ("clicked", clicked, "results", "query"),
            ):
                condition = "clicked_at IS NOT NULL" if table == "clicked" else "true"
                columns = ", ".join(f'"{column}" {kind}' for column, kind in _TABLES[table].items())
                connection.execute(f"CREATE TABLE {table} ({columns})")
                rows = reading.execute(
                    f"SELECT {chosen} FROM {_PARQUET} WHERE {condition}",
                    [pattern(study / "results" / source)],
                )
                connection.register("found", record_batches(rows))
                connection.execute(f"INSERT INTO {table} SELECT * FROM found ORDER BY {order}")
                connection.unregister("found")
            for table, indexed in _INDEXES.items():
                for column in indexed:
                    connection.execute(f'CREATE INDEX {table}_{column} ON {table} ("{column}")')
            connection.execute("CREATE TABLE about (name VARCHAR, value VARCHAR)")
            connection.execute("INSERT INTO about VALUES ('schema', ?)", [SCHEMA])
            # Not the very first and last: a log may have a time that is wrong, but not many.
            for edge, share in (("first", 0.001), ("last", 0.999)):
                times = f"quantile_disc({'day' if facts.shared_clock == 'day' else 'time'}, {share})"
                connection.execute(f"INSERT INTO about SELECT '{edge}', {times}::VARCHAR FROM lists")
            connection.execute("CHECKPOINT")

    def _span(self) -> ClockSpan | None:
        """When the log's lists were shown, as it was saved; None without lists or a shared clock."""
        if self._facts.shared_clock is None:
            return None
        known = dict(self._connection.execute("SELECT name, value FROM about WHERE value IS NOT NULL").fetchall())
        if "first" not in known:
            return None
        seconds = 86_400.0 if self._facts.shared_clock == "day" else self._facts.seconds
        with expecting("a state", self.path, "save the model again"):
            return ClockSpan(self._facts.shared_clock, int(known["first"]), int(known["last"]), seconds)

    def _in_memory(self) -> dict[str, tuple[str, str]]:
        """What is in memory of the file as it was opened: by which column, and the rows."""
        if self._facts.shared_clock is None:
            return {}
        snapshots = {
            "lists of query": ("query", f"SELECT query, {self._shared} FROM lists"),
            "clicked of query": ("query", f"SELECT {_quoted(ClickedResult._fields)} FROM clicked"),
            "clicked of document": ("document", "SELECT document, clicked, owner FROM clicked"),
        }
        if self._facts.users:
            for table, columns in _EVENTS.items():
                sql = f'SELECT {_quoted(columns)} FROM {table} WHERE "user" IS NOT NULL'
                snapshots[f"{table} of user"] = ("user", sql)
        return snapshots

    def close(self) -> None:
        """Let go of the file."""
        self._writer.close()
        self._connection.close()

    def sessions(self, names: Sequence[str]) -> dict[str, SessionEvents]:
        """What is known of some sessions; a new one has no events."""
        if len(names) <= _FEW:
            found = [self._of_sessions("session = ?", [name]) for name in names]
            return {name: one.get(name) or SessionEvents(self._facts) for name, one in zip(names, found, strict=True)}
        every = self._of_sessions("session IN (SELECT unnest(?))", [list(names)])
        return {name: every.get(name) or SessionEvents(self._facts) for name in names}

    def sessions_of(self, user: str) -> list[SessionEvents]:
        """The sessions of a user."""
        if "lists of user" not in self._snapshots:
            return []
        lists, clicks = self._snapshots["lists of user"], self._snapshots["clicks of user"]
        if user in lists.changed:
            return list(self._of_sessions('"user" = ?', [user]).values())
        return list(self._made_of({"lists": lists.of(user), "clicks": clicks.of(user)}).values())

    def _of_sessions(self, condition: str, values: list[Any]) -> dict[str, SessionEvents]:
        execute = self._connection.execute
        return self._made_of(
            {
                name: execute(f"SELECT {_quoted(columns)} FROM {name} WHERE {condition}", values).fetchall()
                for name, columns in _EVENTS.items()
            }
        )

    def _made_of(self, rows: Mapping[str, Iterable[Sequence[Any]]]) -> dict[str, SessionEvents]:
        events: dict[str, list[Event]] = {}
        for row in rows["lists"]:
            with expecting("a list that was shown", self.path, "save the model again"):
                shown = _shown_event(row)
            events.setdefault(shown.session, []).append(shown)
        for row in rows["clicks"]:
            click = ClickEvent(*row)
            events.setdefault(click.session, []).append(click)
        return {name: SessionEvents(self._facts, mine[-1].user, mine) for name, mine in events.items()}

    def query(self, query: str) -> QueryHistory:
        """What everybody was shown and clicked for a query."""
        lists = self._rows("lists of query", query)
        clicked = self._rows("clicked of query", query)
        return QueryHistory((time for _, time in lists), (ClickedResult(*row) for row in clicked))

    def document(self, document: str) -> Tally:
        """Who clicked a document when."""
        return Tally((time, owner) for _, time, owner in self._rows("clicked of document", document))

    def _rows(self, snapshot: str, value: str) -> list[tuple[Any, ...]]:
        """The rows of a query or document: as they were at first or, where that has changed, as they are."""
        known = self._snapshots[snapshot]
        if value not in known.changed:
            return known.of(value)
        rows: list[tuple[Any, ...]] = self._connection.execute(f"{known.sql} WHERE {known.key} = ?", [value]).fetchall()
        return rows

    def numbered(self, events: Iterable[Event]) -> list[Event]:
        """Events with numbers above those of all others."""
        return [event._replace(number=self._next_number + event.number) for event in events]

    def save(self, added: AddedEvents) -> None:
        """Add events. Others may read meanwhile; they see all of it or nothing."""
        self._writer.execute("BEGIN")
        try:
            for session, user in added.users.items():
                for table in _EVENTS:
                    self._writer.execute(f'UPDATE {table} SET "user" = ? WHERE session = ?', [user, session])
            self._insert("lists", [_stored_list(shown) for shown in added.lists])
            self._insert("clicks", [event for event in added.events if isinstance(event, ClickEvent)])
            for session in added.clicked:
                self._writer.execute("DELETE FROM clicked WHERE session = ?", [session])
            self._insert("clicked", [(name, *row) for name, rows in added.clicked.items() for row in rows])
            self._writer.execute("COMMIT")
        except BaseException:
            with suppress(self._errors):  # a commit that failed has ended the transaction
                self._writer.execute("ROLLBACK")
            raise
        self._next_number = max([self._next_number, *(event.number + 1 for event in added.events)])

    def note_changes(self, added: AddedEvents) -> None:
        """Read what was saved from the file from now on."""
        touched = [*added.no_longer, *(row for rows in added.clicked.values() for row in rows)]
        changed: dict[str, set[str | None]] = {
            "user": {*(event.user for event in added.events), *added.users.values()},
            "query": {*(event.query for event in added.lists), *(row.query for row in touched)},
            "document": {row.document for row in touched},
        }
        for snapshot in self._snapshots.values():
            snapshot.changed |= changed[snapshot.key]

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if not rows:
            return
        columns = _TABLES[table]
        if len(rows) <= _FEW:  # sooner than a table of a few rows is set up
            values = ", ".join(["(" + ", ".join("?" * len(columns)) + ")"] * len(rows))
            self._writer.execute(f"INSERT INTO {table} VALUES {values}", [cell for row in rows for cell in row])
            return
        kinds = {name: pl.Int64 if kind == "BIGINT" else pl.String for name, kind in columns.items()}
        frame = pl.DataFrame(rows, schema=kinds, orient="row")
        self._writer.register("replacement", frame.to_arrow())
        self._writer.execute(f"INSERT INTO {table} SELECT * FROM replacement")
        self._writer.unregister("replacement")


class _Snapshot:
    """Rows by a key as they were when the file was opened: most of what is asked for has not changed since."""

    def __init__(self, connection: Any, key: str, sql: str) -> None:
        self.key, self.sql = key, sql
        self.changed: set[str | None] = set()
        frame = connection.execute(f'{sql} ORDER BY "{key}"').pl()
        sizes = frame.group_by(key, maintain_order=True).len()
        starts = sizes["len"].cum_sum() - sizes["len"]
        self._frame: pl.DataFrame = frame
        self._places = dict(zip(sizes[key].to_list(), zip(starts, sizes["len"], strict=True), strict=True))

    def of(self, value: str) -> list[tuple[Any, ...]]:
        """The rows of a value."""
        start, size = self._places.get(value, (0, 0))
        return self._frame.slice(start, size).rows()


def _stored_list(shown: ShownEvent) -> tuple[Any, ...]:
    row: list[Any] = list(shown)
    for place in _ARRAY_PLACES:
        row[place] = None if row[place] is None else json.dumps(row[place], ensure_ascii=False)
    return tuple(row)


def _shown_event(stored: Sequence[Any]) -> ShownEvent:
    row = list(stored)
    for place in _ARRAY_PLACES:
        if row[place] is not None:
            items = json.loads(row[place])
            fits = _is_score if place == _SCORES_PLACE else _is_text
            if not isinstance(items, list) or not all(map(fits, items)):
                raise ValueError(items)
            row[place] = tuple(items)
    shown = ShownEvent(*row)
    for beside in (shown.domains, shown.scores):
        if beside is not None and len(beside) != len(shown.documents):
            raise ValueError(beside)
    return shown


def _is_text(item: Any) -> bool:
    return type(item) is str


def _is_score(item: Any) -> bool:
    return type(item) is float or (type(item) is int and abs(item) < 2**1023)  # a larger one is no float


@contextmanager
def reporting(errors: type[Exception], path: Path, doing: str = "used") -> Iterator[None]:
    """Turn what DuckDB cannot do into an error that names the file."""
    try:
        yield
    except errors as error:
        raise StateError.at(path, None, f"cannot be {doing} ({shortened(str(error), 300)})") from error


def _as_stored(columns: Iterable[str]) -> str:
    return ", ".join(f"to_json({name})::VARCHAR" if name in ARRAY_COLUMNS else f'"{name}"' for name in columns)


def _quoted(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)
