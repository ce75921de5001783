"""Preference pairs: the file they come in, and what is wrong with one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data.files import check_refused, write_file

import surefoot as sf
from surefoot.data.types.preferences import PreferencePairs, read_preferences
from surefoot.errors import ArgumentError, DataError

HEADER = "pair,list,rank,score,grade,preferred\n"


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.csv.gz"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    pairs = PreferencePairs.of([([0.9, 0.5], [2, 0], [0.7], [1], "A"), ([0.4], [0], [0.3, 0.1], [1, 3], "B")])
    pairs.write(tmp_path / name)
    back = read_preferences(tmp_path / name)
    np.testing.assert_array_equal(back.scores, pairs.scores)
    np.testing.assert_array_equal(back.grades, pairs.grades)
    np.testing.assert_array_equal(back.preferred, [0, 1])
    assert back.names == ("1", "2")
    assert len(back) == 2


def test_columns_in_any_order_and_lines_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "preferred,pair,list,score,rank,grade,note\nB,x,B,0.2,2,1,\n\nB,x,A,0.9,1,0,hm\nB,x,B,0.8,1,3,\n"
    )
    pairs = read_preferences(tmp_path / "p.csv")
    assert pairs.scores[0, 1].tolist() == [0.8, 0.2]
    assert pairs.grades[0, 1].tolist() == [3, 1]
    assert pairs.scores[0, 0].tolist() == [0.9, -np.inf]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pair,list\n", "line 1: no column 'rank', 'score', 'grade', 'preferred'"),
        (HEADER, "contains no pairs"),
        (HEADER + "1,A,1,0.5\n", "line 2: expected 6 columns, found 4"),
        (HEADER + "1,C,1,0.5,1,A\n", "line 2: list is 'C'; it must be A or B"),
        (HEADER + "1,A,1,0.5,1,both\n", "line 2: preferred is 'both'"),
        (HEADER + "1,A,1,0.5,1,A\n1,B,1,0.5,1,B\n", "line 3: pair '1' prefers B here but A above"),
        (HEADER + "1,A,one,0.5,1,A\n", "line 2: the rank is 'one', not a whole number from 1"),
        (HEADER + "1,A,0,0.5,1,A\n", "line 2: the rank is '0'"),
        (HEADER + "1,A,1,nan,1,A\n", "line 2: the score is 'nan', not a finite number"),
        (HEADER + "1,A,1,0.5,,A\n", "line 2: the grade is ''"),
        (HEADER + "1,A,1,0.5,1,A\n1,A,1,0.4,1,A\n", "line 3: rank 1 of list A of pair '1' appears twice"),
        (HEADER + "1,A,1,0.5,1,A\n", "list B of pair '1' has the ranks []"),
        (HEADER + "1,A,2,0.5,1,A\n1,B,1,0.5,1,A\n", "list A of pair '1' has the ranks [2]"),
        (HEADER + "1,A,1,0.5,1,A\n1,A,2,0.6,1,A\n1,B,1,0.5,1,A\n", "a score rises with the rank"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    check_refused(read_preferences, write_file(tmp_path / "p.csv", text), message)


def test_bad_arrays() -> None:
    one = np.ones((1, 2, 1))
    with pytest.raises(ArgumentError, match="expected \\(pairs, 2, ranks\\)"):
        PreferencePairs(one[0], one, np.array([0]))
    with pytest.raises(ArgumentError, match="preferred must be 0"):
        PreferencePairs(one, one, np.array([2]))
    with pytest.raises(ArgumentError, match="not finite"):
        PreferencePairs(one * np.nan, one, np.array([0]))
    with pytest.raises(ArgumentError, match="a score rises with the rank"):
        PreferencePairs.of([([0.5, 0.6], [1, 1], [0.5], [1], "A")])
    with pytest.raises(ArgumentError, match="a list is empty"):
        PreferencePairs.of([([], [], [0.5], [1], "A")])
    with pytest.raises(ArgumentError, match="preferred is 'C'"):
        PreferencePairs.of([([0.5], [1], [0.5], [1], "C")])
    with pytest.raises(ArgumentError, match="no preference pairs"):
        PreferencePairs.of([])


@pytest.mark.parametrize("grade", [0.1 + 0.2, 1234567.0, 1e16, 1e-7, 2.0, 1 / 3])
def test_grades_are_written_to_the_last_digit(tmp_path: Path, grade: float) -> None:
    pairs = PreferencePairs.of([([0.9], [grade], [0.7], [1], "A")])
    pairs.write(tmp_path / "p.csv")
    assert read_preferences(tmp_path / "p.csv").grades[0, 0, 0] == grade


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{'x' * 200_000},A,1,0.5,1,A", "the ranks"),
        (f'"{"x" * 200_000}",A,1,0.5,1,A', "line 2: a column is too long"),
        (f"1,A,{'9' * 5000},0.5,1,A", "line 2: the rank is"),
        ("1,A,1_0,0.5,1,A", "line 2: the rank is '1_0'"),
        ("1,A,١,0.5,1,A", "line 2: the rank is '١'"),
        ("1,A,1e99,0.5,1,A", "line 2: the rank is '1e99'"),
        ("1,A,1,0_5,1,A", "line 2: the score is '0_5'"),
        ("1,A,1,٣,1,A", "line 2: the score is '٣'"),
        (f"1,A,1,0.5,{'1' * 400},A", "line 2: the grade is"),
        ("1,A,1,0.5,1,A\0", "line 2: found a NUL byte"),
        (f"1,{'A' * 1_000_000},1,0.5,1,A", "line 2: list is"),
        (",A,1,0.5,1,A", "line 2: the pair is missing"),
        ("1,A,1,0.5,1,A\r1,B,1,0.5,1,A", "line 2: the line contains a carriage return"),
        ('1,A,1,0.5,1,"A', "line 2: a quotation mark is not closed"),
    ],
)
def test_odd_and_huge_fields(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(HEADER + line + "\n", encoding="utf-8", newline="")
    with pytest.raises(DataError) as caught:
        read_preferences(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_column_that_stands_twice(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("pair,list,rank,score,grade,preferred,grade\n1,A,1,1,1,A,2\n")
    with pytest.raises(DataError, match="line 1: two columns are named 'grade'"):
        read_preferences(tmp_path / "p.csv")


def test_one_long_list_among_short_ones(tmp_path: Path) -> None:
    rows = [f"long,A,{rank},1,1,A" for rank in range(1, 20_001)] + ["long,B,1,1,1,A"]
    rows += [f"p{pair},{which},1,1,1,A" for pair in range(10_000) for which in "AB"]
    (tmp_path / "p.csv").write_text(HEADER + "\n".join(rows))
    with pytest.raises(DataError, match=r"p\.csv: the longest list has 20,000 results"):
        read_preferences(tmp_path / "p.csv")


@pytest.mark.parametrize("names", [("a", "a"), ("a",), ("a", " b"), ("a", ""), ("a", "b\0")])
def test_names_that_would_not_read_back(tmp_path: Path, names: tuple[str, ...]) -> None:
    one = np.ones((2, 2, 1))
    with pytest.raises(sf.SurefootError):
        PreferencePairs(one, one, np.array([0, 1]), names).write(tmp_path / "p.csv")
    assert not list(tmp_path.iterdir())
