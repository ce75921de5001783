"""What a served model counts is what the arrays of a whole log count, in whatever order events come."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot.clicks.click_state import ClickState
from surefoot.clicks.events import ClockSpan, LogFacts, ShownRequest
from surefoot.clicks.features import catalogue
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.log import CLICKS, LISTS
from surefoot.clicks.served.event_store import AddedEvents, EventStore
from surefoot.clicks.served.session_events import ShownEvent
from surefoot.clicks.served.tallies import KeyedTimes, Tally
from surefoot.clicks.shards.counting import feature
from surefoot.clicks.shards.shard_features import Population, ShardEvents, personal_features
from surefoot.clicks.shards.shard_impressions import shard_impressions
from surefoot.errors import ArgumentError, DataError

Event = dict[str, Any]


def facts_of(clock: str | None, *, linked: bool = False, users: bool = True) -> LogFacts:
    return LogFacts(clock, 0.5, linked, users, True, True, False, (4.0, 9.0))


def empty(folder: Path, facts: LogFacts) -> ClickState:
    """A state without events."""
    return state_of([], folder, facts)


def state_of(events: list[Event], folder: Path, facts: LogFacts) -> ClickState:
    """A state as it is saved after a log of these events."""
    number = len(list(folder.iterdir()))
    study, path = folder / f"study{number}", folder / f"{number}.duckdb"
    made = shard_impressions(*tables(events), Satisfaction(facts.thresholds), linked=facts.linked)
    for name in ("lists", "clicks", "results"):
        (study / "results" / name).mkdir(parents=True)
        made[name].write_parquet(study / "results" / name / "part.parquet")
    EventStore.create(path, study, facts)
    return ClickState(path, facts)


def tables(events: list[Event]) -> tuple[pl.DataFrame, pl.DataFrame]:
    rows = [event | {"number": number} for number, event in enumerate(events)]
    lists, clicks = ([row for row in rows if ("documents" in row) == kind] for kind in (True, False))
    return pl.DataFrame(lists, schema=polars_types(LISTS)), pl.DataFrame(clicks, schema=polars_types(CLICKS))


def polars_types(columns: dict[str, str]) -> dict[str, Any]:
    arrays = {"array<string>": pl.List(pl.String), "array<float64>": pl.List(pl.Float64)}
    return {name: ({"string": pl.String, "int64": pl.Int64} | arrays)[kind] for name, kind in columns.items()}


def expected(events: list[Event], facts: LogFacts) -> dict[tuple[Any, ...], np.ndarray]:
    """The features of each list by the arrays of a whole log."""
    made = shard_impressions(*tables(events), Satisfaction(facts.thresholds), linked=facts.linked)
    shard = ShardEvents.of(facts, made["lists"], made["results"])
    columns = personal_features(facts, shard, made["clicks"].filter(pl.col("reason").is_null()))
    if facts.shared_clock is not None:
        columns |= Population(made["lists"].lazy(), made["results"].lazy(), facts.shared_clock).features(shard)
    columns["position"] = feature(made["results"]["position"].to_numpy())
    names = list(catalogue(facts))
    matrix = pl.DataFrame({name: columns[name].cast(pl.Float32) for name in names}).to_numpy()
    impression = made["results"]["impression"]
    return {
        key_of(row): matrix[(impression == row["impression"]).to_numpy()] for row in made["lists"].iter_rows(named=True)
    }


def key_of(event: Event) -> tuple[Any, ...]:
    return event["session"], event["time"], event.get("list"), event["query"], tuple(event["documents"])


def found(state: ClickState, event: Event) -> np.ndarray:
    given = {name: value for name, value in event.items() if name in ShownRequest.__dataclass_fields__}
    session = given.pop("session")
    return state.matrix(ShownRequest.checked(state.facts, session, **given))


USERS = {"a": "u", "b": "u", "c": "v", "d": None}
DAYS = {"a": 1, "b": 2, "c": 2, "d": 3}
SESSIONS, TIMES = st.sampled_from("abcd"), st.integers(0, 25)
SHOWN = st.fixed_dictionaries(
    {
        "session": SESSIONS, "time": TIMES, "query": st.sampled_from("xy"), "list": st.sampled_from("12"),
        "terms": st.lists(st.sampled_from("pq"), max_size=3),
        "documents": st.lists(st.sampled_from("1234"), min_size=1, max_size=5),
    }
)  # fmt: skip
CLICK = st.fixed_dictionaries(
    {"session": SESSIONS, "time": TIMES, "document": st.sampled_from("1234"), "list": st.sampled_from("12")}
)


def completed(events: list[Event], facts: LogFacts) -> list[Event]:
    """Events with all that the log knows; what two tell in other words is told once."""
    made: dict[Any, Event] = {}
    for event in events:
        full = event | {"day": DAYS[event["session"]] if facts.shared_clock == "day" else None}
        full["user"] = USERS[event["session"]] if facts.users else None
        if "documents" in event:
            full["domains"] = [f"of {int(document) % 2}" for document in event["documents"]]
        if not facts.linked:
            full["list"] = None
        what = (full.get("query"), tuple(full.get("documents", ())), full.get("document"))
        made.setdefault((full["session"], full["time"], full["list"], *what), full)
    return list(made.values())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    events=st.lists(st.one_of(SHOWN, CLICK), min_size=1, max_size=14), clock=st.sampled_from(["time", "day", None]),
    linked=st.booleans(), users=st.booleans(), seed=st.integers(0, 99), login=st.booleans(),
)  # fmt: skip
def test_any_order_of_events_gives_the_features_of_the_whole_log(
    events: list[Event], clock: str | None, linked: bool, users: bool, seed: int, login: bool,
    tmp_path: Path,
) -> None:  # fmt: skip
    facts = facts_of(clock, linked=linked, users=users)
    events = completed(events, facts)
    state, rng = empty(tmp_path, facts), random.Random(seed)
    given, asked = rng.sample(events, len(events)), [event for event in events if "documents" in event]
    if login and users:  # of one session only the requests say whose it is
        given = [event | {"user": None} if event["session"] == "a" else event for event in given]
        asked = [event for event in asked if event["session"] == "a"]
    cuts = sorted(rng.randrange(len(given) + 1) for _ in range(3))
    for start, end in zip([0, *cuts], [*cuts, len(given)], strict=True):
        if start < end:
            part = [{name: value for name, value in event.items() if value is not None} for event in given[start:end]]
            state.update(part)
        for event in asked[:2]:  # what is in memory is changed by what comes later
            found(state, event)
    values = expected(events, facts)
    for event in asked:
        np.testing.assert_array_equal(found(state, event), values[key_of(event)])
    state.close()
    again = ClickState(state.path, facts)
    for event in asked:
        np.testing.assert_array_equal(found(again, event), values[key_of(event)])
    again.close()


@settings(max_examples=60, deadline=None)
@given(
    events=st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), max_size=20), gone=st.integers(0, 9),
    time=st.integers(-1, 11),
)  # fmt: skip
def test_tallies_and_times_count_as_loops_do(events: list[tuple[int, str]], gone: int, time: int) -> None:
    tally, times = Tally(events[:5]), KeyedTimes()
    for at, name in events:
        times.add(name, at)
    for at, name in events[5:]:
        tally.add(at, name)
    for at, name in events[:gone]:
        tally.remove(at, name)
        times.remove(name, at)
    left = Counter(name for at, name in events[gone:] if at < time)
    before = tally.before(time)
    assert (before.total, before.sizes) == (sum(left.values()), Counter(left.values()))
    assert {name: before.count(name) for name in "abc"} == {name: left[name] for name in "abc"}
    assert [times.before(name, time) for name in "abc"] == [left[name] for name in "abc"]
    joined = Counter({"a": left["a"] + left["b"], "c": left["c"]})
    assert before.sizes_with_one_for_two("a", "b") == Counter(size for size in joined.values() if size)


SHOWN_1: Event = {
    "session": "s", "time": 5, "query": "x", "terms": ["p"], "documents": ["1", "2"], "domains": ["d", "e"],
}  # fmt: skip
CLICK_1: Event = {"session": "s", "time": 6, "document": "2"}


def test_a_repeated_event_may_say_whose_it_is(tmp_path: Path) -> None:
    state = empty(tmp_path, facts_of("time"))
    state.update([SHOWN_1, CLICK_1])
    asked = SHOWN_1 | {"session": "t", "time": 50, "user": "u"}
    column = list(catalogue(state.facts)).index("user_document_clicked")
    assert found(state, asked)[:, column].tolist() == [0, 0]
    assert state.update(SHOWN_1 | {"user": "u"}) == {"added": 0, "repeated": 1}
    assert found(state, asked)[:, column].tolist() == [0, 1]
    state.close()
    again = ClickState(state.path, state.facts)
    assert found(again, asked)[:, column].tolist() == [0, 1]
    again.close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domains": ["d", "f"]}, r"known with other domains: \('d', 'e'\), now \('d', 'f'\)"),
        ({"terms": ["q"]}, "a list of session 's' at time 5 is known with other terms"),
        ({"user": "v"}, "session 's' is of user 'u' and of user 'v'"),
    ],
)
def test_a_repeated_event_that_contradicts_is_refused(change: Event, message: str, tmp_path: Path) -> None:
    state = empty(tmp_path, facts_of("time"))
    state.update([SHOWN_1 | {"user": "u"}])
    with pytest.raises(DataError, match=message):
        state.update([CLICK_1, SHOWN_1 | change])
    assert state.update([CLICK_1, SHOWN_1]) == {"added": 1, "repeated": 1}
    state.close()


def test_a_session_has_one_day_and_one_user(tmp_path: Path) -> None:
    state = empty(tmp_path, facts_of("day"))
    state.update([SHOWN_1 | {"user": "u", "day": 3}])
    with pytest.raises(DataError, match="session 's' is of day 3 and of day 4"):
        state.update([CLICK_1 | {"day": 4}])
    for wrong, what in (({"user": "v", "day": 3}, "user 'u', not 'v'"), ({"day": 4}, "day 3, not 4")):
        with pytest.raises(ArgumentError, match=f"session 's' is of {what}"):
            found(state, SHOWN_1 | {"time": 9} | wrong)
    state.close()


def test_what_a_log_has_not_does_not_count(tmp_path: Path) -> None:
    """Users of events in a log without users are not its users."""
    told, untold = (empty(tmp_path, facts_of("time", users=False)) for _ in range(2))
    for session in "st":
        events = [SHOWN_1 | {"session": session}, CLICK_1 | {"session": session}]
        told.update([event | {"user": "u"} for event in events])
        untold.update(events)
    asked = SHOWN_1 | {"session": "w", "time": 50}
    np.testing.assert_array_equal(found(told, asked | {"user": "u"}), found(untold, asked))
    told.close()
    untold.close()


def test_objects_of_one_file_see_each_others_events(tmp_path: Path) -> None:
    first = empty(tmp_path, facts_of("time"))
    second = ClickState(first.path, first.facts)
    asked = SHOWN_1 | {"session": "t", "time": 50}
    before = found(second, asked)
    first.update([SHOWN_1, CLICK_1])
    assert (found(second, asked) != before).any()
    first.close()
    assert second.update(SHOWN_1) == {"added": 0, "repeated": 1}
    with pytest.raises(DataError, match="is closed; load the model again"):
        first.update(SHOWN_1)
    second.close()
    reading = ClickState(first.path, first.facts, read_only=True)
    with pytest.raises(ArgumentError, match="opened with read_only"):
        reading.update(SHOWN_1)
    reading.close()


def test_many_events_at_once(tmp_path: Path) -> None:
    facts = facts_of("time")
    events = [SHOWN_1 | {"session": f"s{number}"} for number in range(40)]
    state = empty(tmp_path, facts)
    assert state.update(events) == {"added": 40, "repeated": 0}
    assert state.update([*events, CLICK_1]) == {"added": 1, "repeated": 40}
    state.close()


def test_requests_while_updates_are_written(tmp_path: Path) -> None:
    """Whatever was read while an update was being written, nothing counts twice or not at all afterwards."""
    facts, rng = facts_of("time"), random.Random(4)
    events: list[Event] = []
    for number in range(60):
        session = rng.choice("abcd")
        shown = SHOWN_1 | {"session": session, "time": 10 * number, "documents": rng.sample("1234", 2)}
        known = {"user": USERS[session]} if USERS[session] else {}
        events += [shown | known, CLICK_1 | known | {"session": session, "time": 10 * number + 1, "document": "1"}]
    events = [event | {"domains": ["d", "e"]} if "documents" in event else event for event in events]
    asked = [event | {"time": 5000 + number} for number, event in enumerate(events) if "documents" in event]
    state, done = empty(tmp_path, facts), threading.Event()

    def ask() -> None:
        while not done.is_set():
            found(state, rng.choice(asked))

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    for event in events:
        state.update(event)
        live = state._live()
        with live.lock:
            for memory in (live._queries, live._documents, live._users):
                memory.clear()  # so that much is read again
    done.set()
    for thread in asking:
        thread.join()
    answers = [found(state, event) for event in asked]
    state.close()
    again = ClickState(state.path, facts)
    for event, answer in zip(asked, answers, strict=True):
        np.testing.assert_array_equal(answer, found(again, event))
    again.close()


def test_an_update_writes_little_whatever_came_before(tmp_path: Path) -> None:
    state = empty(tmp_path, replace(facts_of("time"), terms=False, domains=False))
    shown = {"query": "x", "documents": [f"document {number}" for number in range(10)]}
    state.update([{"session": "s", "time": time, **shown} for time in range(1000)])
    before = (journal := state.path.with_suffix(".duckdb.wal")).stat().st_size
    for time in range(1000, 1010):
        state.update([{"session": "t", "time": time, **shown}])
    assert 0 < journal.stat().st_size - before < 10 * 2000
    state.close()


def test_arrays_are_stored_as_they_are(tmp_path: Path) -> None:
    facts, odd = replace(facts_of("time"), scores=True), ("a, b", '"', "\\", "[1]", "null", "é\u2028😀", " ")
    shown = ShownEvent("s", "u", None, 5, None, "q", (), odd, odd, (0.1, 1e-300, -0.0, 3e38, 5.0, 0, 1), 0)
    state = state_of([shown._asdict()], tmp_path, facts)
    state.close()
    store = EventStore(state.path, facts, read_only=False)
    store.save(AddedEvents({}, events=[shown._replace(session="t", number=2, terms=None)]))
    read = store.sessions(["s", "t"])
    assert read["s"].lists == [shown]
    assert read["t"].lists == [shown._replace(session="t", number=2, terms=None)]
    assert [one.session for one in store.sessions_of("u")[0].lists] == ["s"]
    store.close()


def test_seconds_in_place_of_milliseconds_are_refused() -> None:
    span = ClockSpan("time", 1_790_000_000_000, 1_790_086_400_000, 0.001)
    for fine in (span.first, span.last, span.first - 10 * 31_557_600_000, span.last + 90 * 31_557_600_000):
        span.check(fine)
    for wrong in (1_790_086_401, 1_790_086_401_000_000):
        with pytest.raises(ArgumentError, match="years away from the log's 1790000000000 to 1790086400000; it counts "):
            span.check(wrong)
