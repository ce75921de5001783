"""Figures and tests of queries that count differently, against slow and obvious versions of the formulas."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.risk.assessment_parts import traffic_segments
from surefoot.risk.inference import weighted_t_values, weighted_test
from surefoot.risk.tradeoff import lowest_mean

ALPHAS = [0, 1, 5]
Sample = tuple[np.ndarray, np.ndarray]


def sample(seed: int, queries: int = 60, heavy: float = 1.5) -> Sample:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(0.02, 0.2, queries), 3), rng.pareto(heavy, queries) + 0.05


def slow_hall(x: list[float], w: list[float]) -> tuple[float, float, float, float]:
    """x̄_w, s_u, γ and t_H, by the formulas as they are written."""
    c = len(x)
    w = [one / (sum(w) / c) for one in w]
    mean = sum(a * b for a, b in zip(w, x, strict=True)) / c
    u = [a * (b - mean) for a, b in zip(w, x, strict=True)]
    s = math.sqrt(sum(v * v for v in u) / (c - 1))
    skew = (sum(v**3 for v in u) / c) / (sum(v * v for v in u) / c) ** 1.5
    T = mean / s
    return mean, s, skew, math.sqrt(c) * (T + skew * T**2 / 3 + skew**2 * T**3 / 27 + skew / (6 * c))


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 5.0]))
def test_the_test_is_that_of_influence_values(seed: int, alpha: float) -> None:
    delta, w = sample(seed, 30)
    x = np.where(delta > 0, delta, (1 + alpha) * delta)
    relative = w / w.mean()
    found = weighted_test(delta, alpha, 1.0, relative)
    mean, s, _, t_hall = slow_hall(x.tolist(), w.tolist())
    se = s / math.sqrt(30)
    assert found.t == pytest.approx(mean / se)
    assert found.se == pytest.approx(se)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(mean / se), 29))
    assert found.t_skewness == pytest.approx(t_hall)
    assert found.trusted is None
    without = [
        sum(np.delete(w, i) * np.delete(x, i)) / sum(np.delete(w, i)) for i in range(30)
    ]  # fmt: skip
    assert found.se_jackknife == pytest.approx(math.sqrt(29 / 30 * np.square(without - np.mean(without)).sum()))
    worse, better = (
        slow_hall([*x.tolist(), end], [*w.tolist(), float(w.mean())])[3] for end in (x.min(), x.max())
    )  # fmt: skip
    robust = min(t_hall, worse) if min(t_hall, worse) > 0 else max(t_hall, better) if max(t_hall, better) < 0 else 0.0
    assert found.t_robust == pytest.approx(robust, abs=1e-12)
    values = weighted_t_values(delta, alpha, 1.0, relative)
    assert values is not None
    assert values.t_j == pytest.approx(relative * (x - mean) / s)
    assert values.t_r == pytest.approx(relative * x / s)


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3))
def test_the_unit_and_the_order_of_weights_do_not_matter(seed: int, unit: float) -> None:
    delta, w = sample(seed, 25)
    order = np.random.default_rng(seed).permutation(25)
    one = weighted_test(delta, 5, 1.0, w / w.mean())
    other = weighted_test(delta[order], 5, 1.0, (unit * w / (unit * w).mean())[order])
    for field in ("t", "t_skewness", "t_robust", "se_jackknife", "t_traffic", "p_traffic", "interval"):
        assert getattr(other, field) == pytest.approx(getattr(one, field), rel=1e-9, abs=1e-9)


@given(st.integers(0, 10_000))
def test_weights_of_one_are_no_weights(seed: int) -> None:
    delta, _ = sample(seed, 25)
    one, other = weighted_test(delta, 5, 1.0), weighted_test(delta, 5, 1.0, np.ones(25))
    for field in ("t", "p", "se", "se_jackknife", "t_skewness", "t_robust", "p_robust"):
        assert getattr(other, field) == pytest.approx(getattr(one, field), rel=1e-9)


@pytest.mark.parametrize("heavy", [2, 0.9])
def test_turns_go_by_both_tests_at_every_alpha(heavy: float) -> None:
    scores, traffic = matrix(4, heavy=heavy)
    assessment = sf.assess(scores, "a", [0], traffic=traffic)
    for row in assessment.to_dict()["systems"][1:]:
        starts = [turn["alpha"] for turn in row["outcome_by_alpha"]]
        for alpha in [0, 0.3, 1, 2, 3.7, 5, 8, 12, 20]:
            data = sf.assess(scores, "a", [alpha], traffic=traffic).to_dict()
            outcome = next(one for one in data["systems"] if one["system"] == row["system"])["alpha"][f"{alpha:g}"]
            at = max(i for i, start in enumerate(starts) if start <= alpha)
            assert row["outcome_by_alpha"][at]["outcome"] == outcome["outcome"], (row["system"], alpha)


def matrix(seed: int, queries: int = 70, heavy: float = 2) -> tuple[sf.Scores, dict[str, float]]:
    rng = np.random.default_rng(seed)
    values = np.round(rng.beta(0.8, 1.1, size=(4, queries)), 3)
    values[1] = np.clip(values[0] + rng.normal(0.08, 0.1, queries).round(3), 0, 1)
    scores = sf.Scores(values, list("abcd"), [f"q{i}" for i in range(queries)], "nDCG@10")
    return scores, dict(zip(scores.queries, (rng.pareto(heavy, queries) + 0.1).tolist(), strict=True))


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_integer_weights_are_repeated_queries_for_means_and_shares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, _ = matrix(seed, 30)
    times = rng.integers(1, 6, 30)
    times[0] = 9
    repeated = sf.Scores(
        np.repeat(scores.values, times, axis=1), scores.systems, [str(i) for i in range(times.sum())], "nDCG@10"
    )
    weighted = sf.assess(scores, "a", ALPHAS, traffic=dict(zip(scores.queries, times.tolist(), strict=True))).to_dict()
    plain = sf.assess(repeated, "a", ALPHAS).to_dict()
    for one, other in zip(weighted["systems"], plain["systems"], strict=True):
        for key in ("mean", "geometric_mean", "reward", "risk", "gain"):
            assert one[key] == pytest.approx(other[key], abs=1e-12)
        for key in ("wins", "losses", "ties", "loss_over_20"):
            assert one["traffic_shares"][key] == pytest.approx(other[key] / times.sum())
        for key in one["alpha"]:
            assert one["alpha"][key]["u_risk"] == pytest.approx(other["alpha"][key]["u_risk"], abs=1e-12)
            if other["alpha"][key]["se"] is not None:  # repeating claims more queries than were judged
                assert one["alpha"][key]["se"] > other["alpha"][key]["se"]
    delta = scores["b"] - scores["a"]
    assert lowest_mean(delta, 0.2, times / times.mean()) == pytest.approx(
        _slow_worst(np.repeat(delta, times), 0.2), abs=1e-12
    )


def _slow_worst(delta: np.ndarray, share: float) -> float:
    """The mean of the lowest share, the last one in part."""
    ordered, room = np.sort(delta), share * len(delta)
    whole = math.floor(room + 1e-12)
    part = room - whole
    return float((ordered[:whole].sum() + (part * ordered[whole] if part > 1e-12 else 0)) / room)


def test_equal_weights_change_no_figure() -> None:
    scores, _ = matrix(1)
    plain = sf.assess(scores, "a", ALPHAS, bootstrap=50, segments={q: q[-1] for q in scores.queries})
    equal = sf.assess(
        scores, "a", ALPHAS, bootstrap=50, segments={q: q[-1] for q in scores.queries},
        traffic=dict.fromkeys(scores.queries, 17),
    )  # fmt: skip
    data = equal.to_dict(per_query=True)
    assert data.pop("traffic") == {
        "queries": 70, "effective_queries": 70.0, "largest_share": 1 / 70, "left_out": 0, "traffic_share": 1.0,
        "equal": True,
    }  # fmt: skip
    assert data["per_query"].pop("counts") == [17.0] * 70
    assert json.dumps(data) == json.dumps(plain.to_dict(per_query=True))


def test_the_bootstrap_resamples_queries_with_their_weights() -> None:
    scores, traffic = matrix(2, 40)
    data = sf.assess(scores, "a", [5], traffic=traffic, bootstrap=300, seed=4).to_dict()
    w = np.array([traffic[query] for query in scores.queries])
    delta = scores["b"] - scores["a"]
    x = np.where(delta > 0, delta, 6 * delta)
    counts = np.random.default_rng(4).multinomial(40, np.full(40, 1 / 40), size=300)
    draws = [sum(n * w * x) / sum(n * w) for n in counts]
    at = data["systems"][1]["alpha"]["5"]
    assert at["u_risk_bootstrap"] == pytest.approx(np.quantile(draws, [0.025, 0.975]).tolist())
    assert (at["z_risk"], at["geo_risk"], at["z_risk_interval"], data["g_squared"]) == (None, None, None, None)
    assert at["reasons"]["z_risk"] == "Z_Risk and GeoRisk are not defined for queries that are weighted by traffic"


def test_rankings_that_moved_count_by_traffic() -> None:
    made = sf.demo.runs(queries=30)
    weights = {query: float(i % 5 + 1) for i, query in enumerate(made.qrels.queries)}
    scores = sf.score(made.qrels, made.runs, "nDCG@10", traffic=weights)
    repeated = sf.assess(scores, "today").to_dict()["systems"]
    plain = sf.score(made.qrels, made.runs, "nDCG@10")
    w = np.array([weights[query] for query in plain.queries])
    for row in repeated:
        difference = plain[row["system"]] - plain["today"]
        assert sum(one["risk"] for one in row["churn"]["bins"]) == pytest.approx(
            w @ np.maximum(-difference, 0) / w.sum()
        )


def test_queries_without_traffic_are_left_out() -> None:
    scores, traffic = matrix(3)
    some = {query: count for query, count in traffic.items() if query not in ("q1", "q2")} | {"q3": 0, "other": 5}
    data = sf.assess(scores, "a", traffic=some).to_dict()
    assert (data["queries"], data["traffic"]["left_out"]) == (67, 3)
    kept = [i for i, query in enumerate(scores.queries) if query not in ("q1", "q2", "q3")]
    assert data["traffic"]["traffic_share"] == pytest.approx(
        sum(traffic[scores.queries[i]] for i in kept) / sum(some.values())
    )
    assert "3 judged queries without traffic are left out." in sf.assess(scores, "a", traffic=some).to_text()
    made = sf.demo.runs(queries=20)
    few = {query: i + 1 for i, query in enumerate(made.qrels.queries[:12])}
    one = sf.assess(sf.score(made.qrels, made.runs, "AP", traffic=few), "today").to_dict()
    other = sf.assess(sf.score(made.qrels, made.runs, "AP"), "today", traffic=few).to_dict()
    assert one == other


def test_weights_are_given_once_and_in_memory() -> None:
    scores, traffic = matrix(3)
    with pytest.raises(ArgumentError, match="have weights already"):
        sf.assess(scores.with_traffic(traffic), "a", traffic=traffic)
    with pytest.raises(ArgumentError, match="no query has traffic"):
        sf.assess(scores, "a", traffic={"x": 1})


def test_head_torso_and_tail() -> None:
    queries = ["a", "b", "c", "d", "e"]
    assert traffic_segments(queries, np.array([50.0, 30.0, 10.0, 5.0, 5.0])) == {
        "a": "head", "b": "torso", "c": "tail", "d": "tail", "e": "tail",
    }  # fmt: skip
    assert traffic_segments(queries, np.array([1.0, 1.0, 1.0, 1.0, 96.0]))["e"] == "head"
    scores, traffic = matrix(5)
    (column,) = sf.assess(scores, "a", traffic=traffic, segments="by-traffic").to_dict()["segments"]
    assert [part["segment"] for part in column["segments"]] == ["head", "torso", "tail"]
    assert sum(part["traffic_share"] for part in column["segments"]) == pytest.approx(1)
    both = sf.assess(scores, "a", traffic=traffic, segments=["by-traffic", {"q1": "x", "q2": "y"}]).to_dict()[
        "segments"
    ]
    assert [one["column"] for one in both] == ["traffic", "segment"]
    with pytest.raises(ArgumentError, match="need to know how often"):
        sf.assess(scores, "a", segments="by-traffic")
    with pytest.raises(ArgumentError, match="equally often"):
        sf.assess(scores, "a", segments="by-traffic", traffic=dict.fromkeys(scores.queries, 2))


def test_a_query_with_most_of_the_traffic_makes_no_outcome() -> None:
    """One query asked all day says nothing of the others: its own gain must not count as proof."""
    rng = np.random.default_rng(0)
    today = rng.uniform(0.3, 0.6, 200)
    false = 0
    for _ in range(100):
        new = today + rng.normal(0, 0.2, 200)
        scores = sf.Scores([today, new], ["today", "new"], [f"q{i}" for i in range(200)])
        traffic = {f"q{i}": 199.0 if i == 0 else 1.0 for i in range(200)}
        at = sf.assess(scores, "today", [0], traffic=traffic).to_dict()["systems"][1]["alpha"]["0"]
        assert at["p_holm"] == max(at["p_robust"], at["p_traffic"])
        false += at["outcome"] != "unclear"
    assert false <= 5


def test_a_ruined_tail_is_named() -> None:
    """A few frequent queries gain, and hundreds of rare ones lose: the mean by traffic alone would hide them."""
    rng = np.random.default_rng(0)
    frequent = np.arange(400) < 60
    today = rng.uniform(0.4, 0.6, 400)
    new = np.where(frequent, today + rng.uniform(0.05, 0.2, 400), today - rng.uniform(0.02, 0.1, 400))
    scores = sf.Scores([today, new], ["today", "new"], [f"q{i}" for i in range(400)])
    traffic = {f"q{i}": float(rng.uniform(800, 1200) if frequent[i] else rng.uniform(20, 80)) for i in range(400)}
    words = sf.assess(scores, "today", traffic=traffic, segments="by-traffic").in_words("new")
    assert words.startswith("new gains ")
    assert "340 of 400 queries get worse (22 % of traffic)" in words
    assert "But with every query counted once, it loses" in words
    assert "These segments get worse by more than chance: traffic tail" in words
