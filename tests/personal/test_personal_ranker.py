"""A saved re-ranker answers as the study's features and model say, and learns of events in whatever order they come."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from tests.clicks.logs import GRADES, SATISFIED, YANDEX12, c12, generated, made, q12, write_lines
from tests.personal.small import SMALL, small_study, small_table

import surefoot as sf
from surefoot.clicks.click_state import ClickState
from surefoot.clicks.events import LogFacts, ShownRequest
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import ReadingSettings
from surefoot.clicks.options import GENERATED_FILES
from surefoot.clicks.served.event_store import EventStore
from surefoot.errors import ArgumentError, DataError, SurefootWarning
from surefoot.learn.ranker import Ranker
from surefoot.personal.methods import method_names
from surefoot.personal.saved_ranker import log_facts

_LIST = ("session", "user", "day", "time", "list", "query", "terms", "documents", "domains", "scores")
_CLICK = ("session", "user", "day", "time", "list", "document")


def stored(table: FeatureTable, name: str) -> pl.DataFrame:
    return pl.read_parquet(f"{table.folder}/results/{name}/**/*.parquet", hive_partitioning=False)


def events_of(table: FeatureTable) -> list[dict[str, Any]]:
    """The log's events in order of time, as a program would report them."""
    rows = [
        {name: row[name] for name in names if row[name] is not None}
        for kind, names in (("lists", _LIST), ("clicks", _CLICK))
        for row in stored(table, kind).iter_rows(named=True)
    ]
    return sorted(rows, key=lambda row: (row.get("day", 0), row["time"], "document" in row))


def empty_state(table: FeatureTable, folder: Path) -> ClickState:
    """The state before a log's first event."""
    before = folder / "before"
    shutil.copytree(table.folder, before)
    for file in (before / "results").rglob("*.parquet"):
        pl.read_parquet(file, hive_partitioning=False).head(0).write_parquet(file)
    facts = log_facts(table.folder, table)
    EventStore.create(folder / "clicks.duckdb", before, facts)
    return ClickState(folder / "clicks.duckdb", facts)


def request(event: dict[str, Any], facts: LogFacts) -> ShownRequest:
    given = {name: value for name, value in event.items() if name not in ("session", "list")}
    return ShownRequest.checked(facts, event["session"], **given)


def batch_features(table: FeatureTable) -> dict[tuple[Any, ...], pl.DataFrame]:
    """What the pipeline found, by session, time and query."""
    rows = table.scan().collect().sort("impression", "position")
    names = [pl.col(name).cast(pl.Float32) for name in table.names]
    return {
        (one["session"][0], one["time"][0], one["query"][0]): one.select("document", *names)
        for one in rows.partition_by("impression", maintain_order=True)
    }


def assert_replayed(table: FeatureTable, folder: Path) -> None:
    state, expected = empty_state(table, folder), batch_features(table)
    for event in events_of(table):
        if "documents" in event:
            found = state.features(request(event, state.facts))
            assert found.equals(expected[event["session"], event["time"], event["query"]], null_equal=True)
        assert state.update([event]) == {"added": 1, "repeated": 0}
    state.close()


@pytest.mark.heavy
@pytest.mark.parametrize("layout", GENERATED_FILES)
def test_a_log_replayed_event_by_event_has_the_features_of_the_pipeline(layout: str, tmp_path: Path) -> None:
    table = made(generated(tmp_path, 4, layout), tmp_path / "made", ReadingSettings(layout), GRADES)
    assert_replayed(table, tmp_path)


ODD = [
    q12("a", 10, "x", 1, 2, 1, 3), q12("a", 11, "y", 3, 2), c12("a", 12, 3), c12("a", 12, 1), c12("a", 20, 9),
    q12("b", 12, "x", 3, 1), c12("b", 13, 1), q12("b", 60, "x", 1), q12("c", 60, "x", 1, 3), q12("a", 70, "y", 2, 1),
]  # fmt: skip


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> FeatureTable:
    folder = tmp_path_factory.mktemp("odd")
    return made(write_lines(folder / "log", ODD), folder / "made", YANDEX12, SATISFIED)


@pytest.fixture(scope="module")
def odd_state(odd: FeatureTable, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickState]:
    state = empty_state(odd, tmp_path_factory.mktemp("state"))
    yield state
    state.close()


