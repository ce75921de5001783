"""Score matrices: in, out, and wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import surefoot as sf

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
        ("topic,a,b\n1,0.5,\n", "line 2: the score of system 'b' on query '1' is missing"),
        ("topic,a,b\n1,0.5,0.1\n2,0.3\n", "line 3: the score of system 'b' on query '2' is missing"),
        ("topic,a,b\n1,0.5,high\n", "line 2: the score of system 'b' on query '1' is 'high', not a finite number"),
        ("topic,a,b\n1,0.5,nan\n", "is 'nan', not a finite number"),
        ("topic,a,b\n1,0.5,inf\n", "is 'inf', not a finite number"),
        ("topic,a,a\n1,0.5,0.1\n", "line 1: two columns are named 'a'"),
        ("topic,a\n1,0.5\n1,0.6\n", "line 3: query '1' stands twice"),
        ("topic,a\n,0.5\n", "line 2: the query is missing"),
        ("topic\n1\n", "at least one column a system"),
        ("topic,a\n", "found 2 columns and 0 rows"),
        ("", "the file is empty"),
        ("topic,a\n1,0.5,0.7\n", "cannot be read as a table"),
    ],
)
def test_bad_matrices(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(sf.DataError) as caught:
        sf.read_scores(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_not_utf8_and_false_parquet(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes("topic,café\n1,0.5\n".encode("latin-1"))
    with pytest.raises(sf.DataError, match="line 1: not UTF-8"):
        sf.read_scores(path)
    path = tmp_path / "bad.parquet"
    path.write_text("no")
    with pytest.raises(sf.DataError, match="not a Parquet file"):
        sf.read_scores(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]], ["a"], ["q", "r"]), "have shape"),
        (([[1.0], [2.0]], ["a", "a"], ["q"]), "two system columns are named 'a'"),
        (([[1.0, 2.0]], ["a"], ["q", "q"]), "two query columns are named 'q'"),
        (([[float("nan")]], ["a"], ["q"]), "must be finite"),
        ((np.empty((0, 0)), [], []), "at least one system"),
    ],
)
def test_bad_arguments(arguments, message: str) -> None:
    with pytest.raises(sf.ArgumentError, match=message):
        sf.Scores(*arguments)


def test_an_unknown_system_is_told_with_the_known_ones() -> None:
    scores = sf.Scores([[1.0], [2.0]], ["today", "new"], ["q"])
    with pytest.raises(
        sf.ArgumentError, match=r"no system is named 'toady'. Did you mean 'today'\? The systems are: today, new"
    ):
        scores["toady"]


def test_geometric_mean_has_a_floor() -> None:
    scores = sf.Scores([[0.0, 1.0], [0.25, 1.0]], ["a", "b"], ["q", "r"])
    np.testing.assert_allclose(scores.geometric_mean(), [np.sqrt(1e-5), 0.5])
