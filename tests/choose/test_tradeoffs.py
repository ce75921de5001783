"""A sweep's result: what it holds, reads back and refuses, and how tables, pages and notebooks show it."""

from __future__ import annotations

import copy
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.report.notebooks import HOSTILE, SHOWN, checked, told
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.choose.tradeoffs import TradeOffs
from surefoot.errors import ArgumentError, DataError


def test_every_answer_says_whether_it_holds(result: sf.TradeOffs) -> None:
    answers = result.to_dict()["answers"]
    assert [answer["about"] for answer in answers] == ["reduction", "convergence", "distance", "both"]
    assert {answer["holds"] for answer in answers} <= {"yes", "in part", "no"}


def test_a_sweep_holds_nothing_that_is_not_in_it(result: sf.TradeOffs) -> None:
    check_data(result.to_dict(), "tradeoffs")


def test_another_type_is_refused_by_its_place(result: sf.TradeOffs) -> None:
    data = json.loads(result.to_json())
    data["rows"][1]["test"]["risk"] = "little"
    with pytest.raises(DataError, match=r"rows\[1\]\.test\.risk is 'little'; expected a number"):
        sf.TradeOffs.from_dict(data)


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


def test_plain_data_there_and_back(result: sf.TradeOffs, swept: Any, tmp_path: Path) -> None:
    result.write(tmp_path / "r.json")
    again = TradeOffs.read(tmp_path / "r.json")
    assert again.to_dict() == sf.TradeOffs.read(swept[1]).to_dict()
    assert again.to_text() == result.to_text()
    for wrong in ("[]", "{}", '{"schema": "surefoot/sweep/1"}'):
        (tmp_path / "r.json").write_text(wrong)
        with pytest.raises(DataError):
            TradeOffs.read(tmp_path / "r.json")


def test_tables_have_every_candidate(result: sf.TradeOffs) -> None:
    lines = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(lines) == 2 * len(result.rows)
    for line in lines:
        row = next(row for row in result.rows if row["name"] == line["candidate"])
        assert float(line["risk"]) == row[line["part"]]["risk"]
        assert float(line["u_risk@5"]) == row[line["part"]]["u_risk"]["5"]
    for text in (result.to_markdown(), result.to_text(), result.to_latex()):
        assert all(f"blended w=0.{tenth}" in text for tenth in range(1, 10))
    assert r"u\_risk $\alpha$=5" in result.to_latex()
    text = result.to_text()
    for question in (
        "Are risk-sensitive models better",
        "Do models with a larger α learn faster?",
        "keep more rankings near",
        "less risk",
    ):
        assert question in text
    assert "tuned for gain alone" in text


def test_the_page_holds_no_html_of_names(result: sf.TradeOffs) -> None:
    data = result.to_dict()
    data["baselines"] = [{**data["baselines"][0], "name": "<img src=x onerror=alert(1)>"}, *data["baselines"][1:]]
    page = TradeOffs(data).to_html()
    assert "<img src=x" not in page
    assert page.count("</script>") == 2


def test_a_result_selects_and_saves(crossed: Any, tmp_path: Path) -> None:
    result = sf.TradeOffs.read(crossed[1].folder)
    choice = result.select(keep_gain=0.5, nearest=True)
    assert choice.to_dict()["policy"]["name"] == "keep_gain"
    choice.save(tmp_path / "model")
    assert type(sf.load(tmp_path / "model")) is sf.Ranker
    for given in ({}, {"keep_gain": 0.9, "max_risk": 0.1}):
        with pytest.raises(ArgumentError, match="give one policy"):
            result.select(**given)
    result.write(tmp_path / "result.json")
    figures = sf.TradeOffs.read(tmp_path / "result.json")
    with pytest.raises(ArgumentError, match="figures without models"):
        figures.models("gain")
    with pytest.raises(ArgumentError, match="made of figures alone"):
        figures.select(keep_gain=0.5, nearest=True).save(tmp_path / "other")
