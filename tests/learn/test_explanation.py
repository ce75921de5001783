"""Why a query got worse: swaps against a slow reading, contributions that add up, words, JSON and Markdown."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from tests.learn.trainings import ENGINES

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.learn.explanation import Explanation

SMALL: dict[str, dict[str, Any]] = {
    "lightgbm": {"num_leaves": 6, "min_data_in_leaf": 5, "num_threads": 1},
    "xgboost": {"engine": "xgboost", "max_depth": 3, "min_child_weight": 0.01, "nthread": 1},
}
DATA = sf.demo.letor(queries=30, documents=14, features=6, seed=4)
MEASURES = ["nDCG(dcg='exp-log2')@5", "AP", "ERR@3", "RR"]


def value(data: sf.RankingData, ranked: list[int], measure: str) -> float:
    scores = np.empty(len(data))
    scores[ranked] = -np.arange(len(ranked))
    return float(sf.score(data.qrels(), [data.to_run(scores, "x")], measure).values[0, 0])


def slow_swaps(data: sf.RankingData, scores: np.ndarray, before: np.ndarray | None, measure: str) -> list[float]:
    """What every swap costs, by ranking and measuring each list again."""
    ranked = np.argsort(-scores, kind="stable").tolist()
    earlier = None if before is None else np.argsort(-before, kind="stable").tolist()
    here = value(data, ranked, measure)
    costs = []
    for high, low in permutations(range(len(data)), 2):
        if ranked.index(high) < ranked.index(low) and data.y[high] < data.y[low]:
            if earlier is not None and earlier.index(high) < earlier.index(low):
                continue
            changed = list(ranked)
            changed[ranked.index(high)], changed[ranked.index(low)] = low, high
            costs.append(value(data, changed, measure) - here)
    return sorted((cost for cost in costs if cost > 1e-12), reverse=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("init", [None, "baseline"])
def test_contributions_add_up_to_the_difference_of_scores(engine: str, init: str | None) -> None:
    ranker = sf.Ranker("u_risk", 2, n_estimators=10, init=init, **SMALL[engine]).fit(DATA)
    seen = 0
    for query in DATA.queries:
        for swap in ranker.explain(DATA, query, pairs=5).to_dict()["swaps"]:
            seen += 1
            total = sum(part["difference"] for part in swap["features"]) + swap["other_features"]
            assert total == pytest.approx(swap["score_difference"], abs=1e-5)
            assert swap["lifted"]["rank"] < swap["lowered"]["rank"]
            assert swap["lifted"]["baseline_rank"] > swap["lowered"]["baseline_rank"]
            for part in swap["features"]:
                parts = part["lifted"]["contribution"] - part["lowered"]["contribution"]
                assert part["difference"] == pytest.approx(parts, abs=1e-12)
    assert seen > 20


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("with_baseline", [True, False])
def test_the_dearest_swaps_come_first(measure: str, with_baseline: bool) -> None:
    data = DATA if with_baseline else DATA.with_baselines_only([])
    ranker = sf.Ranker(measure=measure, n_estimators=3, **SMALL["lightgbm"]).fit(data)
    for number in range(8):
        one = data.select([number])
        before = one.baselines["bm25"] if with_baseline else None
        expected = slow_swaps(one, ranker.predict(one), before, measure)
        result = ranker.explain(data, data.queries[number], pairs=1000).to_dict()
        assert [swap["cost"] for swap in result["swaps"]] == pytest.approx(expected, abs=1e-9)
        assert result["value"] == pytest.approx(
            float(sf.score(one.qrels(), [ranker.to_run(one)], measure).values[0, 0]), abs=1e-12
        )


def test_words_markdown_and_json() -> None:
    ranker = sf.Ranker(n_estimators=3, **SMALL["lightgbm"]).fit(DATA)
    results = [ranker.explain(DATA, query) for query in DATA.queries]
    worse = next(each for each in results if each.to_dict()["value"] < each.to_dict()["baseline_value"])
    content = worse.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    first, second, *_ = worse.sentences()
    assert first.startswith(f"Query {content['query']} got worse: nDCG(dcg='exp-log2')@10 is 0.")
    assert "above the better" in second
    assert "Swapping these two back would add" in second
    assert "The main reason: feature_" in second
    assert "feature" in str(worse)
    assert "| feature | effect |" in worse.to_markdown()
    assert isinstance(worse, Explanation)
    perfect = {"schema": "", "query": "q", "measure": "AP", "baseline": "b", "documents": 2, "value": 1.0,
               "baseline_value": 1.0, "swaps": []}  # fmt: skip
    assert Explanation(perfect).sentences() == [
        "Query q is as good as before: AP is 1.0000, and it was 1.0000 with b (+0.0000).",
        "No document is ranked above a better one that was above it before.",
    ]


def test_what_cannot_be_explained() -> None:
    ranker = sf.Ranker(n_estimators=3, **SMALL["lightgbm"]).fit(DATA)
    with pytest.raises(ArgumentError, match="the data has no query 'q99'"):
        ranker.explain(DATA, "q99")
    with pytest.raises(ArgumentError, match="no baseline 'today'; it has: 'bm25'"):
        ranker.explain(DATA, DATA.queries[0], against="today")
    with pytest.raises(ArgumentError, match="pairs is 0"):
        ranker.explain(DATA, DATA.queries[0], pairs=0)
    with pytest.raises(ArgumentError, match="has not learned"):
        sf.Ranker().explain(DATA, DATA.queries[0])
    linear = sf.Ranker(n_estimators=3, linear_tree=True, **SMALL["lightgbm"]).fit(DATA)
    with pytest.raises(ArgumentError, match="no contributions for linear leaves"):
        [linear.explain(DATA, query) for query in DATA.queries]
