"""T_Risk: SciPy's paired t-test at α = 0, the literal jackknife, and where there is nothing to test."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from surefoot.risk import vectors

seeds = st.integers(0, 10**6)


@given(seeds, st.integers(2, 60))
def test_at_alpha_zero_it_is_the_paired_t_test(seed: int, queries: int) -> None:
    m, b = np.random.default_rng(seed).random((2, queries))
    ours, theirs = sf.t_test(m, b), stats.ttest_rel(m, b)
    assert ours.t == pytest.approx(theirs.statistic, rel=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-7, abs=1e-15)
    assert ours.df == queries - 1


@given(seeds, st.floats(0, 20))
def test_both_standard_errors_the_slow_way(seed: int, alpha: float) -> None:
    m, b = np.random.default_rng(seed).random((2, 25))
    x = [d if d > 0 else (1 + alpha) * d for d in m - b]
    without = [np.mean(x[:i] + x[i + 1 :]) for i in range(25)]
    jackknife = np.sqrt(24 / 25 * sum((value - np.mean(without)) ** 2 for value in without))
    test = sf.t_test(m, b, alpha)
    assert test.se == pytest.approx(stats.sem(x), rel=1e-9)
    assert test.se_jackknife == pytest.approx(jackknife, rel=1e-7)
    assert test.trusted
    assert test.t == pytest.approx(np.mean(x) / stats.sem(x), rel=1e-9)


@given(seeds, st.floats(0, 20), st.floats(0.01, 100))
def test_scaling_the_scores_changes_nothing(seed: int, alpha: float, factor: float) -> None:
    m, b = np.random.default_rng(seed).random((2, 25))
    assert sf.t_risk(factor * m, factor * b, alpha) == pytest.approx(sf.t_risk(m, b, alpha), rel=1e-9)


def test_query_scores_have_mean_t_over_root_c() -> None:
    m, b = np.random.default_rng(0).random((2, 40))
    scores = sf.risk.query_scores(m, b, alpha=5)
    assert scores.t_r.mean() * np.sqrt(40) == pytest.approx(sf.t_risk(m, b, 5))
    assert scores.t_j.mean() == pytest.approx(0, abs=1e-12)
    assert scores.t_j.std(ddof=1) == pytest.approx(1)
    assert scores.critical == pytest.approx(stats.t.ppf(0.975, 39))


@pytest.mark.parametrize(
    ("model", "baseline", "reason"),
    [
        ([0.5], [0.3], "a single query has no standard error"),
        ([0.5, 0.2, 0.1], [0.5, 0.2, 0.1], "identical to the baseline on every query"),
        ([0.3, 0.4, 0.7], [0.2, 0.3, 0.6], "the difference from the baseline is the same on all queries"),
        ([0.1, 0.2], [0.4, 0.5], "the difference from the baseline is the same on all queries"),
    ],
)
@pytest.mark.parametrize("alpha", [0, 5])
def test_nothing_to_test(model, baseline, reason: str, alpha: float) -> None:
    test = sf.t_test(model, baseline, alpha)
    assert (test.t, test.p, test.se, test.se_jackknife) == (None, None, None, None)
    assert test.reason == reason
    assert sf.t_risk(model, baseline, alpha) is None
    assert sf.risk.query_scores(model, baseline, alpha) is None


def _slow_hall(m, b, alpha: float) -> tuple[float, float, tuple[float, float]]:
    """Hall's transformation as it is printed: moments by loops, the interval by bisection of h."""
    x = np.array([d if d > 0 else (1 + alpha) * d for d in np.subtract(m, b)])
    c, s = len(x), np.std(x, ddof=1)
    gamma = np.mean((x - x.mean()) ** 3) / np.mean((x - x.mean()) ** 2) ** 1.5

    def h(t: float) -> float:
        return t + gamma * t**2 / 3 + gamma**2 * t**3 / 27 + gamma / (6 * c)

    def inverse(y: float) -> float:
        low, high = -1e6, 1e6
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if h(middle) < y else (low, middle)
        return low

    t = np.sqrt(c) * h(x.mean() / s)
    reach = stats.t.ppf(0.975, c - 1) / np.sqrt(c)
    ends = x.mean() - s * inverse(reach), x.mean() - s * inverse(-reach)
    return t, 2 * stats.t.sf(abs(t), c - 1), ends


@given(seeds, st.integers(3, 60), st.floats(0, 20))
def test_halls_adjustment_the_slow_way(seed: int, queries: int, alpha: float) -> None:
    m, b = np.random.default_rng(seed).beta(0.4, 1.5, size=(2, queries))
    result = sf.t_test(m, b, alpha)
    t, p, ends = _slow_hall(m, b, alpha)
    assert result.t_skewness == pytest.approx(t, rel=1e-8, abs=1e-9)
    assert result.p_skewness == pytest.approx(p, rel=1e-6, abs=1e-14)
    assert result.interval == pytest.approx(ends, rel=1e-6, abs=1e-9)
    # The interval and the test agree on whether 0 is a possible U_Risk.
    assert (result.interval[0] <= 0 <= result.interval[1]) == (result.p_skewness >= 0.05)


def _slow_t(x: np.ndarray) -> float:
    c, s = len(x), np.std(x, ddof=1)
    gamma, t = np.mean((x - x.mean()) ** 3) / np.mean((x - x.mean()) ** 2) ** 1.5, x.mean() / s
    return np.sqrt(c) * (t + gamma * t**2 / 3 + gamma**2 * t**3 / 27 + gamma / (6 * c))


