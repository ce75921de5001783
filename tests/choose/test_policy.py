"""Policies choose on validation data; what they choose can be copied; tables hold what they should."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.choose.policy import Policy, copy_model, select
from surefoot.choose.store import Store
from surefoot.choose.tradeoffs import TradeOffs

MODELS = ("model",)


def models(result: sf.TradeOffs) -> list[Any]:
    return [row for row in result.rows if row["kind"] == "model"]


def test_most_gain_with_little_risk(result: sf.TradeOffs) -> None:
    level = float(np.median([row["valid"]["risk"] for row in models(result)]))
    choice = select(result, Policy("max_risk", level))
    fit = [row for row in models(result) if row["valid"]["risk"] <= level]
    assert choice.row["valid"]["gain"] == max(row["valid"]["gain"] for row in fit)
    assert (choice.satisfied, choice.among) == (len(fit), len(models(result)))
    assert f"at most {level:g}" in choice.words[0]
    assert choice.to_dict()["chosen"]["name"] == choice.name


def test_least_risk_that_keeps_the_gain(result: sf.TradeOffs) -> None:
    choice = select(result, Policy("keep_gain", 0.5))
    wanted = 0.5 * next(row for row in result.rows if row["name"] == "gain")["valid"]["gain"]
    fit = [row for row in models(result) if row["valid"]["gain"] >= wanted]
    assert choice.row["valid"]["risk"] == min(row["valid"]["risk"] for row in fit)
    everything = select(result, Policy("keep_gain", 0.5), ("model", "blended", "selective", "mean of seeds"))
    assert everything.row["valid"]["risk"] <= choice.row["valid"]["risk"]


def test_largest_area_and_highest_geo_risk(result: sf.TradeOffs) -> None:
    area = select(result, Policy("largest_area"))
    assert area.row["valid"]["area"] == max(row["valid"].get("area", 0) for row in models(result))
    geo = select(result, Policy("geo_risk", 5))
    assert geo.row["valid"]["geo_risk"]["5"] == max(row["valid"]["geo_risk"]["5"] for row in models(result))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (("max_risk", 0.0), "the least risk is"),
        (("geo_risk", 3), "the sweep has GeoRisk at α = 0, 1, 5"),
        (("max_risk", -1), "max_risk is -1"),
        (("max_risk", float("nan")), "max_risk is nan"),
        (("keep_gain", 1.5), "at most 1"),
        (("best", 1), "there is no policy 'best'"),
    ],
)
def test_policies_that_nothing_satisfies(result: sf.TradeOffs, policy: Any, message: str) -> None:
    with pytest.raises(sf.ArgumentError, match=message):
        select(result, Policy(*policy))


def test_the_chosen_model_is_copied(result: sf.TradeOffs, store: Store, tmp_path: Path) -> None:
    choice = select(result, Policy("keep_gain", 0.5))
    fold, seed = copy_model(store, choice, tmp_path / "model")
    assert (fold, seed) == ("Fold1", 0)
    held = store.source.load("Fold1").test
    ranker = sf.Ranker.load(tmp_path / "model")
    assert ranker.predict(held).shape == (len(held),)
    assert copy_model(store, choice, tmp_path / "other", "Fold3")[0] == "Fold3"
    with pytest.raises(sf.ArgumentError, match="there is no fold 'Fold9'"):
        copy_model(store, choice, tmp_path / "none", "Fold9")


def test_plain_data_there_and_back(result: sf.TradeOffs, swept: Any, tmp_path: Path) -> None:
    result.write_json(tmp_path / "r.json")
    again = TradeOffs.read(tmp_path / "r.json")
    assert again.to_dict() == sf.read_sweep(swept[1]).to_dict()
    assert again.to_text() == result.to_text()
    for wrong in ("[]", "{}", '{"schema": "surefoot/sweep/1"}'):
        (tmp_path / "r.json").write_text(wrong)
        with pytest.raises(sf.DataError):
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
    said = result.to_text()
    for question in (
        "Do risk-sensitive models beat",
        "Do larger α converge faster?",
        "keep more rankings near",
        "less risk",
    ):
        assert question in said
    assert "tuned for gain alone" in said


def test_the_page_holds_no_html_of_names(result: sf.TradeOffs) -> None:
    data = result.to_dict()
    data["baselines"] = [{**data["baselines"][0], "name": "<img src=x onerror=alert(1)>"}, *data["baselines"][1:]]
    page = TradeOffs(data).to_html()
    assert "<img src=x" not in page
    assert page.count("</script>") == 2
