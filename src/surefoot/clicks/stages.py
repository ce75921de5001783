"""The stages of a log after its lists and clicks are stored, shard by shard, each a folder that appears complete.

`ShardStages` works by arrays in memory. `WindowStages` gives the same, row for row, by expressions that any backend
computes: Spark works by these; on DuckDB they are the slow reference that tests and benchmarks hold `shards/` against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from surefoot.clicks import features
from surefoot.clicks.backends import Backend, scan
from surefoot.clicks.features import ROW_COLUMNS, catalogue
from surefoot.clicks.impressions import Impressions, Satisfaction, impressions
from surefoot.clicks.log import IbisTable, Log, ibis, union
from surefoot.clicks.shards.shard_features import Population, ShardEvents, personal_features
from surefoot.clicks.shards.shard_impressions import shard_impressions
from surefoot.data.writing.all_or_nothing import new_folder
from surefoot.progress import busy

_TABLES = ("lists", "clicks", "repeated", "results")
_OF_LISTS = ["impression", "session", "user", "day", "time", "query", "terms", "place"]
_POPULATION = ("population/by_list", "population/by_result")  # folders of what everybody did before


class WindowStages:
    """Each stage as expressions that the backend computes."""

    def __init__(self, backend: Backend, folder: Path) -> None:
        self._backend, self._folder = backend, folder
        self._impressions: dict[int, Impressions] = {}
        self._population: list[IbisTable] = []

    def impressions(self, log: Log, satisfaction: Satisfaction, shard: int) -> None:
        """Store the lists, clicks and results of a shard; thresholds are in the log's units."""
        tables = {name: self._table_of_shard(name, getattr(log, name), shard) for name in ("lists", "clicks")}
        self._impressions[shard] = impressions(
            replace(log, **tables), satisfaction,
            lambda table, name: store(self._backend, table, self._folder / "results" / name / f"shard={shard}"),
        )  # fmt: skip

    def population(self, log: Log) -> None:
        """Count what everybody did before; nothing where sessions share no clock."""
        if log.shared_clock is None:
            return
        with busy("Counting what everybody clicked"):
            results = union(
                [made.results.mutate(shard=ibis.literal(shard)) for shard, made in self._impressions.items()]
            )
            tables = features.population(log, results, ("shard",))
            self._population = [
                store(self._backend, table, self._folder / name, ("shard",))
                for name, table in zip(_POPULATION, tables, strict=True)
            ]

    def features(self, log: Log, shard: int) -> None:
        """The table of features of a shard."""
        target = self._folder / "features" / f"shard={shard}"
        if target.exists():
            return
        rows = features.personal(log, self._impressions[shard])
        if self._population:
            parts = [
                self._table_of_shard(name, table.drop("shard"), shard)
                for name, table in zip(_POPULATION, self._population, strict=True)
            ]
            rows = features.with_population(rows, *parts)
        store(self._backend, features.table(log, rows), target)

    def _table_of_shard(self, name: str, like: IbisTable, shard: int) -> IbisTable:
        """The rows of a shard, which may be none."""
        table = self._backend.parquet(self._folder / name)
        return table.filter(table.shard.cast("int64") == shard).select(*like.columns)  # to Spark, folders are texts


def store(backend: Backend, table: IbisTable, folder: Path, by: Sequence[str] = ()) -> IbisTable:
    """A table computed once, from disk."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        backend.write(table, folder, by)
    return backend.parquet(folder)


class ShardStages:
    """Each stage by arrays in memory, of one shard at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._population: Population | None = None

    def impressions(self, log: Log, satisfaction: Satisfaction, shard: int) -> None:
        """Lists, clicks and results of a shard."""
        targets = {name: self._folder / "results" / name / f"shard={shard}" for name in _TABLES}
        if all(target.exists() for target in targets.values()):
            return
        in_shard = pl.col("shard") == shard
        lists, clicks = (self._scan(name).filter(in_shard).drop("shard").collect() for name in ("lists", "clicks"))
        made = shard_impressions(lists, clicks, satisfaction, linked=log.linked)
        for name, target in targets.items():
            _write(made[name], target)

    def population(self, log: Log) -> None:
        """The lists and clicks of all shards, which the features of each look back at."""
        if log.shared_clock is None:
            return
        with busy("Counting what everybody clicked"):
            shown, results = (self._scan(f"results/{name}") for name in ("lists", "results"))
            self._population = Population(shown, results, log.shared_clock)

    def features(self, log: Log, shard: int) -> None:
        """The table of features of a shard."""
        target = self._folder / "features" / f"shard={shard}"
        if target.exists():
            return
        made = (self._scan(f"results/{name}/shard={shard}") for name in ("lists", "clicks", "results"))
        lists, clicks, results = (table.collect() for table in made)
        events = ShardEvents.of(log, lists.select(_OF_LISTS), results)
        columns = personal_features(log, events, clicks.filter(pl.col("reason").is_null()))
        if self._population is not None:
            columns |= self._population.features(events)
        names = [name for name in catalogue(log) if name != "position"]
        if "score" in names:
            columns["score"] = results["score"]
        table = results.select(*ROW_COLUMNS, clicked=pl.col("clicked_at").is_not_null())
        _write(table.with_columns(columns[name].cast(pl.Float32).alias(name) for name in names), target)

    def _scan(self, name: str) -> pl.LazyFrame:
        return scan(self._folder / name)


def _write(table: pl.DataFrame, folder: Path) -> None:
    """Write a table where it is not yet."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with new_folder(folder) as temporary:
            table.write_parquet(temporary / "part-0.parquet", compression_level=1)