@pytest.mark.parametrize("clock", ["log", "session"])
@pytest.mark.filterwarnings("ignore:most sessions do not start at time 0")
def test_odd_events_replayed(clock: str, tmp_path: Path) -> None:
    reading = ReadingSettings("yandex2012", 1.0, clock)
    assert_replayed(made(write_lines(tmp_path / "log", ODD), tmp_path / "made", reading, SATISFIED), tmp_path)


def test_the_order_of_events_does_not_matter_and_repeated_ones_count_once(odd: FeatureTable, tmp_path: Path) -> None:
    events, expected = events_of(odd), batch_features(odd)
    state = empty_state(odd, tmp_path)
    late = random.Random(3).sample(events, len(events))
    assert state.update(late[:4]) == {"added": 4, "repeated": 0}
    assert state.update(late[2:]) == {"added": len(late) - 4, "repeated": 2}
    assert state.update(late) == {"added": 0, "repeated": len(late)}
    for event in events:
        if "documents" in event:  # what came later than the list, or at its time, does not count
            found = state.features(request(event, state.facts))
            assert found.equals(expected[event["session"], event["time"], event["query"]], null_equal=True)
    state.close()


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"session": "a", "time": 1, "query": "x"}, "expected documents (a list that was shown) or document"),
        ({"session": "a", "time": 1.5, "document": "1"}, "time is 1.5; expected a whole number"),
        ({"session": "a", "time": True, "document": "1"}, "time is True"),
        ({"session": "a", "document": "1"}, "time must be given"),
        ({"session": "", "time": 1, "document": "1"}, "session is ''; expected a text that is not empty"),
        ({"session": "a", "time": 1, "document": 1}, "document is 1; expected a text"),
        ({"session": "a", "time": 1, "docment": "1", "document": "1"}, "there is no key 'docment'"),
        ({"session": "a", "time": 1, "query": "x", "documents": []}, "documents is empty"),
        ({"session": "a", "time": 1, "query": "x", "documents": "12"}, "documents is '12'; expected an array"),
        ({"session": "a", "time": 1, "query": "x", "documents": ["1"], "domains": ["d", "e"]}, "domains has 2"),
        ({"session": "a", "time": 1, "query": "x\ud800", "documents": ["1"]}, "half a character"),
        ("click", "expected a mapping"),
    ],
)  # fmt: skip
def test_wrong_events_are_refused_and_none_is_added(event: Any, message: str, odd_state: ClickState) -> None:
    good = {"session": f"n {message}", "time": 5, "query": "x", "documents": ["1"]}
    with pytest.raises(ArgumentError) as error:
        odd_state.update([good, event])
    assert message in str(error.value)
    assert str(error.value).startswith("event 2 of 2: ")
    assert odd_state.update([good]) == {"added": 1, "repeated": 0}


def test_a_click_may_come_before_its_list(odd: FeatureTable, tmp_path: Path) -> None:
    state = empty_state(odd, tmp_path)
    assert state.update({"session": "z", "time": 5, "document": "1"}) == {"added": 1, "repeated": 0}
    asked = ShownRequest.checked(state.facts, "z", query="x", documents=["1"], time=7)
    assert state.features(asked)["session_document_clicked"].to_list() == [0.0]
    assert state.update(iter([{"session": "z", "time": 3, "query": "x", "documents": ["1", "2"]}]))["added"] == 1
    assert state.features(asked)["session_document_clicked"].to_list() == [1.0]
    for wrong in (None, 5, "click"):
        with pytest.raises(ArgumentError, match="expected an event or a list of events"):
            state.update(wrong)
    state.close()


def test_two_objects_of_one_state_give_events_numbers_of_their_own(odd: FeatureTable, tmp_path: Path) -> None:
    first = empty_state(odd, tmp_path)
    second = ClickState(first.path, first.facts)
    first.update([{"session": "s", "time": 0, "query": "x", "documents": ["1", "3"]}])
    second.update([{"session": "s", "time": 61, "document": "3"}])
    first.update([{"session": "s", "time": 65, "query": "y", "documents": ["1"]}])
    second.update([{"session": "s", "time": 100, "document": "1"}])
    first.close()
    second.close()
    with duckdb.connect(str(tmp_path / "clicks.duckdb")) as opened:
        stored = opened.execute("SELECT number FROM lists UNION ALL SELECT number FROM clicks").fetchall()
    assert len(set(stored)) == len(stored) == 4


