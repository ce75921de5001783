"""A dwell that is exactly the threshold, events of one moment, and several clicks on one result: by hand, in each way.

Windows, arrays and served sessions read the same log; each is held against what is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.clicks.logs import YANDEX12, c12, made, q12, results, write_lines

from surefoot.clicks.events import LogFacts
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.served.session_events import ClickEvent, SessionEvents, ShownEvent

Known = dict[tuple[int, str], tuple[int | None, int | None]]  # by time and document: when clicked, and satisfied
Events = list[tuple[int, Any]]  # a time with a document that is clicked, or with a list of documents


def by_tables(events: Events, thresholds: tuple[float, ...], folder: Path, *, windows: bool) -> Known:
    lines = [
        q12("s", time, f"of {time}", *what) if isinstance(what, tuple) else c12("s", time, what)
        for time, what in events
    ]
    table = made(
        write_lines(folder / "log", lines), folder / "made", YANDEX12, Satisfaction(thresholds), windows=windows
    )
    columns = "time", "document", "clicked_at", "satisfied_at"
    return _known(results(table).select(columns).iter_rows())


def by_sessions(events: Events, thresholds: tuple[float, ...], folder: Path) -> Known:
    facts = LogFacts("time", 1.0, False, False, False, False, False, thresholds)
    about = ("s", None, None)
    happened = [
        ShownEvent(*about, time, None, f"of {time}", None, what, None, None, number)
        if isinstance(what, tuple)
        else ClickEvent(*about, time, None, what, number)
        for number, (time, what) in enumerate(events)
    ]
    session = SessionEvents(facts, None, happened)
    return _known((one.shown, one.document, one.clicked, one.satisfied) for one in session.results)


def _known(rows: Iterable[tuple[Any, ...]]) -> Known:
    return {(shown, document): (clicked, satisfied) for shown, document, clicked, satisfied in rows}


@pytest.mark.parametrize(
    "known",
    [partial(by_tables, windows=True), partial(by_tables, windows=False), by_sessions],
    ids=["by_windows", "by_arrays", "by_sessions"],
)
class TestKnown:
    """When a result is known to be clicked, and to have satisfied."""

    def test_a_dwell_of_just_the_threshold_satisfies(self, known: Callable[..., Known], tmp_path: Path) -> None:
        events = [(0, ("1", "2", "3")), (10, "1"), (40, "2"), (69, "3"), (100, ("4",))]  # dwells of 30, 29 and 31
        assert known(events, (30.0,), tmp_path) == {
            (0, "1"): (10, 39), (0, "2"): (40, None), (0, "3"): (69, 98), (100, "4"): (None, None),
        }  # fmt: skip

    def test_the_earliest_click_that_satisfied_counts(self, known: Callable[..., Known], tmp_path: Path) -> None:
        events = [
            (0, ("1", "2")), (5, "1"), (10, "2"), (50, "1"), (90, "2"), (95, "1"), (200, "2"), (300, ("1",)),
        ]  # fmt: skip
        # Of 1 the clicks stay 5, 40 and 105 seconds; of 2 40, 5 and 100.
        assert known(events, (30.0,), tmp_path) == {(0, "1"): (5, 79), (0, "2"): (10, 39), (300, "1"): (None, None)}

    def test_a_list_of_a_clicks_moment_came_before_it(self, known: Callable[..., Known], tmp_path: Path) -> None:
        events = [(0, ("1", "2")), (10, "1"), (10, ("3",)), (50, "3"), (60, ("4",))]
        assert known(events, (30.0,), tmp_path) == {
            (0, "1"): (10, 39), (0, "2"): (None, None), (10, "3"): (50, None), (60, "4"): (None, None),
        }  # fmt: skip
