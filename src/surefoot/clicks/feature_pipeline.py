"""From a log's files to a table of features, in stages that are kept in a folder and not done twice.

    log.json          what was read and how; at the end also what was counted
    lists, clicks     the log's lists and clicks, ordered by shard: those of some users (or sessions)
    rejected          lines that say nothing, with the reason
    results …         for each shard: lists, clicks and results with what was clicked, satisfied and skipped
    population …      what everybody did before (Spark)
    features          the table: a row for each result that was shown
    rejected.csv, set_aside.csv      lines that say nothing, and clicks on no list, for people to read

DuckDB works on a few shards at a time, each on a core: in memory at once are their results, and of the whole log the
times of lists by query and the clicked results, which are few beside all results. Spark has shards of its own.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from surefoot import __version__
from surefoot.clicks.backends import Backend, DuckDB, open_backend, scan
from surefoot.clicks.features import catalogue
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import LogFile, ReadingSettings
from surefoot.clicks.layouts.reading import checked_files, read
from surefoot.clicks.log import IbisTable, Log, ibis, need_ibis
from surefoot.clicks.options import MEMORY
from surefoot.clicks.stages import ShardStages, WindowStages, store
from surefoot.data.reading.files import read_json
from surefoot.data.writing.all_or_nothing import writing
from surefoot.data.writing.resumable import ResumableFolder
from surefoot.errors import ArgumentError, DataError, SurefootWarning, expecting, shortened
from surefoot.progress import busy, steps
from surefoot.runtime import cores

SCHEMA = "surefoot/click-log/1"
FACTS = "log.json"
RULES = 4  # how counts and shards are made; 1: terms counted twice, sessions without a user; 2: larger; 3: folders
# What a folder may hold of one log; `models` and `personalization.json` are made of it, and do not outlive it.
_PARTS = (
    "lists", "clicks", "rejected", "results", "population", "features", "rejected.csv", "set_aside.csv", ".duckdb",
    "models", "personalization.json",
)  # fmt: skip
_SHARD = 8 << 20  # bytes of log whose features are made at once
_AT_ONCE = 4  # shards that are worked on at the same time, if there are so many cores: each takes memory


@dataclass(frozen=True)
class FeatureTable:
    """A table of features on disk: its Parquet files, the features' names and meanings, and what was counted.

    `clock` is what all sessions of the log share: "time", "day" or None.
    """

    folder: Path
    names: list[str]
    meanings: dict[str, str]
    counts: dict[str, Any]
    clock: str | None
    users: bool

    def scan(self) -> pl.LazyFrame:
        """The table, lazily; its rows are in no order."""
        return scan(self.folder / "features")

    def to_pandas(self) -> Any:
        """The whole table in pandas, which holds all of it in memory."""
        from surefoot.data.reading.frames import pandas_frame

        return pandas_frame(self.scan().collect())

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> FeatureTable:
        """The table that is in a folder."""
        facts = read_json(Path(folder) / FACTS)
        if not isinstance(facts, dict) or facts.get("schema") != SCHEMA or "counts" not in facts:
            raise DataError.at(folder, None, "does not contain a complete table of features")
        with expecting("a table of features", folder, "make it again in a new folder"):
            names = [feature["name"] for feature in facts["features"]]
            meanings = {feature["name"]: feature["meaning"] for feature in facts["features"]}
            return cls(Path(folder), names, meanings, facts["counts"], facts["clock"], facts["users"])


def feature_table(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    reading: ReadingSettings,
    satisfaction: Satisfaction,
    *,
    backend: str = "duckdb",
    memory: str = MEMORY,
    threads: int | None = None,
    shards: int | None = None,
    windows: bool = False,
    force: bool = False,
) -> FeatureTable:
    """The table of features of a log: made, finished or read, by what is there; `satisfaction` is in seconds.

    A folder that holds features of other settings is refused or, with `force`, begun anew.

    `windows`: by the expressions that Spark works by, on DuckDB too, which gives the same rows and takes longer.
    """
    need_ibis()
    files = checked_files(path, reading.layout)
    target = Path(folder)
    settings = {
        "schema": SCHEMA, "version": __version__, "files": [[file.path.name, file.digest] for file in files],
        "reading": asdict(reading), "satisfaction": asdict(satisfaction), "backend": backend, "shards": shards,
        "rules": RULES,
    }  # fmt: skip
    settings = json.loads(json.dumps(settings))
    study = ResumableFolder(target, FACTS, "study")
    with study.lock():
        stored = _stored_settings(study, settings, force)
        if stored is None or "counts" not in stored:
            with closing(open_backend(backend, target, memory, threads)) as opened:
                pipeline = _Pipeline(
                    opened, target, files, reading, satisfaction, shards, threads=threads, windows=windows
                )
                if stored is None:
                    study.write_settings(settings)
                try:
                    log = pipeline.read_log()
                except (ArgumentError, DataError):
                    if stored is None:  # refused before the work: the corrected call begins in an empty folder
                        study.discard(_PARTS)
                    raise
                counts = pipeline.run(log)
            described = [{"name": name, "meaning": meaning} for name, meaning in catalogue(log).items()]
            facts = settings | {"features": described, "counts": counts, "clock": log.shared_clock, "users": log.users}
            study.write_settings(facts)
        return FeatureTable.read(target)


def _stored_settings(folder: ResumableFolder, settings: dict[str, Any], force: bool) -> dict[str, Any] | None:
    """What the folder says of work of these settings, None if none was begun; what was begun goes on.

    A folder of other settings is refused or, with `force`, emptied.
    """
    stored = folder.resume()
    if stored is None:
        return None
    if "counts" not in stored and stored.get("rules") != RULES:
        other = "a table that another version of surefoot began, by other rules"
    else:
        # What features mean is in the schema, not in the release; a table that is complete is taken as it is.
        stored |= {"version": settings["version"], "rules": RULES}
        with expecting("settings of a table of features", folder.settings_file, "choose another folder"):
            other = settings_difference(stored, settings)
    if not other:
        return stored
    if not force:
        raise DataError.at(
            folder.path, None, f"contains {other}; choose another folder, or begin anew here with --force"
        )
    folder.discard(_PARTS)
    return None


class _Pipeline:
    """The stages of one log in one folder."""

    def __init__(
        self,
        backend: Backend,
        folder: Path,
        files: list[LogFile],
        reading: ReadingSettings,
        satisfaction: Satisfaction,
        shards: int | None,
        *,
        threads: int | None,
        windows: bool,
    ) -> None:
        self.backend, self.folder, self.files, self.reading = backend, folder, files, reading
        self.satisfaction = satisfaction
        size = sum(file.path.stat().st_size * (6 if file.path.suffix in (".gz", ".zst") else 1) for file in files)
        self.shards = shards or (1 + size // _SHARD if isinstance(backend, DuckDB) else 1)
        in_memory = isinstance(backend, DuckDB) and not windows
        self.stages = ShardStages(folder) if in_memory else WindowStages(backend, folder)
        self.at_once = min(_AT_ONCE, threads or cores()) if in_memory else 1

    def read_log(self) -> Log:
        """The log, on disk in shards; one that cannot be what the settings say is refused."""
        log = self._log()
        self._check_numbers()
        self._check_lists(log)
        if log.shared_clock is None:
            self._warn_of_clock(log)
        return log

    def run(self, log: Log) -> dict[str, Any]:
        """All other stages; what is there already is taken as it is."""
        thresholds = tuple(threshold / log.seconds for threshold in self.satisfaction.thresholds)
        in_log_units = replace(self.satisfaction, thresholds=thresholds)
        self._of_all_shards(partial(self.stages.impressions, log, in_log_units), "Finding what was clicked")
        self.stages.population(log)
        self._of_all_shards(partial(self.stages.features, log), "Making features")
        self._write_omitted()
        return self._counts(log)

    def _of_all_shards(self, stage: Callable[[int], None], doing: str) -> None:
        """A stage of every shard, of several at once where the stage can; the first error ends it."""
        with ThreadPoolExecutor(self.at_once, "surefoot-shard") as pool:
            tasks = [pool.submit(stage, shard) for shard in range(self.shards)]
            try:
                for task in steps(tasks, doing):
                    task.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _log(self) -> Log:
        """The log, with its lists and clicks in shards on disk."""
        log = read(self.backend, self.files, self.reading)
        owner = "user" if log.users and log.shared_clock else "session"
        with busy("Reading the log"):
            for name in ("lists", "clicks"):
                table = getattr(log, name)
                key = table[owner].coalesce(table.session) if owner == "user" else table.session
                sharded = table.mutate(shard=(key.hash() % self.shards).abs().cast("int32"))
                store(self.backend, sharded, self.folder / name, ("shard", "number"))
            rejected = store(self.backend, log.rejected, self.folder / "rejected")
            self.backend.forget()
        return replace(log, rejected=rejected)

    def _check_numbers(self) -> None:
        """Refuse a layout that numbers two rows alike: rows are joined by their numbers, so clicks would multiply."""
        for name in ("lists", "clicks"):
            table = self.backend.parquet(self.folder / name)
            [count] = self.backend.rows(table.aggregate(rows=table.count(), numbers=table.number.nunique()))
            if count["numbers"] < count["rows"]:
                raise TypeError(
                    f"layout {self.reading.layout}: {count['rows'] - count['numbers']:,} of its {name} have no number, "
                    "or the number of another row; number rows so that each number appears once"
                )

    def _check_lists(self, log: Log) -> None:
        """Refuse a log of which nothing is left, with the rules that rejected its lines."""
        if _count(self.backend, self.backend.parquet(self.folder / "lists").limit(1)):
            return
        reasons = sorted(_by_reason(self.backend, log.rejected).items(), key=lambda item: -item[1])
        summary = "; ".join(f"{count:,} {'line' if count == 1 else 'lines'}: {reason}" for reason, count in reasons[:5])
        raise DataError.at(
            self.files[0].path, None,
            f"shows no list of results, read as {self.reading.layout}" + (f" ({summary})" if summary else "")
            + "; is this the layout of the log?",
        )  # fmt: skip

    def _warn_of_clock(self, log: Log) -> None:
        """Say so where times do not look as if they counted from each session's start."""
        lists = self.backend.parquet(self.folder / "lists").select(*log.lists.columns)
        starts = lists.group_by("session").aggregate(first=lists.time.min())
        if _count(self.backend, starts.filter(starts["first"] > 0)) > _count(self.backend, starts) / 2:
            warnings.warn(
                "most sessions do not start at time 0. If all sessions share one clock, use --clock log. Then features "
                "of earlier behaviour of all users and splits by time become possible",
                SurefootWarning,
                stacklevel=2,
            )

    def _write_omitted(self) -> None:
        """Rejected lines and clicks on no list, as files that people can read."""
        rejected = scan(self.folder / "rejected")
        line_number = (
            pl.col("number") + 1 if isinstance(self.backend, DuckDB) else pl.lit(None, pl.Int64)
        )  # Spark counts none
        lines = rejected.sort("file", "number").select("file", "reason", line=line_number, text="line")
        clicks = scan(self.folder / "results" / "clicks")
        clicks = clicks.filter(pl.col("reason").is_not_null()).sort("number")
        for name, table in (
            ("rejected.csv", lines.select("file", "line", "reason", "text")),
            ("set_aside.csv", clicks.select("session", "time", "document", "reason")),
        ):
            with writing(self.folder / name) as file:
                table.collect().write_csv(file)

    def _counts(self, log: Log) -> dict[str, Any]:
        """What was read, what was made of it, and what was left out and why."""
        stages = ("lists", "clicks", "results", "repeated")
        lists, clicks, results, repeated = (self.backend.parquet(self.folder / "results" / name) for name in stages)
        totals = lists.aggregate(
            lists=lists.count(), sessions=lists.session.nunique(), users=lists.user.nunique(),
            queries=lists["query"].nunique(), shown=lists.documents.length().sum(),
        )  # fmt: skip
        [total] = self.backend.rows(totals)
        # A document is a result once in a list: only where results are fewer has one a document twice.
        with_repeats = 0
        if total.pop("shown") > _count(self.backend, results):
            with_repeats = _count(
                self.backend, lists.filter(lists.documents.unique().length() < lists.documents.length())
            )
        satisfied = results.filter(results.grade > 0)
        return {
            **total,
            "clicks": _count(self.backend, clicks.filter(clicks.reason.isnull())),
            "satisfied_lists": _count(self.backend, satisfied.select("impression").distinct()),
            "repeated": _count(self.backend, repeated),
            "duplicate_lists": with_repeats,
            "clicks_out_of_order": _count(self.backend, _out_of_order(log, self.backend, self.folder)),
            "set_aside": _by_reason(self.backend, clicks.filter(clicks.reason.notnull())),
            "rejected": _by_reason(self.backend, log.rejected),
        }


