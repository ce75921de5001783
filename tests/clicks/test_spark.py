"""DuckDB and a real local Spark give the same impressions and features, row for row."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.clicks.logs import GRADES, YANDEX14, features, generated, made, results

from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import ReadingSettings
from surefoot.clicks.options import GENERATED_FILES
from surefoot.personal.position_bias import position_bias

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.engines("pyspark"),
    pytest.mark.skipif(not shutil.which("java") and not os.environ.get("CI"), reason="apt-get install default-jre"),
    pytest.mark.filterwarnings("ignore"),  # Spark and what it imports warn about each other
]


def assert_same(one: pl.DataFrame, other: pl.DataFrame) -> None:
    assert one.columns == other.columns
    kinds = {name: pl.Int64 for name, kind in one.schema.items() if kind.is_integer()}
    assert one.cast(kinds).equals(other.cast(kinds), null_equal=True)


@pytest.mark.parametrize("layout", GENERATED_FILES)
def test_a_generated_log(layout: str, tmp_path: Path) -> None:
    log = generated(tmp_path, 30, layout)
    one, other = (
        made(log, tmp_path / name, ReadingSettings(layout), GRADES, backend=name) for name in ("duckdb", "spark")
    )
    assert one.counts == other.counts
    assert_same(results(one), results(other))
    assert_same(features(one), features(other))
    assert position_bias(one) == position_bias(other)


def test_names_that_look_like_columns_and_patterns(tmp_path: Path) -> None:
    tables = []
    for folder in (tmp_path / "plain", tmp_path / "user=7" / "a*b{c}[1]"):
        (folder.parent / "aXbc1").mkdir(parents=True, exist_ok=True)  # as the pattern would have it
        folder.mkdir(parents=True)
        tables.append(made(generated(folder, 5), folder / "study", YANDEX14, GRADES, backend="spark", shards=2))
    assert tables[0].counts == tables[1].counts
    assert_same(features(tables[0]), features(tables[1]))


def test_the_real_log(data: Path, tmp_path: Path) -> None:
    log = data / "clicks-clara2" / "CLARA2SearchLog_beta"
    reading, satisfied = ReadingSettings("yandex2012", 0.001, "log"), Satisfaction((30.0,))
    one, other = (made(log, tmp_path / name, reading, satisfied, backend=name) for name in ("duckdb", "spark"))
    assert one.counts == other.counts
    assert_same(results(one), results(other))
    assert_same(features(one), features(other))
    assert one.counts["sessions"] == 18522
    assert one.counts["set_aside"] == {"comes before its list": 2, "is on a document that was not shown": 718}
