"""Small logs for tests, and what is made of them by the shortest way."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from surefoot.clicks.feature_pipeline import FeatureTable, feature_table
from surefoot.clicks.generator import generate_log, write_log
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import ReadingSettings

SATISFIED, GRADES = Satisfaction((30.0,)), Satisfaction((50.0, 400.0))
YANDEX12 = ReadingSettings("yandex2012", 1.0, "log")
YANDEX14 = ReadingSettings("yandex2014")


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def q12(session: object, time: object, query: object, *documents: object) -> str:
    return "\t".join(map(str, (session, time, "Q", query, 0, *documents)))


def c12(session: object, time: object, document: object) -> str:
    return "\t".join(map(str, (session, time, "C", document)))


def generated(folder: Path, users: int, layout: str = "yandex2014", seed: int = 1, queries: int = 12) -> Path:
    """A generated log of few queries, so that much repeats."""
    path = folder / f"{layout}.log"
    write_log(generate_log(users, queries=queries, seed=seed), path, layout)
    return path


def made(
    log: Path, folder: Path, reading: ReadingSettings = YANDEX12, satisfaction: Satisfaction = SATISFIED, **options: Any
) -> FeatureTable:
    return feature_table(log, folder, reading, satisfaction, **options)


def results(table: FeatureTable) -> pl.DataFrame:
    """Everything known of each result, in order."""
    rows = pl.read_parquet(f"{table.folder}/results/results/**/*.parquet", hive_partitioning=False)
    return rows.with_columns(pl.col("position").cast(pl.Int64)).sort("impression", "position")


def features(table: FeatureTable) -> pl.DataFrame:
    """The table of features, in order."""
    return table.scan().collect().with_columns(pl.col("position").cast(pl.Int64)).sort("impression", "position")
