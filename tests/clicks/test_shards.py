"""Shards by sorted arrays give what window expressions give, row for row and value for value."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.clicks.logs import GRADES, SATISFIED, YANDEX12, c12, generated, made, q12, write_lines

from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import ReadingSettings
from surefoot.clicks.options import GENERATED_FILES
from surefoot.clicks.shards.counting import EventIndex, KeyTimes, LookingBack

TABLES = {
    "results/lists": ["impression"], "results/clicks": ["number"], "results/repeated": ["number", "document"],
    "results/results": ["impression", "position"], "features": ["impression", "position"],
}  # fmt: skip


def stored(table: FeatureTable, name: str) -> pl.DataFrame:
    return pl.read_parquet(f"{table.folder}/{name}/**/*.parquet", hive_partitioning=False).sort(TABLES[name])


def assert_both_ways_agree(
    log: Path, folder: Path, reading: ReadingSettings, satisfaction: Satisfaction, shards: int
) -> FeatureTable:
    """Every stored table, its types too, and what was counted."""
    by_windows, by_arrays = (
        made(log, folder / f"windows-{windows}", reading, satisfaction, shards=shards, windows=windows)
        for windows in (True, False)
    )
    assert by_windows.counts == by_arrays.counts
    for name in TABLES:
        slow, fast = stored(by_windows, name), stored(by_arrays, name)
        assert slow.schema == fast.schema, name
        assert slow.equals(fast, null_equal=True), name
    assert not (by_arrays.folder / "population").exists()
    return by_arrays


@pytest.mark.heavy
@pytest.mark.parametrize("layout", GENERATED_FILES)
def test_a_generated_log(layout: str, tmp_path: Path) -> None:
    assert_both_ways_agree(generated(tmp_path, 40, layout), tmp_path, ReadingSettings(layout), GRADES, 3)


@pytest.mark.heavy
@pytest.mark.parametrize("clock", ["log", "session"])
@pytest.mark.filterwarnings("ignore:most sessions do not start at time 0")
def test_the_real_log(clock: str, data: Path, tmp_path: Path) -> None:
    log = data / "clicks-clara2" / "CLARA2SearchLog_beta"
    assert_both_ways_agree(log, tmp_path, ReadingSettings("yandex2012", 0.001, clock), SATISFIED, 2)


def test_odd_events(tmp_path: Path) -> None:
    lines = [
        q12("a", 10, "x", 1, 2, 1, 3), q12("a", 10, "x", 1, 2, 1, 3), q12("a", 10, "y", 3, 2), c12("a", 10, 3),
        c12("a", 10, 1), c12("a", 10, 1), c12("a", 9, 1), c12("a", 12, 9), c12("b", 5, 1), q12("b", 50, "x", 3, 1),
        c12("b", 50, 1), c12("b", 51, 1), c12("b", 60, 3), q12("b", 60, "x", 1), q12("a", 70, "y", 2, 1),
        c12("a", 70, 2), q12("c", 80, "x", 1, 2, 3), c12("c", 81, 1), c12("c", 82, 3), c12("c", 83, 1),
        c12("c", 130, 2), q12("d", 300, "x", 1, 2, 3), q12("d", 305, "x", 1, 3), c12("d", 310, 1), c12("d", 345, 3),
        q12("e", 500, "x", 1, 2),
    ]  # fmt: skip
    log = write_lines(tmp_path / "log", lines)
    table = assert_both_ways_agree(log, tmp_path, YANDEX12, SATISFIED, 3)  # of which one has no session
    assert table.counts["repeated"] == 2
    assert table.counts["set_aside"] == {"comes before its list": 2, "is on a document that was not shown": 1}


@pytest.mark.heavy
def test_a_folder_that_windows_began_goes_on(tmp_path: Path) -> None:
    """As one of an earlier version that was stopped: what is there is taken as it is."""
    log, folder = generated(tmp_path, 6), tmp_path / "made"
    table = made(log, folder, ReadingSettings("yandex2014"), GRADES, shards=2, windows=True)
    expected = stored(table, "features")
    facts = json.loads((folder / "log.json").read_text())
    for key in ("counts", "features", "clock", "users"):
        del facts[key]
    (folder / "log.json").write_text(json.dumps(facts))
    shutil.rmtree(folder / "features" / "shard=1")
    shutil.rmtree(folder / "results" / "results" / "shard=1")
    again = made(log, folder, ReadingSettings("yandex2014"), GRADES, shards=2)
    assert again.counts == table.counts
    assert stored(again, "features").equals(expected, null_equal=True)


@pytest.mark.parametrize("clicks", [[], [c12("a", 0, 1)]], ids=["none", "before its list"])
def test_a_log_in_which_no_list_was_clicked(clicks: list[str], tmp_path: Path) -> None:
    lists = [q12("a", 1, "x", 1, 2), q12("a", 5, "x", 1, 2), q12("b", 3, "x", 2)]
    assert_both_ways_agree(write_lines(tmp_path / "log", lists + clicks), tmp_path, YANDEX12, SATISFIED, 1)


def test_events_without_a_user(tmp_path: Path) -> None:
    """One without a user is its session's; where a session has none, it is a user of its own, in any shard."""
    log = write_lines(
        tmp_path / "log.csv",
        [
            "user,session,time,query,shown,click",
            "u,s1,1000,x,1 2,", ",s1,2000,,,1", ",s2,3000,x,1 2,", ",s2,4000,,,2", ",s2,50000,x,1 2,",
            ",s3,60000,x,1 2,", "s3,s4,70000,x,2 1,", "u,s5,80000,x,1 2,",
        ],
    )  # fmt: skip
    one = assert_both_ways_agree(log, tmp_path, ReadingSettings("table"), SATISFIED, 1)
    several = made(log, tmp_path / "several", ReadingSettings("table"), SATISFIED, shards=7)
    assert stored(one, "features").equals(stored(several, "features"), null_equal=True)
    assert one.counts["clicks"] == 2
    rows = stored(one, "features").filter(pl.col("document") == "1")
    seen = dict(rows.select("impression", "user_document_shown").rows())
    assert seen == {"s1-1": 0, "s2-1": 0, "s2-2": 1, "s3-1": 0, "s4-1": 0, "s5-1": 1}


