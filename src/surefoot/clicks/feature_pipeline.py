"""From a log's files to a table of features, in stages that are kept in a folder and not done twice.

    log.json          what was read and how, and what was counted; written last
    lists, clicks     the log's lists and clicks, in shards by user (or session)
    rejected          lines that say nothing, with the reason
    results …         for each shard: lists, clicks and results with what was clicked, satisfied and skipped
    population …      what everybody did before
    features          the table: a row for each result that was shown

DuckDB works on one shard after the other, so that memory does not grow with the log; Spark has shards of its own.
"""

from __future__ import annotations

import json
import os
import warnings
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from surefoot import __version__
from surefoot.clicks import features
from surefoot.clicks.backends import DuckDB, Engine, engine_of
from surefoot.clicks.expressions import Table, ibis
from surefoot.clicks.impressions import Impressions, Satisfaction, impressions
from surefoot.clicks.layouts.reading import Reading, look, read
from surefoot.clicks.log import Log
from surefoot.clicks.log_files import LogFile
from surefoot.clicks.options import MEMORY
from surefoot.data.reading.files import read_json
from surefoot.data.writing.all_or_nothing import writing
from surefoot.data.writing.resumable import ResumableFolder
from surefoot.errors import DataError, SurefootWarning, expecting
from surefoot.progress import busy, steps

SCHEMA = "surefoot/click-log/1"
FACTS = "log.json"
_SHARD = 24 << 20  # bytes of log whose features are made at once


@dataclass(frozen=True)
class FeatureTable:
    """A table of features on disk: its Parquet files, the features' names and meanings, and what was counted."""

    folder: Path
    names: list[str]
    meanings: dict[str, str]
    counts: dict[str, Any]
    clock: str | None
    users: bool

    def scan(self) -> pl.LazyFrame:
        """The table, lazily; its rows are in no order."""
        return pl.scan_parquet(f"{self.folder}/features/**/*.parquet", hive_partitioning=False)

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> FeatureTable:
        """The table that is in a folder."""
        facts = read_json(Path(folder) / FACTS)
        if not isinstance(facts, dict) or facts.get("schema") != SCHEMA or "counts" not in facts:
            raise DataError.at(folder, None, "holds no table of features that is finished")
        with expecting("a table of features", folder, "make it again in a new folder"):
            names = [feature["name"] for feature in facts["features"]]
            meanings = {feature["name"]: feature["meaning"] for feature in facts["features"]}
            return cls(Path(folder), names, meanings, facts["counts"], facts["clock"], facts["users"])


def feature_table(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    how: Reading,
    satisfaction: Satisfaction,
    *,
    engine: str = "duckdb",
    memory: str = MEMORY,
    threads: int | None = None,
    shards: int | None = None,
) -> FeatureTable:
    """Make the table of features of a log, or go on making it, or find it made; `satisfaction` is in seconds."""
    files = look(path, how.layout)
    target = Path(folder)
    asked = {
        "schema": SCHEMA, "version": __version__, "files": [[file.path.name, file.digest] for file in files],
        "reading": asdict(how), "satisfaction": asdict(satisfaction), "engine": engine, "shards": shards,
    }  # fmt: skip
    asked = json.loads(json.dumps(asked))
    resumable = ResumableFolder(target, FACTS, "study")
    with resumable.alone():
        if not _is_made(resumable, asked):
            with closing(engine_of(engine, target, memory, threads)) as running:
                log, counts = _Stages(running, target, files, how, satisfaction, shards).run()
            about = [{"name": feature.name, "meaning": feature.meaning} for feature in features.catalogue(log)]
            done = asked | {"features": about, "counts": counts, "clock": log.clock, "users": log.users}
            resumable.write_settings(done)
        return FeatureTable.read(target)


def _is_made(folder: ResumableFolder, asked: dict[str, Any]) -> bool:
    """Whether the table that is asked for is there; another log's folder is rejected, and what was begun goes on."""
    before = folder.resume()
    if before is None:
        folder.write_settings(asked)
        return False
    if {key: before.get(key) for key in asked} != asked:
        raise DataError.at(folder.path, None, "holds the features of another log, or of another reading; name another")
    return "counts" in before