def _out_of_order(log: Log, backend: Backend, folder: Path) -> IbisTable:
    """Clicks whose line comes after one of their session with a later time."""
    events = backend.parquet(folder / "clicks").select("session", "time", "number", click=ibis.literal(1))
    if log.one_file:
        lists = backend.parquet(folder / "lists").select("session", "time", "number", click=ibis.literal(0))
        events = events.union(lists, distinct=False)
    above = ibis.rows_window(preceding=(None, 1), group_by="session", order_by="number")
    events = events.mutate(latest=events.time.max().over(above))
    return events.filter((events.click == 1) & (events.latest > events.time))


def _count(backend: Backend, table: IbisTable) -> int:
    [row] = backend.rows(table.aggregate(n=table.count()))
    return int(row["n"])


def _by_reason(backend: Backend, table: IbisTable) -> dict[str, int]:
    counts = table.group_by("reason").aggregate(n=table.count()).order_by("reason")
    return {row["reason"]: row["n"] for row in backend.rows(counts)}


_OPTIONS = {"seconds": "unit", "thresholds": "dwell"}  # by the settings' names


def settings_difference(stored: dict[str, Any], settings: dict[str, Any]) -> str:
    """What a folder holds that was made otherwise, and by which options; nothing where all is the same."""
    flat = [data | dict(data["reading"]) | dict(data["satisfaction"]) for data in (stored, settings)]
    before, now = ({name: value for name, value in one.items() if name in flat[1]} for one in flat)
    options = [name for name in now if name not in ("reading", "satisfaction", "schema", "files", "shards")]
    if (before.get("schema"), before.get("files")) != (now["schema"], now["files"]):
        return "features of another log, or of a log that has changed since"
    differing = [
        f"--{_OPTIONS.get(name, name)} was {_said(before.get(name))} and is {_said(now[name])}"
        for name in options
        if before.get(name) != now[name]
    ]
    if differing:
        return f"features of this log with other options: {', '.join(differing)}"
    return "features of this log in other shards" if before.get("shards") != now["shards"] else ""


def _said(value: Any) -> str:
    """A value as somebody types it.

    >>> _said([50.0, 400.0]), _said(True), _said(None), _said("ubi")
    ('50,400', 'yes', 'not given', 'ubi')
    """
    if value is None or isinstance(value, bool):
        return "not given" if value is None else "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(_said, value))
    return f"{value:g}" if isinstance(value, float) else shortened(value).strip("'")