MANY_YEARS = 2**62
EVENTS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 3, 50, MANY_YEARS - 1, MANY_YEARS])), max_size=30
)
ON_FEW_DAYS = st.lists(st.tuples(st.integers(0, 3), st.integers(5, 8)), min_size=4, max_size=30)
LATER = st.lists(st.tuples(st.integers(0, 29), st.sampled_from([0, 1, 2, 40])), max_size=20)


def both(events: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    keys, times = (np.array([event[place] for event in events], dtype=np.int64) for place in (0, 1))
    return keys, times


@settings(max_examples=200, deadline=None)
@given(rows=EVENTS, more=LATER, wide=st.booleans())
def test_looking_back_counts_as_loops_do(rows: list, more: list, wide: bool) -> None:
    keys, times = both(rows)
    events = [(row, rows[row][1] + later) for row, later in more if row < len(rows)]
    of_rows, at = both(events)
    back = LookingBack(keys * (2**40 if wide else 1), times, at)
    assert back.rows_before().tolist() == [sum(k == key and t < time for k, t in rows) for key, time in rows]
    assert back.events_before(of_rows, at).tolist() == [
        sum(rows[row][0] == key and t < time for row, t in events) for key, time in rows
    ]


@pytest.mark.parametrize(
    ("every", "asked", "unit"),
    [(EVENTS, (-2, 60), 1), (ON_FEW_DAYS, (4, 9), 1), (ON_FEW_DAYS, (4, 9), 1000)],
    ids=["of any times", "of few days by a table", "of few days by a search"],
)
@settings(max_examples=60, deadline=None)
@given(drawn=st.data())
def test_an_index_counts_as_loops_do(every: Any, asked: tuple[int, int], unit: int, drawn: st.DataObject) -> None:
    moments = st.lists(st.tuples(st.integers(-1, 5), st.integers(*asked)), max_size=30)
    events, rows = ([(key, unit * time) for key, time in drawn.draw(part)] for part in (every, moments))
    values = np.arange(len(events)) * 0.5
    counts, sums = EventIndex(*both(events), values).before(*both(rows))
    assert counts.tolist() == [sum(k == key and t < time for k, t in events) for key, time in rows]
    assert sums is not None
    assert sums.tolist() == [
        sum(value for (k, t), value in zip(events, values.tolist(), strict=True) if k == key and t < time)
        for key, time in rows
    ]


def test_key_times_sort_by_key_and_then_by_time() -> None:
    keys, times = np.array([0, 2**40, 2**40, 1]), np.array([2**60, 0, 5, 2**50])
    assert np.argsort(KeyTimes(2**40 + 1, times).of(keys, times)).tolist() == [0, 3, 1, 2]