class _Stages:
    def __init__(
        self,
        engine: Engine,
        folder: Path,
        files: list[LogFile],
        how: Reading,
        satisfaction: Satisfaction,
        shards: int | None,
    ) -> None:
        self.engine, self.folder, self.files, self.how = engine, folder, files, how
        self.satisfaction = satisfaction
        size = sum(file.path.stat().st_size * (6 if file.path.suffix in (".gz", ".zst") else 1) for file in files)
        self.shards = shards or (1 + size // _SHARD if isinstance(engine, DuckDB) else 1)

    def run(self) -> tuple[Log, dict[str, Any]]:
        """All stages; what is there already is taken as it is."""
        log = self._log()
        self._check_lists(log)
        if self.how.layout == "yandex2012" and log.clock is None:
            self._warn_of_clock(log)
        units = tuple(threshold / log.seconds for threshold in self.satisfaction.thresholds)
        seen = replace(self.satisfaction, thresholds=units)
        shards = range(self.shards)
        found = [self._impressions(log, seen, shard) for shard in steps(shards, "Finding what was clicked")]
        everybody = self._population(log)
        for shard in steps(shards, "Making features"):
            self._features(log, found[shard], shard, everybody)
        self._write_what_was_left_out()
        return log, self._counts(log)

    def _log(self) -> Log:
        """The log, with its lists and clicks in shards on disk."""
        log = read(self.engine, self.files, self.how)
        owner = "user" if log.users and log.clock else "session"
        with busy("Reading the log"):
            for name in ("lists", "clicks"):
                table = getattr(log, name)
                key = table[owner].coalesce(table.session) if owner == "user" else table.session
                self._keep(table.mutate(shard=_shard(key, self.shards)), name, "shard")
            rejected = self._keep(log.rejected, "rejected")
        return replace(log, rejected=rejected)

    def _check_lists(self, log: Log) -> None:
        """Refuse a log of which nothing is left, with the rules that rejected its lines."""
        if _count(self.engine.parquet(self.folder / "lists").limit(1)):
            return
        reasons = sorted(_by_reason(log.rejected).items(), key=lambda item: -item[1])
        said = "; ".join(f"{count:,} {'line' if count == 1 else 'lines'}: {reason}" for reason, count in reasons[:5])
        raise DataError.at(
            self.files[0].path, None,
            f"shows no list of results, read as {self.how.layout}" + (f" ({said})" if said else "")
            + "; is this the layout of the log?",
        )  # fmt: skip

    def _warn_of_clock(self, log: Log) -> None:
        """Say so where times do not look as if they counted from each session's start."""
        lists = self.engine.parquet(self.folder / "lists").select(*log.lists.columns)
        starts = lists.group_by("session").aggregate(first=lists.time.min())
        if _count(starts.filter(starts["first"] > 0)) > _count(starts) / 2:
            warnings.warn(
                "most sessions begin at other times than 0; if the log has one clock for all of them, say --clock log, "
                "for what everybody did before and for splits by time",
                SurefootWarning,
                stacklevel=2,
            )

    def _of_shard(self, log: Log, shard: int) -> Log:
        return replace(log, **{name: self._shard_of(name, getattr(log, name), shard) for name in ("lists", "clicks")})

    def _shard_of(self, name: str, like: Table, shard: int) -> Table:
        """A shard's rows; where it has none, no rows."""
        part = self.folder / name / f"shard={shard}"
        if part.is_dir():
            table = self.engine.parquet(part)
            return table.select(*like.columns)
        return self.engine.parquet(self.folder / name).filter(ibis.literal(False)).select(*like.columns)

    def _impressions(self, log: Log, satisfaction: Satisfaction, shard: int) -> Impressions:
        return impressions(
            self._of_shard(log, shard),
            satisfaction,
            lambda table, name: self._keep(table, f"results/{name}/shard={shard}"),
        )

    def _population(self, log: Log) -> list[Table]:
        """What everybody did before, on disk; nothing where sessions share no clock."""
        if log.clock is None:
            return []
        with busy("Counting what everybody clicked"):
            made = features.population(log, self.engine.parquet(self.folder / "results" / "results"), ("shard",))
            names = ("population/by_list", "population/by_result")
            return [self._keep(table, name, "shard") for name, table in zip(names, made, strict=True)]

    def _features(self, log: Log, found: Impressions, shard: int, everybody: list[Table]) -> None:
        target = f"features/shard={shard}"
        if (self.folder / target).exists():
            return
        rows = features.personal(log, found)
        if everybody:
            names = ("population/by_list", "population/by_result")
            parts = [
                self._shard_of(name, like.drop("shard"), shard) for name, like in zip(names, everybody, strict=True)
            ]
            rows = features.with_population(rows, *parts)
        self._keep(features.table(log, rows), target)

    def _keep(self, table: Table, name: str, by: str | None = None) -> Table:
        """A table computed once, from disk."""
        folder = self.folder / name
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            self.engine.write(table, folder, by)
        return self.engine.parquet(folder)

    def _write_what_was_left_out(self) -> None:
        """Rejected lines and clicks on no list, as files that people can read."""
        rejected = pl.scan_parquet(f"{self.folder}/rejected/*.parquet")
        place = pl.col("number") + 1 if isinstance(self.engine, DuckDB) else pl.lit(None, pl.Int64)  # Spark counts none
        lines = rejected.sort("file", "number").select("file", "reason", line=place, text="line")
        clicks = pl.scan_parquet(f"{self.folder}/results/clicks/**/*.parquet", hive_partitioning=False)
        clicks = clicks.filter(pl.col("reason").is_not_null()).sort("number")
        for name, table in (
            ("rejected.csv", lines.select("file", "line", "reason", "text")),
            ("set_aside.csv", clicks.select("session", "time", "document", "reason")),
        ):
            with writing(self.folder / name) as file:
                table.collect().write_csv(file)

    def _counts(self, log: Log) -> dict[str, Any]:
        """What was read, what was made of it, and what was left out and why."""
        lists, clicks, results, repeated = (
            self.engine.parquet(self.folder / "results" / name) for name in ("lists", "clicks", "results", "repeated")
        )
        wrong = lists.filter(lists.documents.unique().length() < lists.documents.length())
        found = lists.aggregate(
            lists=lists.count(), sessions=lists.session.nunique(), users=lists.user.nunique(),
            queries=lists["query"].nunique(),
        )  # fmt: skip
        satisfied = results.filter(results.grade > 0)
        return {
            **_rows(found)[0],
            "clicks": _count(clicks.filter(clicks.reason.isnull())),
            "satisfied_lists": int(satisfied.impression.nunique().to_pyarrow().as_py()),
            "repeated": _count(repeated),
            "lists_with_a_document_twice": _count(wrong),
            "clicks_out_of_order": _count(_out_of_order(log, self.engine, self.folder)),
            "set_aside": _by_reason(clicks.filter(clicks.reason.notnull())),
            "rejected": _by_reason(log.rejected),
        }


def _out_of_order(log: Log, engine: Engine, folder: Path) -> Table:
    """Clicks whose line stands below one of their session with a later time."""
    events = engine.parquet(folder / "clicks").select("session", "time", "number", click=ibis.literal(1))
    if log.one_file:
        lists = engine.parquet(folder / "lists").select("session", "time", "number", click=ibis.literal(0))
        events = events.union(lists, distinct=False)
    above = ibis.rows_window(preceding=(None, 1), group_by="session", order_by="number")
    events = events.mutate(latest=events.time.max().over(above))
    return events.filter((events.click == 1) & (events.latest > events.time))


def _shard(key: Table, shards: int) -> Table:
    return (key.hash() % shards).abs().cast("int64")


def _rows(table: Table) -> list[dict[str, Any]]:
    return list(table.to_pyarrow().to_pylist())


def _count(table: Table) -> int:
    return int(table.count().to_pyarrow().as_py())


def _by_reason(table: Table) -> dict[str, int]:
    counted = table.group_by("reason").aggregate(n=table.count()).order_by("reason")
    return {row["reason"]: row["n"] for row in _rows(counted)}
