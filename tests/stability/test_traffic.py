"""Studies of queries that count by traffic, against obvious versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot import stability
from surefoot.errors import ArgumentError


@pytest.fixture(scope="module")
def made() -> Any:
    runs = sf.demo.runs(queries=50)
    weights = {query: float(i % 7 + 1) ** 2 for i, query in enumerate(runs.qrels.queries)}
    return runs, weights


def test_subsets_pick_by_the_weighted_mean(made: Any) -> None:
    runs, weights = made
    pair = [run for run in runs.runs if run.name in ("steady", "bold")]
    scores = sf.score(runs.qrels, pair, "nDCG@10", traffic=weights)
    data = stability.subsets(scores, sizes=[10], subsets=200, seed=3).to_dict()
    w = np.array([weights[query] for query in scores.queries])
    means = [float(w @ scores[name] / w.sum()) for name in scores.systems]
    result = data["results"]["nDCG@10"]
    assert result["means"] == pytest.approx(means)
    assert result["winner"] == scores.systems[int(np.argmax(means))]
    drawn = np.random.default_rng([3, 10]).random((200, 50))
    chosen = np.argpartition(drawn, 9, axis=1)[:, :10]
    delta = scores[scores.systems[0]] - scores[scores.systems[1]]
    first = means[0] >= means[1]
    rate = np.mean([(np.average(delta[rows], weights=w[rows]) >= 0) == first for rows in chosen])
    assert result["rate"] == [pytest.approx(rate)]
    assert data["traffic"]["queries"] == 50
    assert "weighted by traffic" in stability.subsets(scores, sizes=[10]).to_text(width=200)


def test_periods_and_functions_go_by_weights(made: Any) -> None:
    runs, weights = made
    pair = [run for run in runs.runs if run.name in ("steady", "bold")]
    scores = sf.score(runs.qrels, pair, "nDCG@10", traffic=weights)
    w = np.array([weights[query] for query in scores.queries])
    dates = {query: f"2026-11-{1 + i % 2:02}" for i, query in enumerate(scores.queries)}
    data = stability.time(scores, dates, size=10, subsets=20).to_dict()
    delta = scores[scores.systems[0]] - scores[scores.systems[1]]
    expected = [np.average(delta[start::2], weights=w[start::2]) for start in (0, 1)]
    assert data["results"]["nDCG@10"]["difference"] == pytest.approx(expected)
    ranked = stability.measures(scores, replicates=100).to_dict()["results"]["nDCG@10"]
    assert {row["system"]: row["mean"] for row in ranked} == pytest.approx(
        {name: float(w @ scores[name] / w.sum()) for name in scores.systems}
    )
    counts = np.random.default_rng(0).multinomial(50, np.full(50, 1 / 50), size=100)
    drawn = [np.average(scores["bold"], weights=n * w) for n in counts]
    interval = next(row["interval"] for row in ranked if row["system"] == "bold")
    assert interval == pytest.approx(np.quantile(drawn, [0.025, 0.975]).tolist())


def test_noise_goes_by_weights_and_equal_ones_change_nothing(made: Any) -> None:
    runs, weights = made
    run = runs.runs[0]
    given: Any = {"sizes": [0, 0.1], "repeats": 2}
    plain = stability.noise(runs.qrels, run, ["nDCG@5"], **given).to_dict()
    equal = stability.noise(runs.qrels, run, ["nDCG@5"], **given, traffic=dict.fromkeys(weights, 2)).to_dict()
    assert equal.pop("traffic")["equal"]
    assert equal == plain
    data = stability.noise(runs.qrels, run, ["nDCG@5"], **given, traffic=weights).to_dict()
    scores = sf.score(runs.qrels, [run], "nDCG@5")
    w = [weights[query] for query in scores.queries]
    assert data["systems"][0]["measures"]["nDCG@5"]["mean"][0] == pytest.approx(
        float(np.average(scores.values[0], weights=w))
    )


def test_the_traced_query_is_one_that_is_asked(made: Any) -> None:
    runs, weights = made
    given: Any = {"sizes": [0, 0.2], "repeats": 1}
    most = stability.noise(runs.qrels, runs.runs[0], ["nDCG@5"], **given).to_dict()["trace"]["query"]
    asked = {query: count for query, count in weights.items() if query != most}
    data = stability.noise(runs.qrels, runs.runs[0], ["nDCG@5"], **given, traffic=asked).to_dict()
    assert data["trace"]["query"] in asked
    with pytest.raises(ArgumentError, match="has no traffic, so it is left out"):
        stability.noise(runs.qrels, runs.runs[0], ["nDCG@5"], **given, traffic=asked, query=most)


def test_a_rare_query_alone_is_picked_by_its_own_difference() -> None:
    # Beside a query that is asked 10¹³ times, the other's difference times its weight is below rounding.
    scores = sf.Scores([[1.0, 0.0], [0.0, 1.0]], ["a", "b"], ["often", "rare"]).with_traffic({"often": 1e13, "rare": 1})
    result = stability.subsets(scores, sizes=[1], subsets=200, seed=1).to_dict()["results"]["score"]
    assert result["winner"] == "a"
    assert 0.3 < result["rate"][0] < 0.7
    dates = {"often": "2026-11-01", "rare": "2026-11-02"}
    assert stability.time(scores, dates, size=1, subsets=5).to_dict()["results"]["score"]["rate"] == [1, 0]


def test_measures_with_different_weights_are_refused(made: Any) -> None:
    runs, weights = made
    pair = [run for run in runs.runs if run.name in ("steady", "bold")]
    plain, weighted = sf.score(runs.qrels, pair, "nDCG@5"), sf.score(runs.qrels, pair, "nDCG@10", traffic=weights)
    with pytest.raises(ArgumentError, match="nDCG@10 is weighted by traffic and nDCG@5 is not"):
        stability.subsets([plain, weighted])
