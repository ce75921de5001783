"""What DuckDB keeps of a log while it is read; and a folder's name is neither a pattern of names nor a column."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.clicks.logs import GRADES, YANDEX14, features, generated, made, write_lines
from tests.clicks.test_served import facts_of, found, state_of

from surefoot.clicks.backends import DuckDB
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.clicks.layouts.layout import ReadingSettings

NAMES = ["day=3", "user=7", "session=x", "query=a", "line=3", "number=3", "shard=1", "log[1]", "a*b", "a?b", "{a}"]
LINES = [f"line {number}" for number in range(5)]


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[DuckDB]:
    with closing(DuckDB(tmp_path, threads=2)) as opened:
        yield opened


def stored(backend: DuckDB) -> int:
    """How many tables were computed once and are kept."""
    [row] = backend.connection.raw_sql("SELECT count(*) FROM duckdb_tables()").fetchall()
    return int(row[0])


def written(folder: Path) -> list[tuple[str, int]]:
    return pl.read_parquet(folder / "*.parquet").select("line", "number").sort("number").rows()


def test_lines_are_let_go_when_what_they_say_is_computed(backend: DuckDB, tmp_path: Path) -> None:
    lines = backend.lines(write_lines(tmp_path / "log", LINES))
    parsed = backend.once(lines.mutate(last=lines.line.right(1)))
    backend.write(parsed, tmp_path / "parsed")
    assert stored(backend) == 1
    backend.write(lines, tmp_path / "lines")  # from the file, once more
    assert written(tmp_path / "lines") == written(tmp_path / "parsed") == [*zip(LINES, range(5), strict=True)]
    backend.forget()
    assert stored(backend) == 0


def test_lines_of_which_nothing_is_computed_are_kept(backend: DuckDB, tmp_path: Path) -> None:
    lines = backend.lines(write_lines(tmp_path / "log", LINES))
    for name in ("one", "two"):
        backend.write(lines, tmp_path / name)
        assert stored(backend) == 1
    assert written(tmp_path / "one") == written(tmp_path / "two")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> FeatureTable:
    folder = tmp_path_factory.mktemp("plain")
    return made(generated(folder, 5), folder / "study", YANDEX14, GRADES, shards=2)


def assert_same(one: FeatureTable, other: FeatureTable) -> None:
    assert one.counts == other.counts
    assert features(one).equals(features(other))


@pytest.mark.parametrize("name", NAMES)
def test_a_log_and_its_study(name: str, expected: FeatureTable, tmp_path: Path) -> None:
    for folder in ("aXb", name):  # what a*b and a?b would be, too
        (tmp_path / folder).mkdir()
    generated(tmp_path / "aXb", 3, seed=2)
    assert_same(made(generated(tmp_path / name, 5), tmp_path / name / "study", YANDEX14, GRADES, shards=2), expected)


@pytest.mark.parametrize("layout", ["ubi", "metarank"])
def test_other_layouts(layout: str, tmp_path: Path) -> None:
    tables = []
    for folder in (tmp_path / "plain", tmp_path / "user=7" / "line=[1]"):
        folder.mkdir(parents=True)
        tables.append(made(generated(folder, 5, layout), folder / "study", ReadingSettings(layout), GRADES))
    assert_same(*tables)


def test_windows(tmp_path: Path) -> None:
    folder = tmp_path / "shard=1" / "user=[7]"
    folder.mkdir(parents=True)
    log = generated(folder, 5)
    fast, slow = (made(log, folder / str(way), YANDEX14, GRADES, shards=2, windows=way) for way in (False, True))
    assert_same(fast, slow)


@pytest.mark.parametrize("name", ["session=b", "query=y", "[1]"])
def test_the_state_that_is_served(name: str, tmp_path: Path) -> None:
    shown = {"session": "a", "time": 3, "query": "x", "documents": ["1", "2"], "user": "u", "day": 1,
             "domains": ["e", "e"], "terms": ["p"]}  # fmt: skip
    events = [shown, {"session": "a", "time": 5, "document": "2", "user": "u", "day": 1}]
    again = shown | {"time": 20, "day": 2, "session": "b"}
    answers = []
    for folder in (tmp_path / "plain", tmp_path / name):
        folder.mkdir()
        state = state_of(events, folder, facts_of("time"))
        answers.append(found(state, again))
        state.close()
    np.testing.assert_array_equal(*answers)
