"""What a notebook shows of a sweep."""

from __future__ import annotations

import copy

from tests.report.notebooks import HOSTILE, SHOWN, checked, told

import surefoot as sf


def test_a_sweep_in_a_notebook(result: sf.TradeOffs) -> None:
    root = checked(result._repr_html_())
    assert len(root.find(".//tbody")) == 15
    looks = [row.get("data-look") for row in root.find(".//tbody")]
    assert looks == ["baseline"] * 2 + [None] * 13
    words = told(result._repr_html_())
    assert result.to_dict()["answers"][0]["answer"] in words
    assert f"… {len(result.rows) + 2 - 15} more candidates" in words


def test_hostile_names_of_a_sweep(result: sf.TradeOffs) -> None:
    data = copy.deepcopy(result.to_dict())
    data["baselines"][0]["name"] = data["rows"][0]["name"] = data["answers"][0]["answer"] = HOSTILE
    assert told(sf.TradeOffs(data)._repr_html_()).count(SHOWN) >= 4
