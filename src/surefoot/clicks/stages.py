"""The stages of a log after its lists and clicks are stored, as Ibis expressions: windows that any backend computes.

Spark works by these. On DuckDB they are the slow reference that tests and benchmarks hold `shards/` against.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from surefoot.clicks import features
from surefoot.clicks.backends import Backend
from surefoot.clicks.impressions import Impressions, Satisfaction, impressions
from surefoot.clicks.lazy_ibis import IbisTable, ibis, union
from surefoot.clicks.log import Log
from surefoot.progress import busy

_POPULATION = ("population/by_list", "population/by_result")  # folders of what everybody did before


class Stages(Protocol):
    """How impressions and features are made, shard by shard, each a folder that appears complete."""

    def impressions(self, log: Log, satisfaction: Satisfaction, shard: int) -> None:
        """Store the lists, clicks and results of a shard; thresholds are in the log's units."""

    def population(self, log: Log) -> None:
        """Count what everybody did before; nothing where sessions share no clock."""

    def features(self, log: Log, shard: int) -> None:
        """Store the features of a shard."""


class WindowStages:
    """Each stage as expressions that the backend computes."""

    def __init__(self, backend: Backend, folder: Path) -> None:
        self._backend, self._folder = backend, folder
        self._impressions: dict[int, Impressions] = {}
        self._population: list[IbisTable] = []

    def impressions(self, log: Log, satisfaction: Satisfaction, shard: int) -> None:
        """Lists, clicks and results of a shard."""
        tables = {name: self._table_of_shard(name, getattr(log, name), shard) for name in ("lists", "clicks")}
        self._impressions[shard] = impressions(
            log.with_tables(**tables), satisfaction,
            lambda table, name: store(self._backend, table, self._folder / "results" / name / f"shard={shard}"),
        )  # fmt: skip

    def population(self, log: Log) -> None:
        """What everybody did before, on disk."""
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