def test_a_session_of_two_users_is_refused(tmp_path: Path) -> None:
    lines = ["user,session,time,query,shown,click", "u,s,1000,x,1 2,"]
    table = made(write_lines(tmp_path / "log.csv", lines), tmp_path / "made", ReadingSettings("table"), SATISFIED)
    state = EventStore.create(tmp_path / "s.duckdb", table.folder, log_facts(table.folder, table))
    state = ClickState(tmp_path / "s.duckdb", log_facts(table.folder, table))
    with pytest.raises(DataError, match="session 's' is of user 'u' and of user 'v'"):
        state.update([{"session": "s", "user": "v", "time": 2000, "document": "1"}])
    assert state.update({"session": "s", "time": 2000, "document": "1"}) == {"added": 1, "repeated": 0}  # it is u's
    found = state.features(ShownRequest.checked(state.facts, "t", user="u", query="x", documents=["1"], time=90_000))
    assert found["user_document_satisfied"].to_list() == [1.0]
    state.close()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    small_study().save(folder, method="Standard gain")
    return folder


class TestSaved:
    """The folder that a study saves."""

    def test_it_ranks_as_the_study_does(self, model: Path) -> None:
        table, last = small_table(), None
        rows = table.scan().collect().sort("impression", "position")
        lists = stored(table, "lists")
        with sf.PersonalRanker.load(model) as ranker:
            assert "Standard gain" in repr(ranker)
            assert ranker.about["why"].startswith("It was asked for by name.")
            for event in lists.sample(5, seed=2).iter_rows(named=True):
                known = {name: event[name] for name in ("session", "day", "terms", "domains")}
                last = ranker.rerank(event["user"], event["query"], event["documents"], event["time"], **known)
                mine = rows.filter(pl.col("impression") == event["impression"])
                matrix = mine.select(pl.col(table.names).cast(pl.Float32)).to_numpy()
                scores = Ranker.load(model).predict(np.ascontiguousarray(matrix))
                order = np.argsort(-scores, kind="stable")
                assert last.documents == [mine["document"][int(row)] for row in order]
                assert last.scores == scores[order].tolist()
                assert last.changed == (last.order != sorted(last.order))
                assert all(
                    len(reasons) <= 3 and {"feature", "value", "adds"} == set(reasons[0])
                    for reasons in last.why
                    if reasons
                )
        assert last is not None
        assert json.loads(json.dumps(last.to_dict()))["documents"] == last.documents

    def test_it_says_what_its_features_are(self, model: Path) -> None:
        details = json.loads((model / "personal.json").read_text())
        assert [one["name"] for one in details["features"]] == small_table().names
        assert all(one["meaning"] for one in details["features"])
        assert list(Ranker.load(model).feature_names_in_) == small_table().names

    def test_it_can_be_exported(self, model: Path, tmp_path: Path) -> None:
        Ranker.load(model).export(tmp_path / "out", to="vespa", missing="nan")
        files = [file for file in tmp_path.rglob("*") if file.is_file()]
        assert any("user_pair_clicked" in file.read_text(errors="replace") for file in files)

    def test_every_name_is_known_before_training(self) -> None:
        data = small_study().to_dict()
        rows = [*data["chosen"], *data["rows"]]
        names = {name for row in rows if row["name"] in data["models"] for name in (row["name"], row.get("label"))}
        assert len(names - {None}) > 8
        assert names - {None} <= set(method_names(SMALL["grid"]))

    def test_refusals(self, model: Path, tmp_path: Path) -> None:
        result = small_study()
        with pytest.raises(DataError, match="is there already; choose a new folder"):
            result.save(model)
        with pytest.raises(ArgumentError, match="there is no model of method 'Standrd gain'"):
            result.save(tmp_path / "m", method="Standrd gain")
        with pytest.raises(ArgumentError, match="give its folder as study"):
            type(result)(result.to_dict()).save(tmp_path / "m")
        with pytest.raises(DataError, match="is not a folder"):
            sf.PersonalRanker.load(tmp_path / "none")
        assert list(tmp_path.iterdir()) == []
        other = tmp_path / "other"
        shutil.copytree(model, other)
        (other / "personal.json").write_text('{"schema": "surefoot/personal-ranker/9"}')
        with pytest.raises(DataError, match="surefoot/personal-ranker/9"):
            sf.PersonalRanker.load(other)
        (other / "clicks.duckdb").write_bytes(b"no database")
        shutil.copy(model / "personal.json", other)
        with pytest.raises(DataError, match=r"clicks\.duckdb: cannot be used"):
            sf.PersonalRanker.load(other)

    def test_a_model_is_open_in_one_program(self, model: Path) -> None:
        code = f"import surefoot as sf; sf.PersonalRanker.load({str(model)!r})"
        with sf.PersonalRanker.load(model):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "clicks.duckdb: is in use by another program" in done.stderr


