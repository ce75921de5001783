"""The JSON schema of trade-offs: made from the types, and all that a sweep's result holds is in it."""

from __future__ import annotations

import json

import pytest
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.errors import DataError


def test_a_sweep_holds_nothing_that_is_not_in_it(result: sf.TradeOffs) -> None:
    check_data(result.to_dict(), "tradeoffs")


def test_what_may_be_absent_is_not_needed_by_the_page(result: sf.TradeOffs) -> None:
    data = json.loads(result.to_json())
    for answer in data["answers"]:
        answer.pop("verdict", None)
    assert 'class="verdict"' not in sf.TradeOffs.from_dict(data).to_html()


def test_another_type_is_refused_by_its_place(result: sf.TradeOffs) -> None:
    data = json.loads(result.to_json())
    data["rows"][1]["test"]["risk"] = "little"
    with pytest.raises(DataError, match=r"rows\[1\]\.test\.risk is 'little'; expected a number"):
        sf.TradeOffs.from_dict(data)
