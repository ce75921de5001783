"""Hints in messages, and arguments that are not what they should be."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.arguments import integer
from surefoot.errors import ArgumentError, did_you_mean, name_list, shortened


@pytest.mark.parametrize("written", ["urisk", "U_Risk", "u-risk", "U-RISK"])
def test_the_name_that_was_meant(written: str) -> None:
    assert did_you_mean(written, ("gain", "u_risk", "saro", "faro", "geo_risk")) == "; did you mean u_risk?"


@pytest.mark.parametrize("written", ["", "x", "beauty", None, 3, "u_risk" * 1000])
def test_no_name_is_near(written: object) -> None:
    assert did_you_mean(written, ("gain", "u_risk")) == ""


def test_long_lists_say_how_many_more() -> None:
    names = [f"s{i}" for i in range(49)]
    assert name_list(names).endswith("s10, s11 and 37 more")
    assert name_list(names[:2]) == "s0, s1"
    assert name_list(names, 2, shortened) == "'s0', 's1' and 47 more"
    assert name_list([f"a\u00a0{name}" for name in names], 1, str) == "a\u00a0s0 and 48 more"
    assert name_list(names * 100, 1) == "s0 and 4,899 more"
    assert name_list([]) == ""


@pytest.mark.parametrize("given", [True, np.True_, 1.0, "1", None])
def test_what_is_no_whole_number(given: object) -> None:
    with pytest.raises(ArgumentError, match="it must be a whole number of at least 0"):
        integer("seed", given, 0)
