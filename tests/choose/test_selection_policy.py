"""Policies choose on validation data; what they choose can be copied; tables hold what they should."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.choose.choice import copy_model, select
from surefoot.choose.options import PLAIN_MODELS, RANKINGS
from surefoot.choose.recommendation import pooled
from surefoot.choose.selection_policy import SelectionPolicy
from surefoot.choose.store import SweepStore
from surefoot.errors import ArgumentError, DataError


def models(result: sf.TradeOffs) -> list[Any]:
    return [row for row in result.rows if row["kind"] in PLAIN_MODELS]


def on(row: Any, fold: str) -> Any:
    return row["folds"][fold]["valid"]


@pytest.mark.heavy
def test_most_gain_with_little_risk_on_each_fold(result: sf.TradeOffs) -> None:
    level = 0.5
    choice = select(result, SelectionPolicy("max_risk", level))
    assert list(choice.chosen) == ["Fold1", "Fold2", "Fold3"]
    for fold, row in choice.chosen.items():
        fit = [one for one in models(result) if on(one, fold)["risk"] <= level]
        assert on(row, fold)["gain"] == max(on(one, fold)["gain"] for one in fit)
        assert choice.n_satisfying[fold] == len(fit)
    assert choice.n_candidates == len(models(result))
    assert "risk of at most 0.5" in choice.words[0]
    assert [one["chosen"] for one in choice.to_dict()["folds"]] == [row["name"] for row in choice.chosen.values()]


def test_choices_are_pooled_over_test_queries(result: sf.TradeOffs) -> None:
    gain = next(row for row in result.rows if row["name"] == "gain")
    alone = pooled(dict.fromkeys(result.to_dict()["folds"], gain))
    for key in ("mean", "gain", "reward", "risk", "wins", "losses", "loss_over_20"):
        assert alone[key] == pytest.approx(gain["test"][key], abs=1e-12), key
    choice = select(result, SelectionPolicy("max_risk", 1), ("mean of seeds",))
    each = [(row["folds"][fold]["test"]) for fold, row in choice.chosen.items()]
    assert choice.test["queries"] == sum(one["queries"] for one in each) == 48
    assert choice.test["risk"] == pytest.approx(sum(one["risk"] * one["queries"] for one in each) / 48)


def test_folds_count_by_their_queries() -> None:
    keys = ("mean", "gain", "reward", "risk", "wins", "losses", "ties", "loss_over_20")
    one, other = (
        {"folds": {fold: {"test": dict.fromkeys(keys, value) | {"queries": queries}}}}
        for fold, value, queries in (("a", 1.0, 30), ("b", 2.0, 10))
    )
    means = pooled({"a": one, "b": other})
    assert (means["risk"], means["mean"], means["wins"], means["queries"]) == (1.25, 1.25, 3.0, 40)


def test_least_risk_that_keeps_the_gain(result: sf.TradeOffs) -> None:
    choice = select(result, SelectionPolicy("keep_gain", 0.3))
    everything = select(result, SelectionPolicy("keep_gain", 0.3), RANKINGS)
    gain = next(row for row in result.rows if row["name"] == "gain")
    for fold, row in choice.chosen.items():
        fit = [one for one in models(result) if on(one, fold)["gain"] >= 0.3 * on(gain, fold)["gain"]]
        assert on(row, fold)["risk"] == min(on(one, fold)["risk"] for one in fit)
        assert on(everything.chosen[fold], fold)["risk"] <= on(row, fold)["risk"]


def test_largest_area_and_highest_geo_risk(result: sf.TradeOffs) -> None:
    area, geo = select(result, SelectionPolicy("largest_area")), select(result, SelectionPolicy("geo_risk", 5))
    for fold in area.chosen:
        assert on(area.chosen[fold], fold)["area"] == max(on(row, fold).get("area", 0) for row in models(result))
        best = max(on(row, fold)["geo_risk"]["5"] for row in models(result))
        assert on(geo.chosen[fold], fold)["geo_risk"]["5"] == best


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (("max_risk", 0.0), "Fold1: the least risk is"),
        (("geo_risk", 3), "the sweep has GeoRisk at α = 0, 1, 5"),
        (("max_risk", -1), "max_risk is -1"),
        (("max_risk", float("nan")), "max_risk is nan"),
        (("keep_gain", 1.5), "at most 1"),
        (("best", 1), "there is no policy 'best'"),
    ],
)
def test_policies_that_nothing_satisfies(result: sf.TradeOffs, policy: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        select(result, SelectionPolicy(*policy))


def test_the_chosen_model_is_copied(result: sf.TradeOffs, store: SweepStore, tmp_path: Path) -> None:
    choice = select(result, SelectionPolicy("max_risk", 1), ("model",))
    fold, name, seeds = copy_model(store, choice, tmp_path / "model")
    assert (fold, name, seeds) == ("Fold1", choice.chosen["Fold1"]["name"], "seed 0")
    test_data = store.source.load("Fold1").test
    ranker = sf.Ranker.load(tmp_path / "model")
    expected = sf.TradeOffs.read(store.folder).models(name)[0].predict(test_data.X)
    np.testing.assert_array_equal(ranker.predict(test_data.X), expected)
    assert copy_model(store, choice, tmp_path / "other", "Fold3")[0] == "Fold3"
    with pytest.raises(ArgumentError, match="there is no fold 'Fold9'"):
        copy_model(store, choice, tmp_path / "none", "Fold9")
    begun = SweepStore(store.folder, replace(store.plan, seeds=(0,)), store.source)
    with pytest.raises(DataError, match="started again"):
        copy_model(begun, choice, tmp_path / "none")
    with pytest.raises(ArgumentError, match="the sweep has no seed 7"):
        sf.TradeOffs.read(store.folder).models("gain", seed=7)
    with pytest.raises(ArgumentError, match="no model 'none' on every fold; it has gain"):
        sf.TradeOffs.read(store.folder).models("none")


def test_of_equal_risk_the_greater_gain_is_chosen() -> None:
    def row(name: str, risk: float, gain: float) -> Any:
        return {"name": name, "folds": {"a": {"valid": {"risk": risk, "gain": gain}}}}

    rows = [row("less", 0.02, 0.10), row("more", 0.02, 0.12), row("risky", 0.03, 0.2), row("idle", 0.0, 0.01)]
    chosen, count = SelectionPolicy("keep_gain", 0.5).choose(rows, row("gain", 0.05, 0.2), "a")
    assert (chosen["name"], count) == ("more", 3)
