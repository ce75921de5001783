"""Preference pairs: the file they come in, and what is wrong with one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf

HEADER = "pair,list,rank,score,grade,preferred\n"


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.csv.gz"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    pairs = sf.PreferencePairs.of([([0.9, 0.5], [2, 0], [0.7], [1], "A"), ([0.4], [0], [0.3, 0.1], [1, 3], "B")])
    pairs.write(tmp_path / name)
    back = sf.read_preferences(tmp_path / name)
    np.testing.assert_array_equal(back.scores, pairs.scores)
    np.testing.assert_array_equal(back.grades, pairs.grades)
    np.testing.assert_array_equal(back.preferred, [0, 1])
    assert back.names == ("1", "2")
    assert len(back) == 2


def test_columns_in_any_order_and_lines_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "preferred,pair,list,score,rank,grade,note\nB,x,B,0.2,2,1,\n\nB,x,A,0.9,1,0,hm\nB,x,B,0.8,1,3,\n"
    )
    pairs = sf.read_preferences(tmp_path / "p.csv")
    assert pairs.scores[0, 1].tolist() == [0.8, 0.2]
    assert pairs.grades[0, 1].tolist() == [3, 1]
    assert pairs.scores[0, 0].tolist() == [0.9, -np.inf]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pair,list\n", "line 1: no column 'rank', 'score', 'grade', 'preferred'"),
        (HEADER, "holds no pairs"),
        (HEADER + "1,A,1,0.5\n", "line 2: expected 6 columns, found 4"),
        (HEADER + "1,C,1,0.5,1,A\n", "line 2: list is 'C'; it must be A or B"),
        (HEADER + "1,A,1,0.5,1,both\n", "line 2: preferred is 'both'"),
        (HEADER + "1,A,1,0.5,1,A\n1,B,1,0.5,1,B\n", "line 3: pair '1' prefers B here and A above"),
        (HEADER + "1,A,one,0.5,1,A\n", "line 2: the rank is 'one', not a whole number from 1"),
        (HEADER + "1,A,0,0.5,1,A\n", "line 2: the rank is '0'"),
        (HEADER + "1,A,1,nan,1,A\n", "line 2: the score is 'nan', not a finite number"),
        (HEADER + "1,A,1,0.5,,A\n", "line 2: the grade is ''"),
        (HEADER + "1,A,1,0.5,1,A\n1,A,1,0.4,1,A\n", "line 3: rank 1 of list A of pair '1' stands twice"),
        (HEADER + "1,A,1,0.5,1,A\n", "list B of pair '1' has the ranks []"),
        (HEADER + "1,A,2,0.5,1,A\n1,B,1,0.5,1,A\n", "list A of pair '1' has the ranks [2]"),
        (HEADER + "1,A,1,0.5,1,A\n1,A,2,0.6,1,A\n1,B,1,0.5,1,A\n", "a score rises with the rank"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(text)
    with pytest.raises(sf.DataError) as caught:
        sf.read_preferences(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_bad_arrays() -> None:
    one = np.ones((1, 2, 1))
    with pytest.raises(sf.ArgumentError, match="expected \\(pairs, 2, ranks\\)"):
        sf.PreferencePairs(one[0], one, np.array([0]))
    with pytest.raises(sf.ArgumentError, match="preferred must be 0"):
        sf.PreferencePairs(one, one, np.array([2]))
    with pytest.raises(sf.ArgumentError, match="not finite"):
        sf.PreferencePairs(one * np.nan, one, np.array([0]))
    with pytest.raises(sf.ArgumentError, match="a score rises with the rank"):
        sf.PreferencePairs.of([([0.5, 0.6], [1, 1], [0.5], [1], "A")])
    with pytest.raises(sf.ArgumentError, match="a list is empty"):
        sf.PreferencePairs.of([([], [], [0.5], [1], "A")])
    with pytest.raises(sf.ArgumentError, match="preferred is 'C'"):
        sf.PreferencePairs.of([([0.5], [1], [0.5], [1], "C")])
    with pytest.raises(sf.ArgumentError, match="no preference pairs"):
        sf.PreferencePairs.of([])
