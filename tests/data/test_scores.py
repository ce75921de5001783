"""Score matrices: in, out, and wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.data.files import check_refused, write_file

import surefoot as sf
from surefoot.data.reading.query_tables import read_segments
from surefoot.errors import ArgumentError, DataError

CSV = "topic,today,new\n1,0.5,0.25\n2,0,1\n"


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_written_and_read_back(tmp_path: Path, ending: str) -> None:
    values = np.random.default_rng(0).random((3, 7))
    scores = sf.Scores(values, ["a,b", 'c"d', "e"], [f"q{i}" for i in range(7)], "AP")
    scores.write(tmp_path / f"x{ending}")
    again = sf.read_scores(tmp_path / f"x{ending}", measure="AP")
    np.testing.assert_array_equal(again.values, values)
    assert (again.systems, again.queries, again.measure) == (scores.systems, scores.queries, "AP")


@pytest.mark.parametrize(
    "text", [CSV, CSV.replace(",", "\t"), CSV.replace(",", ";"), "\ufeff" + CSV.replace("\n", "\r\n")]
)
def test_separators(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    scores = sf.read_scores(path)
    assert scores.systems == ("today", "new")
    assert scores.queries == ("1", "2")
    np.testing.assert_array_equal(scores.values, [[0.5, 0], [0.25, 1]])


def test_tables_and_dicts() -> None:
    frame = pd.DataFrame({"query": [1, 2], "today": [0.5, 0.0], "new": [0.25, 1.0]})
    np.testing.assert_array_equal(sf.read_scores(frame)["new"], [0.25, 1])
    nested = sf.read_scores({"today": {1: 0.5, 2: 0}, "new": {2: 1, 1: 0.25}})
    np.testing.assert_array_equal(nested["new"], [0.25, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topic,a,b\n1,0.5,\n", "line 2, query '1': the score of system 'b' is missing"),
        ("topic,a,b\n1,0.5,0.1\n2,0.3\n", "line 3: found 2 columns, but the header has 3"),
        ("topic,a,b\n1,0.5,high\n", "line 2, query '1': the score of system 'b' is 'high', not a number"),
        ("topic,a,b\n1,0.5,nan\n", "is nan; it must be finite"),
        ("topic,a,b\n1,0.5,inf\n", "is inf; it must be finite"),
        ("topic,a,a\n1,0.5,0.1\n", "line 1: two columns are named 'a'"),
        ("topic,a\n1,0.5\n1,0.6\n", "line 3: query '1' appears twice"),
        ("topic,a\n,0.5\n", "line 2: the query is missing"),
        ("topic\n1\n", "at least one column per system"),
        ("topic,a\n", "found 2 columns and 0 rows"),
        ("", "the file is empty"),
        ("topic,a\n1,0.5\n\n2,0.5,0.7\n", "line 4: found 3 columns, but the header has 2"),
        ('topic,a\n\n1,"0.5\n2,0.7\n', "line 3: a quotation mark is not closed"),
        ('topic,a\n1,0.5\n"2\n3",0.7\n\n4,x\n', "line 6, query '4': the score of system 'a' is 'x'"),
        ("topic,a,\n1,0.5,0.7\n", "a column has no name"),
        ("1,0.5,0.7\n2,0.1,0.2\n", "line 1: the first line must be the header"),
        ("301\t.5\t1e-3\n302\t1\t0\n", "line 1: the first line must be the header"),
        ("x,1,2\n", "line 1: the first line must be the header"),
        ("topic,a\r1,0.5\r2,0.7\r", "line 1: the lines end in a carriage return only (old Mac line ends)"),
        ("topic,a\n1,1_000\n", "is '1_000', not a number"),
        ("topic,a\n1,٣\n", "is '٣', not a number"),
        ("topic,a\n1,-1e308\n", "is -1e+308; it must be finite and within ±1e+100"),
        ("\n\n", "the file is empty"),
        ("topic,a\n1,0.5,", "line 2: found 3 columns, but the header has 2"),
    ],
)
def test_bad_matrices(tmp_path: Path, text: str, message: str) -> None:
    check_refused(sf.read_scores, write_file(tmp_path / "bad.csv", text), message)


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("\ntopic,today,new\n\n1,0.5,0.25\n  \n2,0,1\n,,\n\n")
    assert sf.read_scores(path).queries == ("1", "2")


@pytest.mark.parametrize("start", ["x^", "x\x01"])
def test_text_that_looks_compressed_to_polars(tmp_path: Path, start: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{start},today,new\n1,0.5,0.25\n")
    assert sf.read_scores(path).systems == ("today", "new")


def test_a_matrix_with_names() -> None:
    values = [[0.5, 0.25, 1.0], [0.75, 0.0, 0.5]]
    for matrix in (values, np.array(values), np.array(values, dtype=np.float32)):
        scores = sf.read_scores(matrix, "AP", systems=["today", "new"], queries=[1, 2, 3])
        assert (scores.systems, scores.queries, scores.measure) == (("today", "new"), ("1", "2", "3"), "AP")
        assert scores.values.tolist() == values


def test_what_is_no_matrix() -> None:
    with pytest.raises(DataError, match=r"cannot read a int; give a file, a nested dict \{system: \{query"):
        sf.read_scores(5)
    with pytest.raises(ArgumentError, match=r"give them: read_scores\(matrix, systems=\[…\], queries=\[…\]\)"):
        sf.read_scores(np.eye(2))
    with pytest.raises(ArgumentError, match="its own names"):
        sf.read_scores({"a": {"q": 0.5}}, systems=["a"])
    with pytest.raises(ArgumentError, match=r"it must have one row per system; use matrix\.T"):
        sf.read_scores(np.ones((3, 2)), systems=["a", "b"], queries=["1", "2", "3"])
    with pytest.raises(DataError, match=r"system 'a': expected a dict \{query: score\}, found a float"):
        sf.read_scores({"a": 0.5})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]], ["a"], ["q", "r"]), "have shape"),
        (([[1.0], [2.0]], ["a", "a"], ["q"]), "two system columns are named 'a'"),
        (([[1.0, 2.0]], ["a"], ["q", "q"]), "two query columns are named 'q'"),
        (([[float("nan")]], ["a"], ["q"]), "must be finite"),
        (([[1e308]], ["a"], ["q"]), "within ±1e"),
        ((np.empty((0, 0)), [], []), "at least one system"),
    ],
)
def test_bad_arguments(arguments, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        sf.Scores(*arguments)


def test_an_unknown_system_is_told_with_the_known_ones() -> None:
    scores = sf.Scores([[1.0], [2.0]], ["today", "new"], ["q"])
    with pytest.raises(
        ArgumentError, match=r"no system is named 'toady'; did you mean today\? The systems are: today, new"
    ):
        scores["toady"]


def test_geometric_mean_has_a_floor() -> None:
    scores = sf.Scores([[0.0, 1.0], [0.25, 1.0]], ["a", "b"], ["q", "r"])
    np.testing.assert_allclose(scores.geometric_mean(), [np.sqrt(1e-5), 0.5])


@pytest.mark.parametrize("head", ["query", "QID", "topic", ""])
def test_systems_named_by_numbers(tmp_path: Path, head: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{head},1,2\nq1,0.5,0.25\n")
    assert sf.read_scores(path).systems == ("1", "2")


def test_white_space_around_fields_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("query, a ,b\n q1 ,0.5, 1\nq2\t,1 ,2\n")
    assert (sf.read_scores(path).systems, sf.read_scores(path).queries) == (("a", "b"), ("q1", "q2"))


@pytest.mark.parametrize("name", [" a", "a\r", "a\0b", "", "b\t"])
def test_names_that_csv_cannot_hold_are_not_written(tmp_path: Path, name: str) -> None:
    for scores in (sf.Scores([[0.5]], ["a"], [name]), sf.Scores([[0.5]], [name], ["q"])):
        with pytest.raises(DataError, match="cannot be written in CSV"):
            scores.write(tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a,b", 'say "x"', "two\nlines", "é", "=1+1", "a;b\tc"])
def test_names_of_any_kind_read_back(tmp_path: Path, name: str) -> None:
    sf.Scores([[0.5], [1]], ["a", name], [name]).write(tmp_path / "x.csv")
    scores = sf.read_scores(tmp_path / "x.csv")
    assert (scores.systems, scores.queries) == (("a", name), (name,))


def test_an_ending_may_be_in_capitals(tmp_path) -> None:
    scores = sf.Scores([[0.5, 0.25]], ["a"], ["q", "r"])
    scores.write(tmp_path / "S.PARQUET")
    assert sf.read_scores(tmp_path / "S.PARQUET").values.tolist() == [[0.5, 0.25]]
    assert (tmp_path / "S.PARQUET").read_bytes()[:4] == b"PAR1"
    scores.write(tmp_path / "s.parq")
    assert sf.read_scores(tmp_path / "s.parq").values.tolist() == [[0.5, 0.25]]
    pl.DataFrame({"query": ["q"], "kind": ["head"]}).write_parquet(tmp_path / "K.Parquet")
    assert read_segments(tmp_path / "K.Parquet") == {"kind": {"q": "head"}}


def test_select_goes_by_name() -> None:
    scores = sf.Scores([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], ["today", "new"], ["a", "b", "c"], "AP")
    part = scores.select(systems=["new"], queries=["c", "a"])
    assert (part.systems, part.queries, part.values.tolist()) == (("new",), ("c", "a"), [[0.6, 0.4]])
    assert scores.select().values.tolist() == scores.values.tolist()
    weighted = scores.with_traffic({"a": 1, "b": 2, "c": 5}).select(queries=["a", "c"])
    assert weighted.mean()[0] == pytest.approx((0.1 + 5 * 0.3) / 6)
    for given, message in (
        ({"systems": ["tody"]}, "did you mean today"), ({"queries": ["z"]}, "have no query 'z'"),
        ({"systems": "today"}, "give a list of names"), ({"queries": []}, "at least one name"),
        ({"systems": ["new", "new"]}, "each once"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=message):
            scores.select(**given)  # type: ignore[arg-type]
