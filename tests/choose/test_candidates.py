"""Strategies and figures against slow, obvious loops; invariants of the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.choose.candidate_figures import training_point
from surefoot.choose.candidates import TrainedModels
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
