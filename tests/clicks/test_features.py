"""No feature sees the future, and the order of lines does not matter."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from tests.clicks.logs import GRADES, SATISFIED, YANDEX12, YANDEX14, c12, features, generated, made, q12, write_lines


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp("log"), 25)


@pytest.fixture(scope="module")
def complete(log: Path, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    return features(made(log, tmp_path_factory.mktemp("complete"), YANDEX14, GRADES))


def outcomes(frame: pl.DataFrame) -> pl.DataFrame:
    """Features alone: what was clicked later is no feature."""
    return frame.drop("grade", "last", "clicked")


def later(line: str, session: str, day: int, time: int, days: dict[str, int]) -> bool:
    """Whether a line of the layout of 2014 came after a list of that session, day and time."""
    parts = line.split("\t")
    if parts[1] == "M":
        return False  # whose session it is was known when it began
    return int(parts[1]) > time if parts[0] == session else days[parts[0]] > day


@pytest.mark.heavy
def test_deleting_every_later_event_changes_no_feature(log: Path, complete: pl.DataFrame, tmp_path: Path) -> None:
    lines = log.read_text().splitlines()
    days = {parts[0]: int(parts[2]) for parts in (line.split("\t") for line in lines) if parts[1] == "M"}
    lists = complete.group_by("impression").first().sort("impression")
    for number, row in enumerate(lists.sample(3, seed=3).iter_rows(named=True)):
        earlier = [line for line in lines if not later(line, row["session"], row["day"], row["time"], days)]
        assert len(earlier) < len(lines)
        table = made(write_lines(tmp_path / f"log{number}", earlier), tmp_path / f"made{number}", YANDEX14, GRADES)
        mine = pl.col("impression") == row["impression"]
        assert outcomes(features(table)).filter(mine).equals(outcomes(complete).filter(mine), null_equal=True)


@pytest.mark.heavy
def test_deleting_later_events_of_one_clock(data: Path, tmp_path: Path) -> None:
    lines = (data / "clicks-clara2" / "CLARA2SearchLog_beta").read_text().splitlines()[:1500]
    every = features(made(write_lines(tmp_path / "log", lines), tmp_path / "made", YANDEX12, SATISFIED))
    lists = every.group_by("impression").first().filter(pl.col("session_lists") > 0).sort("impression")
    for number, row in enumerate(lists.sample(3, seed=1).iter_rows(named=True)):
        earlier = [line for line in lines if int(line.split("\t")[1]) <= row["time"]]
        table = made(write_lines(tmp_path / f"log{number}", earlier), tmp_path / f"made{number}", YANDEX12, SATISFIED)
        mine = pl.col("impression") == row["impression"]
        assert outcomes(features(table)).filter(mine).equals(outcomes(every).filter(mine), null_equal=True)


def test_a_click_satisfies_in_features_once_its_dwell_is_known(tmp_path: Path) -> None:
    # Another session looks up the same document 20 s and 40 s after a click on which the first user stays 60 s.
    lines = [
        q12("a", 0, "x", 1, 2), c12("a", 10, 1), q12("b", 30, "x", 1, 2), q12("c", 40, "x", 1, 2), q12("a", 70, "y", 3),
    ]  # fmt: skip
    rows = features(made(write_lines(tmp_path / "log", lines), tmp_path / "made"))
    known = dict(rows.filter(pl.col("document") == "1").select("session", "pair_satisfied").rows())
    assert known == {"a": 0.0, "b": 0.0, "c": 1.0}


def test_the_order_of_lines_does_not_matter(log: Path, complete: pl.DataFrame, tmp_path: Path) -> None:
    lines = log.read_text().splitlines()
    random.Random(7).shuffle(lines)
    table = made(write_lines(tmp_path / "log", lines), tmp_path / "made", YANDEX14, GRADES, shards=2)
    assert features(table).equals(complete, null_equal=True)
    assert table.counts["clicks_out_of_order"] > 0


def test_a_table_is_made_once_and_goes_on_where_it_was(tmp_path: Path) -> None:
    log = generated(tmp_path, 3)
    first = made(log, tmp_path / "made", YANDEX14, GRADES)
    stamps = {file: file.stat().st_mtime_ns for file in (tmp_path / "made").rglob("*.parquet")}
    again = made(log, tmp_path / "made", YANDEX14, GRADES)
    assert again == first
    assert stamps == {file: file.stat().st_mtime_ns for file in (tmp_path / "made").rglob("*.parquet")}


def test_every_feature_says_what_it_means(tmp_path: Path) -> None:
    table = made(generated(tmp_path, 3), tmp_path / "made", YANDEX14, GRADES)
    assert set(table.names) <= set(table.scan().collect_schema().names())
    assert all(len(table.meanings[name]) > 10 for name in table.names)
    documented = (Path(__file__).parents[2] / "docs" / "personalize.md").read_text()
    assert all(f"`{name}`" in documented for name in table.names)
