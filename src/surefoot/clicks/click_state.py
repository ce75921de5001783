"""What a log showed and clicked, in one DuckDB file that grows event by event, and features from it.

The file holds the events themselves, each once, and which clicks belong to which list. So late events and those out of
order need no rule of their own: an event counts from its own time on, whenever it arrives. A list's features come from
events strictly before it, by the same arrays as those of a whole log (`shards/`).

An update is one transaction: once `update` returns, its events are on disk; a program that is killed before keeps none
of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from surefoot.clicks.events import CLICK_COLUMNS, LIST_COLUMNS, EventTables, ShownRequest, event_tables
from surefoot.clicks.features import catalogue
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.log import Log
from surefoot.clicks.shards.counting import feature
from surefoot.clicks.shards.personal import ShardEvents, personal_features
from surefoot.clicks.shards.population import entropy_of
from surefoot.clicks.shards.shard_impressions import ShardImpressions, shard_impressions
from surefoot.errors import DataError, shortened
from surefoot.runtime import library

SCHEMA = "surefoot/click-state/1"
_OWNER = "coalesce('u' || \"user\", 's' || session)"  # whose click it was: a user's, or a session's of nobody known
# Numbers are taken when events are added: another program, or another object of this one, may have added some.
_HIGHEST = "SELECT coalesce(max(number), 0) FROM (SELECT number FROM lists UNION ALL SELECT number FROM clicks)"
_OF_LISTS = ["impression", "session", "user", "day", "time", "query", "terms", "place"]
_OF_RESULTS = ["impression", "document", "domain", "clicked_at", "satisfied_at", "skipped_at"]


@dataclass(frozen=True)
class LogFacts:
    """What is known of a log besides its events; see `Log`. `thresholds` of dwell are in its units of time."""

    shared_clock: str | None
    seconds: float
    linked: bool
    users: bool
    domains: bool
    terms: bool
    scores: bool
    thresholds: tuple[float, ...]

    def log(self) -> Log:
        """A log of these facts, without tables."""
        facts = asdict(self)
        facts.pop("thresholds")
        return Log(None, None, None, **facts)

    @property
    def satisfaction(self) -> Satisfaction:
        """Which clicks satisfied; the last of a session does."""
        return Satisfaction(self.thresholds)


class ClickState:
    """The events of a log in a DuckDB file; one program at a time may have it open."""

    def __init__(self, path: Path, facts: LogFacts, *, read_only: bool = False) -> None:
        duckdb = library("duckdb", "clicks", "the state of a personal ranker")
        if not path.is_file():
            raise DataError.at(path, None, "there is no such file; save the model again")
        self.path, self.facts, self._log = path, facts, facts.log()
        self._errors = duckdb.Error
        self._lock = threading.RLock()
        with self._reporting():
            self._connection = duckdb.connect(str(path), read_only=read_only)
            stored = self._connection.execute("SELECT value FROM about WHERE name = 'schema'").fetchone()
        if stored is None or stored[0] != SCHEMA:
            self.close()
            raise DataError.at(
                path, None, f"has schema {shortened(stored and stored[0])}; this version reads {SCHEMA!r}"
            )
        self._shared = "day" if facts.shared_clock == "day" else "time"

    @classmethod
    def create(cls, path: Path, study: Path, facts: LogFacts) -> None:
        """A new file with the events of a study's folder."""
        duckdb = library("duckdb", "clicks", "the state of a personal ranker")
        day = facts.shared_clock == "day"
        with duckdb.connect(str(path)) as connection:
            for name, columns in (("lists", LIST_COLUMNS), ("clicks", CLICK_COLUMNS)):
                quoted = ", ".join(f'"{column}"' for column in columns)
                connection.execute(
                    f"CREATE TABLE {name} AS SELECT {quoted} FROM read_parquet(?)", [_files(study, name)]
                )
            connection.execute(
                f"CREATE TABLE clicked AS SELECT session, query, document, {_OWNER} AS owner, "
                f"{'day' if day else 'clicked_at'} AS clicked, "
                f"CASE WHEN satisfied_at IS NOT NULL THEN {'day' if day else 'satisfied_at'} END AS satisfied "
                "FROM read_parquet(?) WHERE clicked_at IS NOT NULL",
                [_files(study, "results")],
            )
            connection.execute("CREATE TABLE about (name VARCHAR, value VARCHAR)")
            connection.execute("INSERT INTO about VALUES ('schema', ?)", [SCHEMA])
            connection.execute("CHECKPOINT")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def update(self, events: Sequence[Mapping[str, Any]]) -> dict[str, int]:
        """Add events, all or none of them; returns how many were `added`, and how many were there already."""
        tables = event_tables(events, self.facts)
        with self._lock, self._reporting():
            self._connection.execute("BEGIN")
            try:
                counts = self._add(tables)
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(self._errors):  # a commit that failed has ended the transaction
                    self._connection.execute("ROLLBACK")
                raise
        return counts

    def _add(self, new: EventTables) -> dict[str, int]:
        next_number = 1 + int(self._connection.execute(_HIGHEST).fetchall()[0][0])
        sessions = pl.concat([new.lists["session"], new.clicks["session"]]).unique().to_list()
        old = {
            name: self._frame(f"SELECT {_quoted(columns)} FROM {name} WHERE session IN (SELECT unnest(?))", [sessions])
            for name, columns in (("lists", LIST_COLUMNS), ("clicks", CLICK_COLUMNS))
        }
        parts = [old["lists"], old["clicks"]]
        lists, clicks = (
            pl.concat([part, more.with_columns(number=pl.col("number") + next_number).cast(part.schema)])
            for part, more in zip(parts, (new.lists, new.clicks), strict=True)
        )
        owners = _session_users(lists, clicks)
        lists, clicks = (_with_users(table, owners) for table in (lists, clicks))
        made = shard_impressions(lists, clicks, self.facts.satisfaction, linked=self.facts.linked)
        before, given = sum(map(len, parts)), len(new.lists) + len(new.clicks)
        added = len(made.lists) + len(made.clicks) - before
        if added:
            self._replace(sessions, made)
        return {"added": added, "repeated": given - added}

    def _replace(self, sessions: list[str], made: ShardImpressions) -> None:
        """Put what is known of some sessions in place of what was."""
        clicked = made.results.filter(pl.col("clicked_at").is_not_null())
        owner = pl.coalesce("u" + pl.col("user"), "s" + pl.col("session"))
        day = self._shared == "day"
        times = {"clicked": pl.col("day" if day else "clicked_at")}
        times["satisfied"] = pl.when(pl.col("satisfied_at").is_not_null()).then("day" if day else "satisfied_at")
        tables = {
            "lists": made.lists.select(*LIST_COLUMNS), "clicks": made.clicks.select(*CLICK_COLUMNS),
            "clicked": clicked.select("session", "query", "document", owner=owner, **times),
        }  # fmt: skip
        for name, table in tables.items():
            self._connection.execute(f"DELETE FROM {name} WHERE session IN (SELECT unnest(?))", [sessions])
            self._connection.register("replacement", table.to_arrow())
            self._connection.execute(f"INSERT INTO {name} SELECT * FROM replacement")
            self._connection.unregister("replacement")

    def features(self, request: ShownRequest) -> pl.DataFrame:
        """The documents of a list that is about to be shown, each once, with position and features."""
        with self._lock, self._reporting():
            if request.user is None:
                request = request.of_user(self._user_of(request.session))
            shown = request.results()
            columns = self._personal(request, shown)
            if self.facts.shared_clock is not None:
                columns |= self._population(request, shown["document"])
        names = [one.name for one in catalogue(self._log)]
        columns |= {"position": shown["position"], "score": shown["score"]}
        return shown.select("document").with_columns(columns[name].cast(pl.Float32).alias(name) for name in names)

    def _user_of(self, session: str) -> str | None:
        found = self._connection.execute(
            'SELECT max("user") FROM (SELECT "user" FROM lists WHERE session = $1 '
            'UNION ALL SELECT "user" FROM clicks WHERE session = $1)',
            [session],
        ).fetchone()
        return None if found is None or found[0] is None else str(found[0])

    def _personal(self, request: ShownRequest, results: pl.DataFrame) -> dict[str, pl.Series]:
        """The features that come from what the user and the session did before."""
        tables = []
        for name, columns in (("lists", LIST_COLUMNS), ("clicks", CLICK_COLUMNS)):
            chosen = f"SELECT {_quoted(columns)} FROM {name} WHERE"
            sql, values = f"{chosen} session = $1 AND time < $2", [request.session, request.time]
            if self.facts.users and self.facts.shared_clock and request.user is not None:
                sql += f' UNION ALL {chosen} "user" = $3 AND session <> $1 AND "{self._shared}" < $4'
                values += [request.user, request.shared_time(self.facts)]
            tables.append(self._frame(sql, values))
        lists, clicks = tables
        made = shard_impressions(lists, clicks, self.facts.satisfaction, linked=self.facts.linked)
        mine = made.lists.filter(pl.col("session") == request.session)
        shown = request.shown_list(1 + len(mine)).cast({name: made.lists.schema[name] for name in _OF_LISTS})
        rows = results.with_columns(impression=pl.lit(shown["impression"][0]))
        rows = rows.select(_OF_RESULTS).cast({name: made.results.schema[name] for name in _OF_RESULTS})
        events = ShardEvents.of(
            self._log,
            pl.concat([made.lists.select(_OF_LISTS), shown]),
            pl.concat([made.results.select(_OF_RESULTS), rows]),
        )
        attributed = made.clicks.filter(pl.col("reason").is_null())
        found = personal_features(self._log, events, attributed)
        return {name: values.tail(len(rows)) for name, values in found.items()}

    def _population(self, request: ShownRequest, documents: pl.Series) -> dict[str, pl.Series]:
        """The features that come from what everybody did before."""
        time = request.shared_time(self.facts)
        lists = self._connection.execute(
            f'SELECT count(*) FROM lists WHERE query = ? AND "{self._shared}" < ?', [request.query, time]
        ).fetchall()[0][0]
        of_query = self._frame(
            "SELECT document, count(*) AS n, count(*) FILTER (satisfied < $2) AS satisfied FROM clicked "
            "WHERE query = $1 AND clicked < $2 GROUP BY document",
            [request.query, time],
        )
        owners = self._frame(
            "SELECT document, count(*) AS n FROM clicked WHERE document IN (SELECT unnest($1)) AND clicked < $2 "
            "GROUP BY document, owner",
            [documents.to_list(), time],
        )
        by_document = owners.group_by("document").agg(
            clicks=pl.col("n").sum(), steps=(pl.col("n") * pl.col("n").cast(pl.Float64).log(2)).sum()
        )
        rows = pl.DataFrame({"document": documents}).join(of_query, on="document", how="left", maintain_order="left")
        rows = rows.join(by_document, on="document", how="left", maintain_order="left").fill_null(0)
        clicks, steps = rows["clicks"].cast(pl.Int64).to_numpy(), rows["steps"].to_numpy()
        entropy = entropy_of(clicks, steps)
        least = entropy[clicks > 0].min() if (clicks > 0).any() else np.nan
        n = of_query["n"].to_numpy().astype(np.float64)
        total = int(n.sum())
        query_entropy = entropy_of(np.array([total]), np.array([float((n * np.log2(n)).sum())]))[0]
        every = np.ones(len(rows))
        return {
            "query_lists": feature(every * lists), "query_clicks": feature(every * total),
            "query_entropy": feature(every * query_entropy), "pair_clicked": rows["n"],
            "pair_satisfied": rows["satisfied"], "document_clicked": rows["clicks"],
            "document_entropy": feature(entropy), "least_entropy": feature(every * least, ~np.isnan(every * least)),
        }  # fmt: skip

    def _frame(self, sql: str, values: list[Any]) -> pl.DataFrame:
        frame: pl.DataFrame = self._connection.execute(sql, values).pl()
        return frame

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Turn what DuckDB cannot do into an error that names the file."""
        try:
            yield
        except self._errors as error:
            raise DataError.at(self.path, None, f"cannot be used ({shortened(str(error), 300)})") from error


def _files(study: Path, name: str) -> str:
    return f"{study}/results/{name}/**/*.parquet"


def _quoted(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _session_users(lists: pl.DataFrame, clicks: pl.DataFrame) -> pl.DataFrame:
    """The user of each session; a session of two users is refused."""
    users = pl.concat([table.select("session", "user") for table in (lists, clicks)]).drop_nulls().unique()
    owners = users.group_by("session").agg(owner=pl.col("user").min(), other=pl.col("user").max())
    mixed = owners.filter(pl.col("owner") != pl.col("other"))
    if len(mixed):
        session, owner, other = mixed.row(0)
        raise DataError(
            f"session {shortened(session)} is of user {shortened(owner)} and of user {shortened(other)}; a session has "
            "one user, so none of these events was added"
        )
    return owners.select("session", "owner")


def _with_users(events: pl.DataFrame, owners: pl.DataFrame) -> pl.DataFrame:
    joined = events.join(owners, on="session", how="left", maintain_order="left")
    return joined.with_columns(user=pl.col("owner")).drop("owner")