def test_a_study_that_cannot_be_served_is_refused(tmp_path: Path) -> None:
    table = made(write_lines(tmp_path / "log", ODD), tmp_path / "made", YANDEX12, Satisfaction((30.0,), last=False))
    with pytest.raises(ArgumentError, match="--no-last"):
        log_facts(table.folder, table)


def test_a_table_of_earlier_rules_is_not_served(odd: FeatureTable, tmp_path: Path) -> None:
    shutil.copytree(odd.folder, tmp_path / "study")
    facts = json.loads((tmp_path / "study" / "log.json").read_text())
    del facts["rules"]
    (tmp_path / "study" / "log.json").write_text(json.dumps(facts))
    with pytest.raises(DataError, match="a table of another version of surefoot, whose rules of counting"):
        log_facts(tmp_path / "study", odd)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("satisfaction", "thresholds", ["x"]), ("satisfaction", "thresholds", 3), ("satisfaction", "thresholds", []),
        ("reading", "layout", "other"), ("reading", "layout", ["x"]), ("reading", "seconds", None),
    ],
)  # fmt: skip
def test_a_log_s_facts_that_were_changed_are_refused_by_file(
    odd: FeatureTable, tmp_path: Path, part: str, name: str, value: Any
) -> None:
    shutil.copytree(odd.folder, tmp_path / "study")
    path = tmp_path / "study" / "log.json"
    facts = json.loads(path.read_text())
    facts[part][name] = value
    path.write_text(json.dumps(facts))
    with pytest.raises(DataError, match=r"log\.json: is damaged or incomplete"):
        log_facts(tmp_path / "study", odd)


def test_what_the_study_says_not_to_serve_is_saved_by_name_only(tmp_path: Path) -> None:
    result = small_study()
    data = json.loads(json.dumps(result.to_dict()))
    home = result.folder
    for decision in ("keep", "unclear"):
        data["recommendation"] |= {"choice": decision, "p": 0.5}
        other = type(result)(data)
        if decision == "keep":
            with pytest.raises(ArgumentError, match=r"says not to serve a model.*--method"):
                other.save(tmp_path / decision, study=home)
            assert not list(tmp_path.iterdir())
            other.save(tmp_path / "named", study=home, method="Standard gain")
        else:
            with pytest.warns(SurefootWarning, match="may be no better than the shown order. We cannot tell yet"):
                other.save(tmp_path / decision, study=home)


_FULL = """
import resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from surefoot.personal.study import Personalization
result = Personalization.read(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
result.save(sys.argv[3], study=sys.argv[2], method="Standard gain")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="the system cannot limit the size of files")
def test_a_full_disk_leaves_no_model(tmp_path: Path) -> None:
    result = small_study()
    result.write(tmp_path / "result.json")
    line = [sys.executable, "-c", _FULL, tmp_path / "result.json", result.folder, tmp_path / "model"]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False)
    assert re.search(r"StateError: .*/model/clicks\.duckdb: cannot be written", done.stderr), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


_WRITER = """
import sys
from pathlib import Path
from surefoot.clicks.click_state import ClickState
from surefoot.clicks.events import LogFacts
facts = LogFacts("time", 1.0, False, False, False, False, False, (30.0,))
state = ClickState(Path(sys.argv[1]), facts)
for number in range(int(sys.argv[2]), 10**6):
    state.update({"session": f"s{number}", "time": number, "query": "x", "documents": ["1", "2"]})
    print(number, flush=True)
"""


@pytest.mark.heavy
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_kills_lose_nothing_that_was_acknowledged(odd: FeatureTable, tmp_path: Path) -> None:
    state = empty_state(odd, tmp_path)
    facts, path, known = state.facts, state.path, 0
    state.close()
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), str(known)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(7):
                known = int(process.stdout.readline()) + 1
            os.kill(process.pid, signal.SIGKILL)
        again = ClickState(path, facts)
        found = again.features(ShownRequest.checked(facts, None, query="x", documents=["1"], time=10**8))
        assert found["query_lists"].to_list()[0] >= known
        known = int(found["query_lists"].to_list()[0])
        again.close()