@given(seeds, st.integers(2, 60), st.floats(0, 20), st.floats(-0.5, 0.5))
def test_the_sturdy_test_the_slow_way(seed: int, queries: int, alpha: float, shift: float) -> None:
    delta = shift + np.random.default_rng(seed).normal(0, 0.3, queries)
    x = np.where(delta > 0, delta, (1 + alpha) * delta)
    t, worse, better = _slow_t(x), _slow_t(np.append(x, x.min())), _slow_t(np.append(x, x.max()))
    expected = min(t, worse) if min(t, worse) > 0 else max(t, better) if max(t, better) < 0 else 0.0
    result = sf.t_test(delta, np.zeros(queries), alpha)
    assert result.t_robust == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert result.p_robust == pytest.approx(2 * stats.t.sf(abs(expected), queries - 1), rel=1e-5, abs=1e-12)
    assert result.p_robust >= result.p_skewness


def test_one_more_query_as_bad_as_the_worst_changes_a_lucky_outcome() -> None:
    delta = np.append(np.full(59, 0.05) + np.linspace(0, 0.01, 59), -0.05)  # one heavy loss that others might share
    result = sf.t_test(delta, np.zeros(60), 5)
    assert result.p_skewness < 0.05 < result.p_robust
    scores = sf.Scores([np.full(60, 0.5), 0.5 + delta], ["today", "new"], range(60))
    a = sf.assess(scores, "today", [5])
    assert a.to_dict()["systems"][1]["alpha"]["5"]["outcome"] == "unclear"
    assert a.to_dict()["systems"][1]["alpha"]["5"]["outcome_without_extra_query"] == "better"
    sentence = (
        "The judged queries alone say that it is better, but one more query as bad as its worst would change that."
    )
    assert sentence in a.in_words("new")


def test_without_skewness_nothing_is_adjusted() -> None:
    result = sf.t_test([0.1, 0.2, 0.3, 0.4, 0.5], np.full(5, 0.2))
    assert result.t_skewness == pytest.approx(result.t, rel=1e-12)
    half = stats.t.ppf(0.975, 4) * result.se
    assert result.interval == pytest.approx((0.1 - half, 0.1 + half), rel=1e-12)


@pytest.mark.parametrize("size", [1e-140, 1e100])
def test_no_cube_overflows_or_vanishes(size: float) -> None:
    plain = sf.t_test([0.1, 0.3, 0.0, 0.6], [0.0, 0.9, 0.5, 0.1], 5)
    far = sf.t_test(size * np.array([0.1, 0.3, 0.0, 0.6]), size * np.array([0.0, 0.9, 0.5, 0.1]), 5)
    assert far.p_skewness == pytest.approx(plain.p_skewness, rel=1e-6)


def test_moments_over_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    m, b = np.random.default_rng(5).random((2, 1000))
    at_once = sf.t_test(m, b, 5)
    monkeypatch.setattr(vectors, "CHUNK", 64)
    assert dataclasses.astuple(sf.t_test(m, b, 5))[:5] == pytest.approx(dataclasses.astuple(at_once)[:5], rel=1e-12)
    assert sf.t_test(m, b, 5).interval == pytest.approx(at_once.interval, rel=1e-10)
    m[960:], b[960:] = 0.5, 0.25  # a last block in which all queries differ alike
    assert sf.t_test(m, b).t is not None


def test_where_rounding_drowns_the_differences_nothing_is_trusted() -> None:
    noise = np.random.default_rng(0).random(1000)
    assert sf.t_test(1 + 1e-3 * noise, np.zeros(1000)).trusted
    assert not sf.t_test(1 + 1e-14 * noise, np.zeros(1000)).trusted


def _centred(population: np.ndarray, alpha: float) -> np.ndarray:
    """The population moved to where U_Risk at α is 0: there every outcome is false."""
    low, high = -1.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        u = sf.u_risk(population + middle, np.zeros(len(population)), alpha)
        low, high = (middle, high) if u < 0 else (low, middle)
    return population + low


@pytest.mark.parametrize("shape", ["laplace", "sparse"])
def test_the_adjusted_test_is_calibrated_above_alpha_zero(shape: str) -> None:
    rng = np.random.default_rng(9)
    population = {
        "laplace": rng.laplace(scale=0.2, size=20_000),
        "sparse": np.where(rng.random(20_000) < 0.4, 0.0, rng.normal(scale=0.2, size=20_000)),
    }[shape]
    samples = rng.choice(_centred(population, 5), size=(2000, 50))
    tests = [sf.t_test(x, np.zeros(50), 5) for x in samples]
    adjusted = np.array([(1 if t.t_skewness > 0 else -1) * (t.p_skewness < 0.05) for t in tests])
    students = np.array([(1 if t.t > 0 else -1) * (t.p < 0.05) for t in tests])
    assert (adjusted == 1).mean() <= 0.06
    assert (adjusted == -1).mean() <= 0.06
    assert (students == 1).mean() > 0.07  # so the test can fail
    covered = np.mean([t.interval[0] <= 0 <= t.interval[1] for t in tests])
    assert 0.92 <= covered <= 0.97


def test_holm_the_slow_way() -> None:
    p = [0.01, 0.6, None, 0.03, 0.005, 0.9, 0.031]  # of which 0.6 would become 1.2, and 0.031 less than 0.03 does
    present = sorted(v for v in p if v is not None)
    stepped = np.minimum(np.maximum.accumulate([(len(present) - i) * v for i, v in enumerate(present)]), 1)
    expected = dict(zip(present, stepped, strict=True))
    assert sf.risk.holm(p) == pytest.approx([expected.get(v) for v in p])
