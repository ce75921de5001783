"""Sweeps whose queries count as often as they are asked: figures against slow loops, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.choose.candidate_figures import resampled_means, standard_error
from surefoot.choose.candidates import Candidate, TrainedModels
from surefoot.choose.choice import select
from surefoot.choose.frontier import selective_curve
from surefoot.choose.selection_policy import SelectionPolicy
from surefoot.choose.store import SweepStore
from surefoot.choose.tradeoffs import TradeOffs
from surefoot.errors import ArgumentError, DataError
from surefoot.risk.inference import weighted_test

PLAN: dict[str, Any] = {
    "objectives": ["u_risk"],
    "alphas": [5],
    "grid": {"n_estimators": 4, "num_leaves": 4, "min_data_in_leaf": 5},
    "selective": "mean:1",
    "folds": 3,
    "workers": 1,
    "inner_folds": 2,
    "choose_by": "cross-validation",
}


def counts_of(made: sf.RankingData) -> dict[str, float]:
    """Every ninth query has no traffic."""
    return {query: float(number % 9) for number, query in enumerate(made.queries)} | {"elsewhere": 40.0}


@pytest.fixture(scope="module")
def weighted(made: sf.RankingData, tmp_path_factory: pytest.TempPathFactory) -> tuple[sf.TradeOffs, Path]:
    folder = tmp_path_factory.mktemp("weighted") / "kept"
    return sf.sweep(made, folder, traffic=counts_of(made), **PLAN), folder


@pytest.fixture(scope="module")
def trained(weighted: tuple[sf.TradeOffs, Path]) -> TrainedModels:
    return TrainedModels(SweepStore.read(weighted[1]))


@pytest.fixture(scope="module")
def gain_model(trained: TrainedModels) -> Candidate:
    return next(trained.models())


def test_p_values_go_by_both_tests_by_traffic(weighted: tuple[sf.TradeOffs, Path], trained: TrainedModels) -> None:
    today, weights = trained.baseline_values("test")[0, 0], trained.relative_weights("test")
    rows = weighted[0].to_dict()["rows"]
    tests = [weighted_test(np.array(row["per_query"]) - today, 0, 1, weights) for row in rows]
    larger = [
        None if row["kind"] == "random" or test.p_robust is None else max(test.p_robust, test.p_traffic)
        for row, test in zip(rows, tests, strict=True)
    ]
    assert any(p is not None and p > test.p_robust for p, test in zip(larger, tests, strict=True))
    for row, expected in zip(rows, sf.risk.holm(larger), strict=True):
        assert row["test"]["p_baseline"] == (None if expected is None else pytest.approx(expected, rel=1e-3))


def slow_mean(values: Any, weights: Any) -> float:
    return sum(a * b for a, b in zip(weights, values, strict=True)) / sum(weights)


def test_every_mean_and_share_is_weighted(
    weighted: tuple[sf.TradeOffs, Path], trained: TrainedModels, gain_model: Candidate, made: sf.RankingData
) -> None:
    data = weighted[0].to_dict()
    row = next(row for row in data["rows"] if row["name"] == "gain")
    counts = counts_of(made)
    for part in ("valid", "test"):
        names = trained.queries(part)
        weights = [counts[query] for query in names]
        assert min(weights) > 0
        values, baseline = gain_model.values[part][0, 0], trained.baseline_values(part)[0, 0]
        difference = values - baseline
        figures = row[part]
        expected = {
            "mean": slow_mean(values, weights),
            "reward": slow_mean(np.maximum(difference, 0), weights),
            "risk": slow_mean(np.maximum(-difference, 0), weights),
            "gain": slow_mean(difference, weights),
        }
        assert {key: figures[key] for key in expected} == pytest.approx(expected)
        x = [d if d > 0 else 6 * d for d in difference]
        assert figures["u_risk"]["5"] == pytest.approx(slow_mean(x, weights))
        assert figures["losses"] == (difference < 0).sum()
        assert figures["traffic_shares"]["losses"] == pytest.approx(slow_mean(difference < 0, weights))
        assert gain_model.tau is not None
        moved = np.nan_to_num(gain_model.tau[part][0], nan=1.0) < 1
        assert figures["share_reranked"] == pytest.approx(slow_mean(moved, weights))
        assert sum(figures["bins"]["share"]) == pytest.approx(1, abs=0.2)  # but for queries of one document
        assert sum(figures["bins"]["risk"]) == pytest.approx(figures["risk"])
        assert "geo_risk" not in figures
        own = data["baselines"][1][part]["mean"]
        assert own == pytest.approx(slow_mean(trained.baseline_values(part)[1, 0], weights))
        for fold, span in trained.spans(part).items():
            mine = row["folds"][fold][part]
            assert mine["risk"] == pytest.approx(slow_mean(np.maximum(-difference, 0)[span], weights[span]))
            assert mine["weight"] == pytest.approx(sum(weights[span]))
            assert mine["standard_error"]["gain"] == pytest.approx(slow_error(difference[span], weights[span]))


def slow_error(x: Any, weights: Any) -> float:
    mean, w = slow_mean(x, weights), [weight / (sum(weights) / len(weights)) for weight in weights]
    u = [a * (b - mean) for a, b in zip(w, x, strict=True)]
    return float((sum(each**2 for each in u) / (len(u) - 1)) ** 0.5 / len(u) ** 0.5)


def test_the_result_says_how_queries_count(weighted: tuple[sf.TradeOffs, Path], made: sf.RankingData) -> None:
    result, folder = weighted
    data, counts = result.to_dict(), counts_of(made)
    check_data(data, "tradeoffs")
    asked = [count for query, count in counts.items() if count and query != "elsewhere"]
    unasked = sum(not count for count in counts.values())
    assert data["traffic"] == pytest.approx({
        "queries": len(asked), "effective_queries": sum(asked) ** 2 / sum(count**2 for count in asked),
        "largest_share": max(asked) / sum(asked), "left_out": unasked, "traffic_share": sum(asked) / (sum(asked) + 40),
        "equal": False,
    })  # fmt: skip
    assert data["counts"] == [counts[query] for query in data["names"]]
    text = str(result)
    assert "test queries, weighted by traffic," in text
    assert f"without traffic, which are left out: {unasked}." in text
    result.write(folder.parent / "page.html") or (folder.parent / "page.html").read_text()
    page = result.to_html()
    assert "weighted by traffic" in str(page)
    rankers = list((folder / "points").glob("*/ranker.json"))
    saved = [json.loads(path.read_text())["fitted"]["traffic_"] for path in rankers]
    assert all(weights["left_out"] > 0 for weights in saved)


def test_pooled_choices_are_weighted_by_the_folds_traffic(
    weighted: tuple[sf.TradeOffs, Path], trained: TrainedModels, gain_model: Candidate, made: sf.RankingData
) -> None:
    result, folder = weighted
    choice = select(result, SelectionPolicy("max_risk", 1.0), store=SweepStore.read(folder), traffic=counts_of(made))
    rows = {row["name"]: row for row in result.rows}
    counts = counts_of(made)
    weights = np.array([counts[query] for query in trained.queries("test")])
    total = sum(
        rows[row["name"]]["folds"][fold]["test"]["gain"] * weights[trained.spans("test")[fold]].sum()
        for fold, row in choice.chosen.items()
    )
    assert choice.test["gain"] == pytest.approx(total / weights.sum())
    full = gain_model.gains("test", trained.baseline_values("test")[0, 0])
    assert choice.to_dict()["gain_only"]["gain"] == pytest.approx(slow_mean(full, weights))
    assert choice.to_dict()["traffic"]["left_out"] == result.to_dict()["traffic"]["left_out"]
    assert set(choice.probability) == {"Fold1", "Fold2", "Fold3"}
    assert any("as often as they are asked" in sentence for sentence in choice.words)


def test_selective_thresholds_go_by_traffic(trained: TrainedModels) -> None:
    for fold in trained.folds:
        span = trained.spans("valid")[fold]
        weights = trained.query_weights("valid")
        assert weights is not None
        own, aggregate = weights[span], trained.aggregate(fold, "valid")
        for share in (0.1, 0.5, 0.9):
            threshold = trained.threshold(fold, share)
            assert own[aggregate <= threshold].sum() >= share * own.sum() * (1 - 1e-9)
            assert own[aggregate < threshold].sum() < share * own.sum()
    ranks = trained.aggregate_ranks("test")
    assert ranks is not None
    for fold in trained.folds:
        span = trained.spans("test")[fold]
        weights = trained.query_weights("test")
        assert weights is not None
        own, aggregate = weights[span], trained.aggregate(fold, "test")
        slow = [own[aggregate <= value].sum() / own.sum() for value in aggregate]
        assert ranks[span].tolist() == pytest.approx(slow)


def test_the_same_call_goes_on_and_other_traffic_is_refused(
    weighted: tuple[sf.TradeOffs, Path], made: sf.RankingData
) -> None:
    result, folder = weighted
    again = sf.sweep(made, folder, traffic=counts_of(made), **PLAN)
    assert again.to_dict() == result.to_dict()
    for other in (None, counts_of(made) | {"1": 99.0}):
        with pytest.raises(DataError, match=r"has a sweep of other data .*traffic"):
            sf.sweep(made, folder, traffic=other, **PLAN)
    with pytest.raises(ArgumentError, match="the sweep was made with other traffic"):
        select(result, SelectionPolicy("max_risk", 1.0), traffic={"1": 3})
    with pytest.raises(ArgumentError, match="policy geo_risk cannot be used with weights of queries: GeoRisk"):
        select(result, SelectionPolicy("geo_risk", 5))
    assert TradeOffs.read(folder).to_dict()["traffic"]["left_out"] > 0


def test_a_sweep_without_traffic_is_not_chosen_from_with_some(result: sf.TradeOffs) -> None:
    assert "traffic" not in result.to_dict()
    with pytest.raises(ArgumentError, match="the sweep was made without traffic"):
        select(result, SelectionPolicy("max_risk", 1.0), traffic={"1": 3})


def test_equal_traffic_gives_the_same_models_and_figures(made: sf.RankingData, tmp_path: Path) -> None:
    plan = PLAN | {"choose_by": "validation", "alphas": [1]}
    plain = sf.sweep(made, tmp_path / "plain", **plan)
    equal = sf.sweep(made, tmp_path / "equal", traffic=dict.fromkeys(made.queries, 7), **plan)
    mine, other = equal.to_dict(), plain.to_dict()
    assert mine["traffic"]["equal"]
    for key in ("rows", "baselines", "curves", "answers", "recommendation"):
        assert mine[key] == other[key]
    files = sorted(path.relative_to(tmp_path / "plain") for path in (tmp_path / "plain" / "points").rglob("*.txt"))
    assert files
    for file in files:  # under the same names, which are hashes of all that decides a training
        assert (tmp_path / "equal" / file).read_bytes() == (tmp_path / "plain" / file).read_bytes()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"objectives": ["geo_risk"]}, "objective 'geo_risk' cannot be used with weights"),
        ({"stop_on": "geo_risk@5"}, "stop_on='geo_risk@5' cannot be used with weights"),
        ({"traffic": {"elsewhere": 1, "other": 3}}, "no query in the train set of Fold1 has traffic"),
        ({"traffic": {"1": -1}}, "it must be 0, or a number from"),
    ],
)
def test_what_does_not_go_with_traffic_is_refused(
    made: sf.RankingData, tmp_path: Path, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match="has weights of queries; give them as traffic"):
        sf.sweep(made.with_traffic(np.arange(1, 49)), tmp_path / "sweep", **PLAN)
    with pytest.raises(sf.SurefootError, match=message):
        sf.sweep(made, tmp_path / "sweep", **(PLAN | {"traffic": counts_of(made)} | more))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(1, 9)), min_size=2, max_size=12))
def test_integer_weights_are_repeated_queries_in_means_not_in_errors(pairs: list[tuple[float, int]]) -> None:
    x, counts = np.array([pair[0] for pair in pairs]), np.array([float(pair[1]) for pair in pairs])
    relative = counts / counts.mean()
    repeated = np.repeat(x, counts.astype(int))
    feature = np.arange(len(x), dtype=np.float64)
    mine = selective_curve(x, feature, relative)
    slow = selective_curve(repeated, np.repeat(feature, counts.astype(int)))
    for one, other in zip(mine, slow, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    error = standard_error(x, relative)
    assert error is not None
    assert error == pytest.approx(slow_error(x, counts), abs=1e-12)
    np.testing.assert_allclose(resampled_means([x], 3 * relative), resampled_means([x], relative), atol=1e-12)


def test_resamples_draw_queries_with_their_weights() -> None:
    x, weights = np.array([1.0, 0.0, 0.0, 0.5]), np.array([2.0, 0.5, 0.5, 1.0])
    means = resampled_means([x], weights, replicates=3000)[0]
    assert ((means >= 0) & (means <= 1)).all()
    rng = np.random.default_rng(0)
    draws = [rng.integers(0, 4, 4) for _ in range(3000)]
    slow = [x[draw] @ weights[draw] / weights[draw].sum() for draw in draws]
    assert means.mean() == pytest.approx(np.mean(slow), abs=0.02)
    assert means.std() == pytest.approx(np.std(slow), abs=0.02)
