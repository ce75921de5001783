"""Numbers and lists in one text, as options of the command line hold them."""

from __future__ import annotations

import pytest

from surefoot.arguments import comma_separated, parse_integers, parse_numbers
from surefoot.errors import ArgumentError


def test_parts_with_commas_between() -> None:
    assert comma_separated(" a, b c ,,\td,") == ["a", "b c", "d"]
    assert comma_separated(" , ") == []


def test_numbers_with_commas_between() -> None:
    assert parse_numbers("0, 1.5,-2e1,", "--alpha") == [0.0, 1.5, -20.0]
    assert parse_integers("3,1", "--seeds") == [3, 1]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("", "''"), (",", "','"), ("1,x", "'x'"), ("nan", "'nan'"), ("1,inf", "'inf'"), ("1_0", "'1_0'"), ("٣", "'٣'")],
)
def test_what_is_no_number(text: str, wrong: str) -> None:
    with pytest.raises(ArgumentError, match=f"^--sizes is {wrong}; write numbers separated by commas, such as 5,9$"):
        parse_numbers(text, "--sizes", example="5,9")
    with pytest.raises(ArgumentError, match=f"^--seeds is {wrong}; "):
        parse_integers(text, "--seeds")


def test_a_fraction_is_no_whole_number() -> None:
    with pytest.raises(ArgumentError, match=r"^--seeds is 1\.5; write whole numbers separated by commas"):
        parse_integers("1,1.5", "--seeds")
