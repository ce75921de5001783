"""Strategies and figures against slow, obvious loops; invariants of the plane."""

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
    training_point,
)
from surefoot.choose.candidates import TrainedModels, mixture, selective
from surefoot.choose.store import SweepStore
from surefoot.choose.trainings import SweepTrainings


@pytest.fixture(scope="module")
def rows(result: sf.TradeOffs) -> dict[str, Any]:
    return {row["name"]: row for row in result.rows}


def gain_scores(store: SweepStore, fold: Any, seed: int) -> np.ndarray:
    jobs = SweepTrainings(store).ready_jobs(fold.name)
    job = next(job for job in jobs if (job.setting.name, job.seed) == ("gain", seed))
    return sf.Ranker.load(store.result_path(job)).predict(fold.test)


def measured(store: SweepStore, scored: Any) -> float:
    """The mean measure over all folds and seeds of the documents' scores that `scored` gives."""
    means = []
    for seed in (0, 1):
        values = []
        for name in store.source.names():
            fold = store.source.load(name)
            run = fold.test.to_run(scored(fold, gain_scores(store, fold, seed)), "x")
            values.extend(sf.score(fold.test.qrels(), [run], store.plan.measure).values[0])
        means.append(np.mean(values))
    return float(np.mean(means))


@pytest.mark.heavy
def test_blends_are_of_standardised_scores(store: SweepStore, rows: dict[str, Any]) -> None:
    def blended(fold: Any, scores: np.ndarray) -> list[float]:
        values = []
        for start, end in zip(fold.test.offsets[:-1], fold.test.offsets[1:], strict=True):
            mine, base = scores[start:end], fold.test.baselines["today"][start:end]
            z = [(x - x.mean()) / x.std() if x.std() > 0 else x * 0 for x in (base, mine)]
            values.extend(0.7 * z[0] + 0.3 * z[1])
        return values

    assert rows["gain blended w=0.3"]["test"]["mean"] == pytest.approx(measured(store, blended), abs=1e-9)


def test_selective_uses_the_model_below_a_quantile_of_validation_queries(
    store: SweepStore, rows: dict[str, Any]
) -> None:
    def selected(fold: Any, scores: np.ndarray) -> np.ndarray:
        def mean(data: sf.RankingData) -> np.ndarray:
            return np.array([data.X[a:b, 0].mean() for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)])

        threshold = np.quantile(mean(fold.valid), 0.4)
        low = np.repeat(mean(fold.test) <= threshold, fold.test.lengths)
        return np.where(low, scores, fold.test.baselines["today"])

    row = rows["gain selective 40%"]
    assert row["test"]["mean"] == pytest.approx(measured(store, selected), abs=1e-9)
    assert 0 < row["test"]["share_reranked"] < rows["gain"]["test"]["share_reranked"]


def test_the_mean_of_seeds_is_one_ranking(store: SweepStore, rows: dict[str, Any]) -> None:
    values = []
    for name in store.source.names():
        fold = store.source.load(name)
        mean = (gain_scores(store, fold, 0) + gain_scores(store, fold, 1)) / 2
        values.extend(sf.score(fold.test.qrels(), [fold.test.to_run(mean, "x")], store.plan.measure).values[0])
    row = rows["gain, mean of 2 seeds"]
    assert row["seeds"] == 1
    assert row["test"]["mean"] == pytest.approx(np.mean(values), abs=1e-12)


def test_mixtures_lie_on_the_line_to_the_model(rows: dict[str, Any]) -> None:
    full = rows["gain"]["test"]
    for chance in (0.25, 0.5, 0.75):
        mixed = rows[f"gain random p={chance:g}"]["test"]
        for key in ("gain", "risk", "reward", "wins", "losses", "loss_over_20"):
            assert mixed[key] == pytest.approx(chance * full[key], abs=1e-12), key


