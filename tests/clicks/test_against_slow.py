"""Impressions and features against plain loops, on generated logs and on random ones full of odd events."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.clicks.logs import (
    GRADES,
    SATISFIED,
    YANDEX12,
    YANDEX14,
    c12,
    features,
    generated,
    made,
    q12,
    results,
    write_lines,
)
from tests.clicks.slow import Click, Shown, attribute, feature_rows, result_rows

from surefoot.clicks.generator import generate_log


def assert_same(table, lists: list[Shown], threshold: float, clock: str | None, seconds: float) -> None:
    """Results and features are those of the loops."""
    slow = result_rows(lists, threshold)
    rows = results(table)
    assert rows.select("impression", "document").rows() == sorted(slow, key=lambda key: (key[0], slow[key]["position"]))
    for row in rows.iter_rows(named=True):
        mine = slow[row["impression"], row["document"]]
        for column in ("position", "clicked_at", "satisfied_at", "skipped_at", "grade", "last"):
            assert row[column] == mine[column], (row, column)
    slow_features = feature_rows(lists, threshold, clock, seconds)
    for row in features(table).iter_rows(named=True):
        mine = slow_features[row["impression"], row["document"]]
        for name in table.names:
            value = math.nan if row[name] is None else row[name]
            assert value == pytest.approx(mine[name], rel=1e-6, abs=1e-6, nan_ok=True), (row, name)


def generated_events(users: int, seed: int = 1) -> tuple[list[Shown], list[Click]]:
    parts = list(generate_log(users, queries=12, seed=seed))
    lists = [
        Shown(
            str(row["session"]), str(row["user"]), row["day"], row["time"], str(row["query"]),
            list(map(str, row["terms"])), list(map(str, row["documents"])), list(map(str, row["domains"])),
            str(row["list"]),
        )
        for part in parts
        for row in part.lists.iter_rows(named=True)
    ]  # fmt: skip
    clicks = [
        Click(str(row["session"]), row["time"], str(row["document"]), str(row["list"]))
        for part in parts
        for row in part.clicks.iter_rows(named=True)
    ]
    return lists, clicks


@pytest.mark.heavy
def test_a_generated_log(tmp_path: Path) -> None:
    table = made(generated(tmp_path, 8), tmp_path / "made", YANDEX14, GRADES, shards=3)
    lists, clicks = generated_events(8)
    attribute(lists, clicks, GRADES.thresholds, linked=True)
    assert_same(table, lists, GRADES.thresholds[0], "day", 1.0)
    assert {"user_domain_satisfied", "term_overlap", "least_entropy"} <= set(table.names)


EVENTS = st.lists(
    st.one_of(
        st.tuples(
            st.just("Q"), st.sampled_from("ab"), st.integers(0, 120), st.sampled_from("xyz"),
            st.lists(st.sampled_from("12345"), min_size=1, max_size=5),
        ),
        st.tuples(st.just("C"), st.sampled_from("abc"), st.integers(0, 120), st.sampled_from("12345")),
    ),
    min_size=1, max_size=25,
).filter(lambda events: any(event[0] == "Q" for event in events))  # fmt: skip  # a log without lists is refused


@pytest.mark.heavy
@settings(max_examples=20, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=EVENTS)
def test_random_events(tmp_path_factory: pytest.TempPathFactory, events: list[tuple]) -> None:
    folder = tmp_path_factory.mktemp("random")
    unique = list({repr(event): event for event in events}.values())
    lines = [q12(e[1], e[2], e[3], *e[4]) if e[0] == "Q" else c12(e[1], e[2], e[3]) for e in events]
    table = made(write_lines(folder / "log", lines), folder / "made", YANDEX12, SATISFIED)
    lists = [Shown(e[1], None, None, e[2], e[3], [], list(e[4]), [None] * len(e[4])) for e in unique if e[0] == "Q"]
    clicks = [Click(e[1], e[2], e[3]) for e in unique if e[0] == "C"]
    attribute(lists, clicks, SATISFIED.thresholds, linked=False)
    assert_same(table, lists, SATISFIED.thresholds[0], "time", 1.0)
    aside = (
        pl.Series([click.reason for click in clicks if click.reason]).value_counts(name="n").rows() if clicks else []
    )
    assert table.counts["set_aside"] == dict(sorted(aside))
    assert table.counts["repeated"] == len(events) - len(unique)
