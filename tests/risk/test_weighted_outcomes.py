"""The second test that outcomes by traffic need: with one more query, asked as often as a typical request's query.

Simulations are small versions of benchmarks/weighted_outcomes.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.weighted_outcomes import ALPHAS as SIMULATED
from benchmarks.weighted_outcomes import (
    BAR,
    INDEPENDENT,
    MEAN_BAR,
    correlated_samples,
    generated,
    independent_samples,
    populations,
    rates,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.conftest import DATA

import surefoot as sf
from surefoot.report.notes import UNEVEN, few_queries, too_few_of
from surefoot.risk.assessment_parts import traffic_segments
from surefoot.risk.inference import weighted_test

from .test_weights import ALPHAS, matrix, sample


def slow_mean(x: list[float], w: list[float]) -> tuple[float, float]:
    """x̄_w and SE = √(Σw²(x − x̄_w)²·c/(c − 1))/Σw."""
    c, total = len(x), sum(w)
    mean = sum(a * b for a, b in zip(w, x, strict=True)) / total
    return mean, math.sqrt(sum((a * (b - mean)) ** 2 for a, b in zip(w, x, strict=True)) * c / (c - 1)) / total


def slow_traffic(x: list[float], w: list[float]) -> tuple[float, float, tuple[float, float]]:
    """The test by traffic, as its formulas are written: t, p and the interval of U."""
    typical = sum(a * a for a in w) / sum(w)
    (mean, se), (lower, se_lower), (higher, se_higher) = (
        slow_mean([*x, *more], [*w, *[typical] * len(more)]) for more in ([], [min(x)], [max(x)])
    )
    t, worse, better = mean / se, lower / se_lower, higher / se_higher
    t_traffic = min(t, worse) if min(t, worse) > 0 else max(t, better) if max(t, better) < 0 else 0.0
    df = sum(w) ** 2 / sum(a * a for a in w) - 1
    reach = stats.t.ppf(0.975, df)
    ends = min(mean - reach * se, lower - reach * se_lower), max(mean + reach * se, higher + reach * se_higher)
    return t_traffic, 2 * stats.t.sf(abs(t_traffic), df), ends


def test_the_example_of_the_test_by_traffic() -> None:
    x, w = np.array([0.3, 0.1, 0.2, -0.1, 0.25]), np.array([4.0, 1, 2, 1, 2])
    found = weighted_test(x, 0, 1.0, w / w.mean())
    assert (found.se, found.t) == (pytest.approx(0.055295, abs=5e-7), pytest.approx(3.797835, abs=5e-7))
    assert found.df_traffic == pytest.approx(2.846154, abs=5e-7)
    assert found.t_traffic == pytest.approx(1.764637, abs=5e-7)
    assert found.p_traffic == pytest.approx(0.180749, abs=5e-7)
    assert found.interval == pytest.approx((-0.125570, 0.391478), abs=5e-7)
    worse = weighted_test(-x, 0, 1.0, w / w.mean())  # where risk prevails, the best query comes once more
    assert (worse.t_traffic, worse.p_traffic) == (pytest.approx(-found.t_traffic), pytest.approx(found.p_traffic))
    assert worse.interval == pytest.approx((-found.interval[1], -found.interval[0]))


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 5.0]))
def test_the_test_by_traffic_is_that_of_the_formulas(seed: int, alpha: float) -> None:
    delta, w = sample(seed, 30)
    found = weighted_test(delta, alpha, 1.0, w / w.mean())
    t, p, interval = slow_traffic(np.where(delta > 0, delta, (1 + alpha) * delta).tolist(), w.tolist())
    assert (found.t_traffic, found.p_traffic) == (pytest.approx(t, abs=1e-12), pytest.approx(p, abs=1e-12))
    assert found.df_traffic == pytest.approx(sum(w) ** 2 / sum(w**2) - 1)
    assert found.interval == pytest.approx(interval, rel=1e-9, abs=1e-12)


@given(
    st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 5.0]), st.floats(-0.3, 0.3),
    st.sampled_from([0.6, 1.5, 20.0]), st.integers(2, 80),
)  # fmt: skip
def test_the_interval_leaves_out_0_exactly_where_the_test_by_traffic_rejects(
    seed: int, alpha: float, shift: float, heavy: float, queries: int
) -> None:
    delta, w = sample(seed, queries, heavy)
    found = weighted_test(delta + shift, alpha, 1.0, w / w.mean())
    if found.interval is None:
        assert found.p_traffic is None or found.p_traffic > 0.05
        return
    low, high = found.interval
    assert low <= high
    assert (low > 0 or high < 0) == (found.p_traffic < 0.05)
    assert (found.p_traffic < 0.05) <= (math.copysign(1, found.t_traffic) == math.copysign(1, low))


@pytest.mark.parametrize("size", [1e-200, 1e-110, 1.0, 1e100])
@pytest.mark.parametrize(
    "w",
    [
        [1e15, 1e-15, 1.0, 2.0, 3.0], [1e15, 1e-15, 1e-15, 1e-15, 1e-15], [1e-15, 1e15, 1e15, 1e15, 1.0],
        [3e300, 1e300, 2e300, 1e300, 5e299], [3e-300, 1e-300, 2e-300, 1e-300, 5e-301], [1.0, 1, 1, 1, 200], [2.0] * 5,
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_extreme_weights_and_scores_give_numbers(w: list[float], size: float) -> None:
    relative = np.array(w) / np.mean(w)
    for delta in ([0.3, 0.1, 0.2, -0.1, 0.25], [-0.1, -0.1, -0.1, -0.1, -0.2]):
        for alpha in (0, 5, 1e6):
            found = weighted_test(size * np.array(delta), alpha, size, relative)
            usual = weighted_test(np.array(delta), alpha, 1.0, relative)
            one_query_is_all = sum(relative) ** 2 / sum(relative**2) < 1.01  # then SE is mere rounding
            for field in ("t", "t_skewness", "t_robust", "t_traffic", "p_traffic", "df_traffic"):
                assert math.isfinite(getattr(found, field))
                if not one_query_is_all:
                    assert getattr(found, field) == pytest.approx(getattr(usual, field), rel=1e-6), field
            if one_query_is_all:
                assert (found.p_traffic, found.interval) == (1, None)
            else:
                assert all(map(math.isfinite, found.interval))


@pytest.mark.parametrize("most", [1e4, 1e10, 1e15])
def test_one_query_that_is_the_worst_and_has_nearly_all_of_the_traffic(most: float) -> None:
    gains = np.linspace(0.1, 0.3, 30)
    scores = sf.Scores([np.full(30, 0.5), 0.5 + gains], ["today", "new"], [f"q{i}" for i in range(30)])
    a = sf.assess(scores, "today", ALPHAS, traffic={f"q{i}": 1.0 if i else most for i in range(30)})
    row = a.to_dict()["systems"][1]
    assert row["outcome_by_alpha"] == [{"alpha": 0.0, "outcome": "unclear"}]
    assert all(at["t_traffic"] > 100 and at["p_traffic"] > 0.5 for at in row["alpha"].values())
    assert (row["alpha"]["0"]["u_risk_interval"] is None) == (a.to_dict()["traffic"]["effective_queries"] < 1.01)


def test_no_test_by_traffic_where_there_is_none() -> None:
    scores = sf.Scores([[0.5] * 3, [0.7] * 3, [0.5] * 3], ["today", "alike", "same"], ["a", "b", "c"])
    for row in sf.assess(scores, "today", [0, 5], traffic={"a": 1, "b": 2, "c": 9}).to_dict()["systems"]:
        for at in row["alpha"].values():
            assert (at["t_traffic"], at["p_traffic"], at["df_traffic"], at["u_risk_interval"]) == (None,) * 4
            assert at["reasons"]["t_risk"]
    one = sf.assess(scores, "today", [0], traffic={"a": 1}).to_dict()
    assert "p_traffic" not in one["systems"][1]["alpha"]["0"]  # a single query has the weight of all: equal weights
    several = sf.assess(matrix(1)[0], ["a", "b"], [0], traffic=matrix(1)[1]).to_dict()["systems"]
    assert all(row["alpha"]["0"]["p_traffic"] is None for row in several)


def test_segments_have_a_typical_request_of_their_own() -> None:
    scores, traffic = matrix(5)
    (column,) = sf.assess(scores, "a", [5], traffic=traffic, segments="by-traffic").to_dict()["segments"]
    segment_of = traffic_segments(scores.queries, np.array([traffic[query] for query in scores.queries]))
    tests = []
    for part in column["segments"]:
        own = [query for query in scores.queries if segment_of[query] == part["segment"]]
        at = [row["alpha"]["5"] for row in part["systems"]]
        tests += at
        for row in (1, 2, 3):
            delta = np.array(
                [scores.values[row, scores.queries.index(q)] - scores["a"][scores.queries.index(q)] for q in own]
            )
            x = np.where(delta > 0, delta, 6 * delta).tolist()
            t, p, interval = slow_traffic(x, [traffic[query] for query in own])
            assert (at[row]["t_traffic"], at[row]["p_traffic"]) == (pytest.approx(t), pytest.approx(p))
            assert at[row]["u_risk_interval"] == pytest.approx(list(interval))
            assert at[row]["df_traffic"] == pytest.approx(part["effective_queries"] - 1)
    larger = [None if one["p_robust"] is None else max(one["p_robust"], one["p_traffic"]) for one in tests]
    assert [one["p_holm"] for one in tests] == sf.risk.holm(larger)
    assert any(p is not None and p > one["p_robust"] for p, one in zip(larger, tests, strict=True))


def test_the_adjusted_outcome_is_that_of_the_judged_queries_alone() -> None:
    """The test by traffic without another query: what is said to change an outcome must be that query."""
    changed = 0
    for seed in range(30):
        scores, traffic = matrix(seed, 60, heavy=1.3)
        w = np.array([traffic[query] for query in scores.queries])
        a = sf.assess(scores, "a", [1], traffic=traffic)
        at = [row["alpha"]["1"] for row in a.to_dict()["systems"][1:]]
        alone = [
            max(one["p_skewness"], 2 * stats.t.sf(abs(one["t_risk"]), sum(w) ** 2 / sum(w**2) - 1)) for one in at
        ]  # fmt: skip
        for system, one, p in zip("bcd", at, sf.risk.holm(alone), strict=True):
            side = "better" if one["t_skewness"] > 0 else "worse"
            assert one["outcome_without_extra_query"] == (side if p < 0.05 else "unclear")
            differs = one["outcome_without_extra_query"] != one["outcome"]
            changed += differs
            would = "asked as often as a typical request's query, would change that."
            assert (would in a.in_words(system, 1)) == differs
    assert changed


@pytest.mark.heavy
@pytest.mark.parametrize("alpha", SIMULATED)
@pytest.mark.parametrize("kind", INDEPENDENT)
def test_false_verdicts_are_as_rare_as_promised(kind: str, alpha: float) -> None:
    """Of ten systems whose reward and risk balance, with weights that have nothing to do with the differences.

    `benchmarks/weighted_outcomes.py` has 1,000 runs.
    """
    runs = 300
    false = [
        rates(independent_samples(one, INDEPENDENT[kind], alpha, 2_000, runs, seed), alpha).false
        for seed, one in enumerate(populations(DATA).values())
    ]
    assert np.mean(false) <= MEAN_BAR
    assert max(false) <= BAR + 3 * math.sqrt(BAR * (1 - BAR) / runs)


pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("alpha", [0, 1, 5])
@pytest.mark.parametrize("kind", INDEPENDENT)
def test_outcomes_of_systems_that_balance(kind: str, alpha: float) -> None:
    runs = 150
    each = [
        rates(independent_samples(population, INDEPENDENT[kind], alpha, 2000, runs, seed), alpha)
        for seed, population in enumerate(generated().values())
    ]
    spread = 3 * np.sqrt(BAR * (1 - BAR) / runs)
    assert np.mean([one.false for one in each]) <= MEAN_BAR + spread / np.sqrt(len(each))
    assert max(one.false for one in each) <= BAR + spread
    assert min(one.covered for one in each) >= 0.935


@pytest.mark.parametrize("queries", [200, 2000])
def test_where_frequent_queries_differ_more_the_caution_says_how_often_outcomes_are_false(queries: int) -> None:
    for seed, population in enumerate(generated().values()):
        found = rates(correlated_samples(population, 1.0, 0.5, 5, queries, 150, seed), 5)
        assert found.false <= 0.16
        assert "up to 16 % of such results are false" in (too_few_of(queries, found.effective, 5) or "")
        assert few_queries(found.effective, 0) is None
        assert found.effective < UNEVEN.queries


@pytest.mark.parametrize("alpha", [0, 5])
def test_repeated_queries_claim_several_times_as_many_as_were_judged(alpha: float) -> None:
    rng = np.random.default_rng(alpha)
    population = np.where(rng.random(20_000) < 0.4, 0.0, rng.normal(0.03, 0.15, 20_000))
    weights = np.ceil(3 * np.exp(rng.normal(0, 0.7, 20_000)))
    x = np.where(population > 0, population, (1 + alpha) * population)
    truth = float(weights @ x / weights.sum())
    covered = np.zeros(2)
    for _ in range(1000):
        drawn = rng.integers(0, 20_000, 200)
        delta, w = population[drawn], weights[drawn]
        tests = (
            weighted_test(delta, alpha, 1.0, w / w.mean()),
            weighted_test(np.repeat(delta, w.astype(int)), alpha, 1.0),
        )
        covered += [low <= truth <= high for low, high in (test.interval or (0, 0) for test in tests)]
    by_weights, by_repeating = covered / 1000
    assert by_weights >= 0.94
    assert by_repeating < 0.80
