"""Strategies of every setting; what mixtures of two models are expected to do; how sure points are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.choose.candidate_figures import (
    candidate_row,
    candidate_rows,
    hull_mixtures,
    mean_intervals,
    mixed_figures,
    resampled_means,
)
from surefoot.choose.candidates import TrainedModels, mixture, selective
from surefoot.choose.store import SweepStore


def test_a_query_at_the_threshold_is_re_ranked() -> None:
    data = SimpleNamespace(lengths=np.array([1, 2, 1]), baselines=[np.zeros(4)])
    trained: Any = SimpleNamespace(
        folds=["a"], parts={"a": {"test": data}}, aggregate=lambda *_: np.array([1.0, 2.0, 3.0]),
        threshold=lambda *_: 2.0,
    )  # fmt: skip
    (chosen,) = selective(trained, {"test": [np.arange(1.0, 5.0)]}, 0.5)["test"]
    assert chosen.tolist() == [1, 2, 3, 0]


def test_every_setting_has_its_mean_and_the_gain_only_model_its_blends(result: sf.TradeOffs) -> None:
    kinds: dict[str, list[str]] = {}
    for row in result.rows:
        kinds.setdefault(row["kind"], []).append(row["name"])
    assert kinds["mean of seeds"] == [f"{name}, mean of 2 seeds" for name in kinds["model"]]
    assert len(kinds["blended"]) == len(kinds["selective"]) == 9
    assert all(name.startswith("gain ") for name in kinds["blended"] + kinds["selective"] + kinds["random"])


def test_on_demand_everything_is_made_of_every_setting(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    names = {row["name"]: row for row in crossed[0].rows}
    for setting in ("gain", "u_risk α=1", "u_risk α=5"):
        for tenths in (5, 7, 9):
            blend = names[f"{setting}, mean of 2 seeds, blended w=0.{tenths}"]
            assert blend["made_of"] == {"setting": setting, "seeds": [0, 1], "weight": tenths / 10}
            chosen = names[f"{setting}, mean of 2 seeds, selective {tenths}0%"]
            assert list(chosen["made_of"]["thresholds"]) == ["Fold1", "Fold2", "Fold3"]
    assert names["gain blended w=0.1"]["made_of"]["seeds"] == [0]
    assert "made_of" not in names["gain random p=0.5"]


def test_figures_of_the_first_seed_are_those_of_its_model(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    result, store = crossed
    row = next(row for row in result.rows if row["name"] == "u_risk α=5")
    for fold, ranker in zip(store.source.names(), sf.TradeOffs.read(store.folder).models("u_risk α=5"), strict=True):
        test = store.source.load(fold).test
        mean = sf.score(test.qrels(), [ranker.to_run(test)], store.plan.measure).values[0].mean()
        assert row["folds"][fold]["first_seed"]["mean"] == pytest.approx(mean, abs=1e-12)
    alone = next(row for row in result.rows if row["kind"] == "mean of seeds")
    assert "first_seed" not in alone["folds"]["Fold1"]


def test_a_mixture_of_two_models_is_expected_to_do_what_both_do(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    candidates = TrainedModels(crossed[1])
    gain, u_risk = [one for one in candidates.models() if one.name in ("gain", "u_risk α=5")]
    mixed = mixture(gain, u_risk)
    assert mixed.name == "gain or u_risk α=5, by chance"
    baseline = candidates.baseline_values("test")[0, 0]
    differences = [one.values["test"][:, 0] - baseline for one in (gain, u_risk)]
    coins = np.random.default_rng(0).random((4000, len(baseline))) < 0.5
    drawn = np.where(coins, differences[0][0], differences[1][0])
    first = mixture(*(_first_seed(one) for one in (gain, u_risk)))
    assert first.losses("test", baseline).mean() == pytest.approx(np.maximum(-drawn, 0).mean(), abs=2e-3)
    assert first.gains("test", baseline).mean() == pytest.approx(drawn.mean(), abs=2e-3)
    assert mixed.losses("test", baseline).mean() == pytest.approx(
        np.mean([np.maximum(-one, 0).mean() for one in differences])
    )


def test_a_mixture_has_a_row_like_others(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    candidates, rows = TrainedModels(crossed[1]), {row["name"]: row for row in crossed[0].rows}
    mixed = mixture(*[one for one in candidates.models() if one.name in ("gain", "u_risk α=5")])
    row = candidate_row(candidates, mixed)
    assert row["kind"] == "mixture"
    for part in ("valid", "test", "cross_validation"):
        for key in ("mean", "gain", "risk", "wins", "loss_over_20"):
            both = [rows[name]["folds"]["Fold2"][part][key] for name in ("gain", "u_risk α=5")]
            assert row["folds"]["Fold2"][part][key] == pytest.approx(np.mean(both)), key
    assert row["test"]["measures"].keys() == rows["gain"]["test"]["measures"].keys()
    assert not {"bins", "share_reranked"} & row["test"].keys()
    assert set(row["test"]["geo_risk"].values()) == {None}


def _first_seed(candidate: Any) -> Any:
    from dataclasses import replace

    return replace(candidate, values={part: values[:1] for part, values in candidate.values.items()})


def test_neighbours_on_the_hull_are_mixed(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    candidates = TrainedModels(crossed[1])
    models = list(candidates.models())
    points = {"gain": (0.04, 0.08), "u_risk α=1": (0.03, 0.07), "u_risk α=5": (0.02, 0.01)}
    rows = [{"valid": dict(zip(("risk", "gain"), points[one.name], strict=True))} for one in models]
    assert [one.name for one in hull_mixtures(models, rows)] == ["u_risk α=1 or gain, by chance"]


def test_mixed_figures_are_means_but_for_what_is_not_linear() -> None:
    one = {
        "risk": 0.1, "reward": 0.3, "queries": 4, "worst_mean": -1.0, "geo_risk": {"5": 0.1}, "u_risk": {"5": -0.2},
        "reward_over_risk": 3.0, "share_reranked": 1.0, "bins": {"share": [1.0]},
    }  # fmt: skip
    other = one | {"risk": 0.3, "reward": 0.3, "u_risk": {"5": -1.2}}
    assert mixed_figures(one, other, 0.5) == {
        "risk": 0.2, "reward": 0.3, "queries": 4, "worst_mean": None, "geo_risk": {"5": None},
        "u_risk": {"5": pytest.approx(-0.7)}, "reward_over_risk": pytest.approx(1.5),
    }  # fmt: skip


def test_intervals_are_those_of_a_loop_over_resamples(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    result, store = crossed
    rows = {row["name"]: row for row in result.rows}
    candidates = TrainedModels(store)
    gain = next(candidates.models())
    baseline = candidates.baseline_values("test")[0, 0]
    losses = np.maximum(baseline - gain.values["test"][:, 0], 0).mean(axis=0)
    rng = np.random.default_rng(7)
    means = [losses[rng.integers(0, len(losses), len(losses))].mean() for _ in range(3000)]
    low, high = rows["gain"]["test"]["interval"]["risk"]
    expected = np.quantile(means, [0.025, 0.975])
    assert (low, high) == pytest.approx(tuple(expected), abs=0.15 * (expected[1] - expected[0]))
    assert low <= rows["gain"]["test"]["risk"] <= high
    again = {row["name"]: row for row in candidate_rows(candidates, "all")}
    assert again["gain"]["test"]["interval"] == rows["gain"]["test"]["interval"]  # seeded


def test_resampled_means_resample_the_same_queries_for_all_columns() -> None:
    column = np.arange(10.0)
    draws = resampled_means([column, 2 * column])
    np.testing.assert_allclose(draws[1], 2 * draws[0])
    assert mean_intervals([np.ones(5), np.zeros(5)]) == [[1.0, 1.0], [0.0, 0.0]]
