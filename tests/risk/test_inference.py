"""T_Risk: SciPy's paired t-test at α = 0, the literal jackknife, and where there is nothing to test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf

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
    scores = sf.query_scores(m, b, alpha=5)
    assert scores.t_r.mean() * np.sqrt(40) == pytest.approx(sf.t_risk(m, b, 5))
    assert scores.t_j.mean() == pytest.approx(0, abs=1e-12)
    assert scores.t_j.std(ddof=1) == pytest.approx(1)
    assert scores.critical == pytest.approx(stats.t.ppf(0.975, 39))


@pytest.mark.parametrize(
    ("model", "baseline", "reason"),
    [
        ([0.5], [0.3], "a single query has no standard error"),
        ([0.5, 0.2, 0.1], [0.5, 0.2, 0.1], "identical to the baseline on every query"),
        ([0.3, 0.4, 0.7], [0.2, 0.3, 0.6], "all queries differ from the baseline alike"),
        ([0.1, 0.2], [0.4, 0.5], "all queries differ from the baseline alike"),
    ],
)
@pytest.mark.parametrize("alpha", [0, 5])
def test_nothing_to_test(model, baseline, reason: str, alpha: float) -> None:
    test = sf.t_test(model, baseline, alpha)
    assert (test.t, test.p, test.se, test.se_jackknife) == (None, None, None, None)
    assert test.reason == reason
    assert sf.t_risk(model, baseline, alpha) is None
    assert sf.query_scores(model, baseline, alpha) is None


def test_holm_the_slow_way() -> None:
    p = [0.01, 0.2, None, 0.03, 0.005, 0.9]
    given_ = sorted(v for v in p if v is not None)
    stepped = np.minimum(np.maximum.accumulate([(len(given_) - i) * v for i, v in enumerate(given_)]), 1)
    expected = dict(zip(given_, stepped, strict=True))
    assert sf.holm(p) == pytest.approx([expected.get(v) for v in p])