def test_the_selective_curve_ends_at_the_model(result: sf.TradeOffs, rows: dict[str, Any]) -> None:
    for part in ("valid", "test"):
        last = result.to_dict()["curves"][part]["selective"][-1]
        assert (last["risk"], last["gain"]) == pytest.approx((rows["gain"][part]["risk"], rows["gain"][part]["gain"]))
        assert last["share"] == 1


def test_curves_and_hull(result: sf.TradeOffs, rows: dict[str, Any]) -> None:
    curves = result.to_dict()["curves"]["test"]
    line = curves["lines"]["u_risk"]
    assert tuple(line[0]) == (rows["gain"]["test"]["risk"], rows["gain"]["test"]["gain"])
    assert tuple(line[-1]) == (0, 0)
    assert len(line) == 4
    most = max(row["test"]["gain"] for row in result.rows if row["kind"] == "model")
    assert curves["hull"][-1][1] == pytest.approx(most)
    for name in curves["undominated"]:
        own = rows[name]["test"]
        assert not any(
            row["test"]["risk"] < own["risk"] and row["test"]["gain"] > own["gain"]
            for row in result.rows
            if row["kind"] != "random"
        )


def test_convergence_and_the_last_alpha(result: sf.TradeOffs, store: SweepStore, rows: dict[str, Any]) -> None:
    reached, risks, gains = [], [], []
    candidates = TrainedModels(store)
    gain = candidates.settings[0]
    for jobs in candidates.jobs(gain):
        for job in jobs:
            history = sf.Ranker.load(store.result_path(job)).history_["train"]
            curve = history["effectiveness"]
            reached.append(min(i for i in range(1, len(curve) + 1) if curve[i - 1] >= 0.95 * curve[-1]))
            risks.append(history["risk"][-1])
            gains.append(history["reward"][-1] - history["risk"][-1])
    assert rows["gain"]["convergence"]["trees"] == np.mean(reached)
    assert tuple(training_point(candidates, gain)) == pytest.approx((np.mean(risks), np.mean(gains)))
    assert result.to_dict()["last_alpha"] == pytest.approx(np.mean(gains) / np.mean(risks))


def test_significance_is_a_paired_test_after_holm(result: sf.TradeOffs, rows: dict[str, Any]) -> None:
    data = result.to_dict()
    today = data["baselines"][0]["per_query"]
    # A mixture by a coin has no test: its scores are expected ones.
    p = [None if row["kind"] == "random" else sf.t_test(row["per_query"], today).p_robust for row in result.rows]
    for row, expected in zip(result.rows, sf.risk.holm(p), strict=True):
        assert row["test"]["p_baseline"] == (None if expected is None else pytest.approx(expected, rel=1e-3))
    assert rows["gain"]["test"]["p_gain"] is None or rows["gain"]["test"]["p_gain"] == 1


def test_a_coin_has_no_geo_risk_nor_p(result: sf.TradeOffs) -> None:
    random_rows = [row for row in result.rows if row["kind"] == "random"]
    assert random_rows
    for row in random_rows:
        figures = row["test"]
        assert {figures["p_baseline"], figures["p_gain"], *figures["geo_risk"].values()} == {None}
        assert figures["gain"] is not None
    others = [row["test"] for row in result.rows if row["kind"] != "random"]
    assert all(None not in figures["geo_risk"].values() for figures in others)
    for rendered in (result.to_text(), result.to_markdown()):
        assert "random: the gain-only model on a random share of the queries. It has no GeoRisk" in rendered


def test_geo_risk_counts_the_baselines_and_the_candidate(store: SweepStore, rows: dict[str, Any]) -> None:
    candidates = TrainedModels(store)
    against = candidates.baseline_values("test")[:, 0]
    for model in candidates.models():
        each = [sf.geo_risk(np.vstack([against, values[0]]), 5)[-1] for values in model.values["test"]]
        assert rows[model.name]["test"]["geo_risk"]["5"] == pytest.approx(np.mean(each), abs=1e-12)


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
