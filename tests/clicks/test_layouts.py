"""The layouts: the same log gives the same impressions in each, and odd lines are counted and set aside."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.clicks.logs import GRADES, SATISFIED, YANDEX12, YANDEX14, c12, generated, made, q12, results, write_lines

from surefoot.clicks.backends import open_backend
from surefoot.clicks.feature_pipeline import FeatureTable, feature_table
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import ReadingSettings, milliseconds
from surefoot.clicks.layouts.reading import LAYOUTS, guess_layout
from surefoot.clicks.log import ibis
from surefoot.clicks.options import GENERATED_FILES
from surefoot.errors import ArgumentError, DataError, SurefootWarning

OUTCOMES = ["impression", "session", "user", "query", "position", "document", "grade", "last"]


def outcomes(frame: pl.DataFrame) -> pl.DataFrame:
    times = ("clicked_at", "satisfied_at", "skipped_at")
    return frame.select(*OUTCOMES, *(pl.col(name).is_not_null() for name in times))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> FeatureTable:
    folder = tmp_path_factory.mktemp("first")
    return made(generated(folder, 10), folder / "made", YANDEX14, GRADES)


@pytest.mark.parametrize("layout", [name for name in GENERATED_FILES if name != "yandex2014"])
@pytest.mark.heavy
def test_a_generated_log_is_the_same_in_every_layout(layout: str, first: FeatureTable, tmp_path: Path) -> None:
    path = generated(tmp_path, 10, layout)
    assert guess_layout(path) == layout
    second = made(path, tmp_path / "second", ReadingSettings(layout), GRADES)
    assert outcomes(results(second)).equals(outcomes(results(first)))
    assert second.counts["clicks"] == first.counts["clicks"]
    assert not second.counts["rejected"]
    assert not second.counts["set_aside"]


def _dumped(line: dict[str, Any], number: int) -> list[dict[str, Any]]:
    return [{"_index": "ubi", "_id": str(number), "_score": 1, "_source": line}]


def _bulk(line: dict[str, Any], number: int) -> list[dict[str, Any]]:
    return [{"index" if number % 2 else "create": {"_index": "ubi", "_id": str(number)}}, line]


@pytest.mark.parametrize("form", [_dumped, _bulk])
@pytest.mark.heavy
def test_dumps_and_bulk_files_of_user_behavior_insights(form: Any, first: FeatureTable, tmp_path: Path) -> None:
    for path in generated(tmp_path, 10, "ubi").iterdir():
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(f"{json.dumps(one)}\n" for i, line in enumerate(lines) for one in form(line, i)))
    second = made(tmp_path / "ubi.log", tmp_path / "second", ReadingSettings("ubi"), GRADES)
    assert outcomes(results(second)).equals(outcomes(results(first)))
    assert not second.counts["rejected"]


def test_a_log_of_which_nothing_is_left_says_by_which_rules(tmp_path: Path) -> None:
    lines = [q12("s", "noon", "x", "a"), q12("s", "later", "x", "a"), "nothing at all"]
    with pytest.raises(DataError, match=r"shows no list of results, read as yandex2012 \(2 lines: .*; 1 line: "):
        made(write_lines(tmp_path / "log", lines), tmp_path / "made")


@pytest.mark.heavy
def test_a_table_in_parquet(tmp_path: Path) -> None:
    text = made(generated(tmp_path, 5, "table"), tmp_path / "text", ReadingSettings("table"), SATISFIED)
    frame = pl.read_csv(tmp_path / "table.log", infer_schema_length=0)
    frame = frame.with_columns(shown=pl.col("shown").str.split(" "), time=pl.col("time").cast(pl.Int64))
    frame.write_parquet(tmp_path / "log.parquet")
    binary = made(tmp_path / "log.parquet", tmp_path / "binary", ReadingSettings("table"), SATISFIED)
    assert results(binary).equals(results(text))


def test_scores_of_a_table_are_a_feature(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "session": ["a", "a"], "time": [0, 5], "query": ["x", None], "shown": [["1", "2"], None],
            "click": [None, "2"], "scores": [[0.5, 0.25], None],
        }
    )  # fmt: skip
    frame.write_parquet(tmp_path / "log.parquet")
    table = made(tmp_path / "log.parquet", tmp_path / "made", ReadingSettings("table"), SATISFIED)
    assert table.scan().sort("position").collect()["score"].to_list() == [0.5, 0.25]
    assert "score" in table.names
    assert not table.users


@pytest.mark.heavy
def test_gzip(tmp_path: Path) -> None:
    log = generated(tmp_path, 4)
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    one = made(log, tmp_path / "one", YANDEX14, GRADES)
    other = made(packed, tmp_path / "other", YANDEX14, GRADES)
    assert results(one).equals(results(other))


@pytest.mark.heavy
def test_several_files_are_one_log(tmp_path: Path) -> None:
    log = generated(tmp_path, 6)
    lines = log.read_text().splitlines()
    cut = next(i for i in range(len(lines) // 2, len(lines)) if lines[i].split("\t")[1] == "M")
    (tmp_path / "parts").mkdir()
    write_lines(tmp_path / "parts" / "1.log", lines[:cut])
    write_lines(tmp_path / "parts" / "2.log", lines[cut:])
    one_file = made(log, tmp_path / "one_file", YANDEX14, GRADES)
    parts = made(tmp_path / "parts", tmp_path / "made", YANDEX14, GRADES)
    assert results(parts).equals(results(one_file))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1767312139000", 1767312139000), ("2026-01-02T00:02:19.000Z", 1767312139000),
        ("2026-01-02 00:02:19", 1767312139000), ("2026-01-02T01:02:19.5+01:00", 1767312139500),
        ("2026-01-01T23:32:19-0030", 1767312139000), ("2024-02-29T00:00:00Z", 1709164800000),
        ("1970-01-01T00:00:00Z", 0), ("2000-03-01T00:00:00.123456Z", 951868800123),
        ("yesterday", None), ("2026-13-01T00:00:00Z", None), ("", None), ("1.5", None), ("-3", None),
        ("12345678901234567890", None),
    ],
)  # fmt: skip
def test_moments(text: str, expected: int | None, tmp_path: Path) -> None:
    table = ibis.memtable(pl.DataFrame({"text": [text]}))
    connection = open_backend("duckdb", tmp_path).connection
    assert connection.to_pyarrow(table.select(at=milliseconds(table.text))).to_pylist() == [{"at": expected}]


def rejected_texts(table: FeatureTable) -> dict[int, str]:
    """The lines that say nothing, by their numbers, as people read them."""
    rejected = pl.read_csv(table.folder / "rejected.csv", schema_overrides={"text": pl.String})
    return dict(rejected.select("line", "text").rows())


class TestOddLines:
    """Each by a stated rule, counted."""

    def test_of_2012(self, tmp_path: Path) -> None:
        lines = [
            q12(1, 0, "x", "a", "b"), "nonsense", q12(1, "soon", "x", "a"), q12("", 3, "x", "a"),
            q12(1, 4, "x", "a", "", "b"), "1\t5\tC", c12(1, 6, "a"), "1\t7\tZ\ta", "", "1\t8\tC\ta\t\t\t",
        ]  # fmt: skip
        table = made(write_lines(tmp_path / "log", lines), tmp_path / "made")
        assert table.counts["rejected"] == {
            "has a time that is not a whole number below 10^15": 1, "has an empty URL": 1, "has an empty id": 1,
            "is not a valid line of this layout": 3,
        }  # fmt: skip
        assert table.counts["lists"] == 1
        assert table.counts["clicks"] == 2
        assert (table.folder / "rejected.csv").read_text().startswith("file,line,reason,text\n")
        assert rejected_texts(table) == {number + 1: lines[number] for number in (1, 2, 3, 4, 5, 7)}

    def test_of_2014(self, tmp_path: Path) -> None:
        shown = "a,1\tb,2"
        lines = [
            "1\tM\t3\tu", f"1\t0\tQ\t0\tx\tt\t{shown}", "1\t4\tC\t0\ta", "2\tM\t3\tu", "2\tM\t3\tv",
            f"2\t0\tQ\t0\tx\tt\t{shown}", f"3\t0\tQ\t0\tx\tt\t{shown}",
            "4\tM\ttoday\tu", "1\t9\tQ\t1\tx\tt\ta,1\tb", "1\t9\tT\t2\ty\tt\ta,1",
        ]  # fmt: skip
        table = made(write_lines(tmp_path / "log", lines), tmp_path / "made", YANDEX14, GRADES)
        assert table.counts["rejected"] == {
            "has a day that is not a whole number below 10^15": 1, "has a result that is not URL,domain": 1,
            "belongs to a session that is described in two ways": 1, "belongs to a session without a line M": 1,
        }  # fmt: skip
        assert table.counts["lists"] == 2
        assert rejected_texts(table) == {number + 1: lines[number] for number in (5, 6, 7, 8)}

    def test_of_json(self, tmp_path: Path) -> None:
        about = {"timestamp": "10", "user": "u", "session": "s"}
        ranking = {"event": "ranking", "id": "r1", "items": [{"id": "a"}], **about}
        click = {"event": "interaction", "type": "click", "ranking": "r1", "timestamp": "20", "item": "a"}
        lines = [
            json.dumps(ranking), json.dumps(click), '{"event": "rank', "[1]", json.dumps(click | {"type": "cart"}),
            json.dumps({"event": "item", "id": "a"}), json.dumps(click | {"item": ""}),
            json.dumps(ranking | {"items": []}), json.dumps(ranking | {"timestamp": "now"}),
        ]  # fmt: skip
        table = made(write_lines(tmp_path / "log", lines), tmp_path / "made", ReadingSettings("metarank"))
        assert table.counts["rejected"] == {
            "has no timestamp in ISO 8601 or in milliseconds": 1, "is a ranking of no items": 1,
            "is an interaction with no item": 1, "is not a JSON object": 2,
        }  # fmt: skip
        assert rejected_texts(table) == {number + 1: lines[number] for number in (2, 3, 6, 7, 8)}
        assert table.counts["lists"] == 1
        assert table.counts["clicks"] == 1

    def test_clicks_on_nothing_that_was_shown(self, tmp_path: Path) -> None:
        lines = [
            c12("early", 1, "a"), q12("early", 5, "x", "a"), c12("alone", 3, "a"), q12("s", 0, "x", "a", "b"),
            c12("s", 2, "z"), c12("s", 3, "b"),
        ]  # fmt: skip
        table = made(write_lines(tmp_path / "log", lines), tmp_path / "made")
        assert table.counts["set_aside"] == {
            "comes before its list": 1, "has no list in its session": 1, "is on a document that was not shown": 1,
        }  # fmt: skip
        aside = pl.read_csv(tmp_path / "made" / "set_aside.csv", infer_schema_length=0)
        assert sorted(aside["document"].to_list()) == ["a", "a", "z"]

    @pytest.mark.parametrize(
        ("lines", "clicked"),
        [
            ([q12("s", 0, "x", "a", "b"), c12("s", 2, "a"), c12("s", 10, "z"), q12("s", 90, "y", "c")],
             [("s-1", "a", 0, False)]),
            ([q12("s", 0, "x", "a", "b"), q12("s", 50, "y", "b"), c12("s", 60, "b"), q12("s", 70, "z", "b")],
             [("s-2", "b", 0, False)]),
            ([q12("s", 0, "x", "a", "b", "c"), c12("s", 10, "b"), c12("s", 90, "a"), c12("s", 150, "c"),
              q12("s", 151, "y", "d")],
             [("s-1", "a", 1, True), ("s-1", "b", 1, False), ("s-1", "c", 0, False)]),
        ],
        ids=["one that is set aside ends the dwell", "the last list with its document", "the later satisfied is last"],
    )  # fmt: skip
    def test_what_becomes_of_clicks(self, lines: list[str], clicked: list[tuple], tmp_path: Path) -> None:
        rows = results(made(write_lines(tmp_path / "log", lines), tmp_path / "made"))
        rows = rows.filter(pl.col("clicked_at").is_not_null())
        assert rows.select("impression", "document", "grade", "last").rows() == clicked

    def test_an_unfinished_last_line(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        log.write_text("\n".join([q12(1, 0, "x", "a", "abc"), c12(1, 40, "a"), c12(1, 50, "ab")]))
        table = made(log, tmp_path / "made")
        assert table.counts["rejected"] == {"is the last line and has no line feed at its end": 1}
        assert table.counts["clicks"] == 1

    def test_sessions_that_stand_twice(self, tmp_path: Path) -> None:
        lines = [q12(1, 0, "x", "a"), c12(1, 40, "a")]
        table = made(write_lines(tmp_path / "log", lines * 2), tmp_path / "made")
        assert table.counts["repeated"] == 2
        assert table.counts["lists"] == 1
        assert table.counts["clicks"] == 1

    def test_ids_beyond_64_bits_and_a_session_of_one_event(self, tmp_path: Path) -> None:
        big, bigger = "9" * 30, "9" * 29 + "8"
        lines = [q12(big, 0, big, big, bigger), c12(big, 40, bigger), q12(bigger, 0, big, big), c12("lone", 1, big)]
        table = made(write_lines(tmp_path / "log", lines), tmp_path / "made")
        rows = results(table)
        assert rows.filter(pl.col("clicked_at").is_not_null()).select("session", "document").rows() == [(big, bigger)]
        assert table.counts["sessions"] == 2

    def test_a_session_of_two_users(self, tmp_path: Path) -> None:
        header = "user,session,time,query,shown,click"
        lines = [header, "u,s,1,x,a b,", "v,s,5,,,a", "u,t,1,x,a b,"]
        table = made(write_lines(tmp_path / "log.csv", lines), tmp_path / "made", ReadingSettings("table"))
        assert table.counts["rejected"] == {"belongs to a session of two users": 2}
        assert table.counts["lists"] == 1

    @pytest.mark.parametrize("shards", [1, 3])
    def test_a_session_of_two_files(self, tmp_path: Path, shards: int) -> None:
        files = {
            "a": ["1\tM\t1\tA", "1\t0\tQ\t0\t7\tt\t70,1\t71,1", "2\tM\t1\tA", "2\t0\tQ\t0\t7\tt\t70,1"],
            "b": ["1\tM\t1\tB", "1\t50\tC\t0\t71", "2\tM\t2\tA", "2\t60\tQ\t0\t7\tt\t70,1",
                  "3\tM\t2\tA", "3\t0\tQ\t0\t7\tt\t70,1"],
        }  # fmt: skip
        folder = tmp_path / "log"
        folder.mkdir()
        for name, lines in files.items():
            write_lines(folder / name, lines)
        table = feature_table(folder, tmp_path / "made", ReadingSettings("yandex2014"), SATISFIED, shards=shards)
        assert table.counts["rejected"] == {
            "belongs to a session of two days": 2, "belongs to a session of two users": 2,
        }  # fmt: skip
        assert table.counts["lists"] == 1


@pytest.mark.heavy
def test_a_user_with_100_000_events(tmp_path: Path) -> None:
    lines = ["s\tM\t1\tu"]
    for number in range(50_000):
        lines += [f"s\t{2 * number}\tQ\t{number}\tx\tt\ta,1\tb,1", f"s\t{2 * number + 1}\tC\t{number}\tb"]
    table = made(write_lines(tmp_path / "log", lines), tmp_path / "made", YANDEX14, GRADES)
    last = table.scan().filter((pl.col("time") == 99_998) & (pl.col("document") == "b")).collect()
    assert last.select("session_document_shown", "session_document_clicked", "session_clicks").rows() == [
        (49_999.0,) * 3
    ]


class TestRejected:
    """What cannot be a log is refused, with file and line."""

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "is empty"), (b"1\t0\tQ\tx\t0\ta\n\xff\n", "line 2: not UTF-8"),
            (b"1\t0\tQ\tx\t0\ta\n\x00\n", "line 2: found a NUL"),
            (b"\xef\xbb\xbf1\t0\tQ\tx\t0\ta\n", "byte order mark"), (b"1\t0\tQ\tx\t0\ta\rb\n", "carriage returns"),
            (b"1\t0\tQ\tx\t0\ta\x01\n", "line 1: contains the control character"),
        ],
    )  # fmt: skip
    def test_no_text(self, content: bytes, message: str, tmp_path: Path) -> None:
        (tmp_path / "log").write_bytes(content)
        with pytest.raises(DataError, match=message):
            made(tmp_path / "log", tmp_path / "made")

    def test_a_truncated_gzip(self, tmp_path: Path) -> None:
        packed = gzip.compress(("\n".join(q12(1, i, "x", "a") for i in range(2000)) + "\n").encode())
        (tmp_path / "log.gz").write_bytes(packed[:-50])
        with pytest.raises(DataError, match="truncated or corrupt"):
            made(tmp_path / "log.gz", tmp_path / "made")

    def test_another_log_in_the_folder(self, tmp_path: Path) -> None:
        made(write_lines(tmp_path / "one", [q12(1, 0, "x", "a")]), tmp_path / "made")
        with pytest.raises(DataError, match="another log"):
            made(write_lines(tmp_path / "two", [q12(1, 0, "x", "b")]), tmp_path / "made")
        with pytest.raises(DataError, match="--dwell was 30 and is 10; "):
            made(tmp_path / "one", tmp_path / "made", YANDEX12, Satisfaction((10.0,)))

    def test_a_folder_with_other_files(self, tmp_path: Path) -> None:
        log = write_lines(tmp_path / "log", [q12(1, 0, "x", "a")])
        with pytest.raises(DataError, match="files that do not belong to a study"):
            made(log, tmp_path)

    def test_a_clock_that_is_not_each_sessions_own(self, tmp_path: Path) -> None:
        log = write_lines(tmp_path / "log", [q12(1, 70, "x", "a"), q12(2, 90, "x", "a"), c12(2, 95, "a")])
        with pytest.warns(SurefootWarning, match="--clock log"):
            table = made(log, tmp_path / "made", ReadingSettings("yandex2012", 1.0))
        assert table.clock is None
        assert "query_entropy" not in table.names

    def test_no_unit(self, tmp_path: Path) -> None:
        with pytest.raises(ArgumentError, match="--unit ms"):
            made(write_lines(tmp_path / "log", [q12(1, 0, "x", "a")]), tmp_path / "made", ReadingSettings("yandex2012"))

    def test_no_known_layout(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="does not match any known layout"):
            guess_layout(write_lines(tmp_path / "log", ["what is this"]))
        with pytest.raises(ArgumentError, match="did you mean yandex2012"):
            made(tmp_path / "log", tmp_path / "made", ReadingSettings("yandex_2012"))


class TestTable:
    """One table of layouts, which the command line, its errors and the documentation agree with."""

    @pytest.mark.parametrize("layout", GENERATED_FILES)
    def test_one_layout_alone_recognizes_a_log(self, layout: str, tmp_path: Path) -> None:
        path = generated(tmp_path, 2, layout)
        assert guess_layout(path) == layout
        first = "" if path.is_dir() else path.read_text().splitlines()[0]
        assert [one.name for one in LAYOUTS.values() if one.recognizes(first)] == [layout] * path.is_file()

    @pytest.mark.parametrize("line", [q12(1, 0, "x", "a", "b"), c12(1, 0, "a")])
    def test_of_2012(self, line: str) -> None:
        assert [layout.name for layout in LAYOUTS.values() if layout.recognizes(line)] == ["yandex2012"]

    def test_every_layout_is_documented(self) -> None:
        documented = (Path(__file__).parents[2] / "docs" / "personalize.md").read_text()
        assert all(f"| `{name}` |" in documented for name in LAYOUTS)

    def test_other_files_than_the_layouts(self, tmp_path: Path) -> None:
        log = write_lines(tmp_path / "ubi_queries.jsonl", ["{}"])
        for given, more, message in (
            (log, [], "a log in layout ubi is a folder with ubi_queries… and ubi_events…"),
            (tmp_path, [], "expected files with names ubi_queries… and ubi_events… here"),
            (tmp_path, ["ubi_queries-02", "ubi_events"], "has ubi_queries-02.jsonl, ubi_queries.jsonl, and a log in"),
        ):
            for name in more:
                write_lines(tmp_path / f"{name}.jsonl", ["{}"])
            with pytest.raises(DataError, match=message):
                made(given, tmp_path / "made", ReadingSettings("ubi"))

    def test_a_layout_that_numbers_rows_alike_is_refused(self, tmp_path: Path, monkeypatch) -> None:
        good = LAYOUTS["yandex2012"]

        def read(*given):
            log = good.read(*given)
            return replace(log, clicks=log.clicks.mutate(number=log.clicks.number % 2))  # clicks would multiply

        monkeypatch.setitem(LAYOUTS, "yandex2012", replace(good, read=read))
        log = write_lines(tmp_path / "log", [q12(1, 0, "x", "a", "b"), *(c12(1, time, "a") for time in range(1, 6))])
        with pytest.raises(
            TypeError, match="layout yandex2012: 3 of its clicks have no number, or the number of another"
        ):
            made(log, tmp_path / "made")

    def test_a_table_that_earlier_rules_began_is_refused(self, tmp_path: Path) -> None:
        log = write_lines(tmp_path / "log", [q12(1, 0, "x", "a")])
        table = made(log, tmp_path / "made")
        facts = tmp_path / "made" / "log.json"
        stored = json.loads(facts.read_text())
        del stored["rules"]
        facts.write_text(json.dumps(stored))
        assert made(log, tmp_path / "made") == table  # complete
        del stored["counts"]
        facts.write_text(json.dumps(stored))
        with pytest.raises(DataError, match="another version of surefoot began, by other rules"):
            made(log, tmp_path / "made")
