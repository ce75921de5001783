"""U_Risk and its parts: invariants at random, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.risk.tradeoff import count_losing_over_20, lowest_mean

unit = st.floats(0, 1, allow_subnormal=False)
pairs = st.integers(1, 30).flatmap(
    lambda n: st.tuples(nps.arrays(float, n, elements=unit), nps.arrays(float, n, elements=unit))
)
alphas = st.floats(0, 50)


@given(pairs, alphas)
def test_u_risk_is_reward_minus_weighted_risk(pair, alpha: float) -> None:
    m, b = pair
    reward, risk = np.maximum(m - b, 0).mean(), np.maximum(b - m, 0).mean()
    assert sf.u_risk(m, b, alpha) == pytest.approx(reward - (1 + alpha) * risk, abs=1e-9)
    assert sf.u_risk(m, b) == pytest.approx(m.mean() - b.mean(), abs=1e-12)


@given(pairs, alphas, alphas)
def test_u_risk_falls_with_alpha_and_does_not_mind_the_order(pair, one: float, other: float) -> None:
    m, b = pair
    low, high = sorted((one, other))
    assert sf.u_risk(m, b, high) <= sf.u_risk(m, b, low) + 1e-12
    order = np.random.default_rng(0).permutation(len(m))
    assert sf.u_risk(m[order], b[order], one) == pytest.approx(sf.u_risk(m, b, one), abs=1e-9)


def test_worst_mean_is_the_mean_of_the_lowest() -> None:
    rng = np.random.default_rng(0)
    m, b = rng.random(200), rng.random(200)
    assert sf.risk.worst_mean(m, b, 0.05) == pytest.approx(np.sort(m - b)[:10].mean())
    assert sf.risk.worst_mean(m, b, 1.0) == pytest.approx((m - b).mean())
    assert sf.risk.worst_mean(m, b, 1e-9) == (m - b).min()
    assert lowest_mean(np.arange(39.0), 0.05) == 0  # of 1.95 queries the whole ones: one


def test_loss_over_20_counts_relative_losses_only() -> None:
    model, baseline = np.array([0.79, 0.8, 0.0, 0.5, -0.1, -0.9]), np.array([1.0, 1.0, 0.0, 0.5, 0.0, -0.5])
    assert count_losing_over_20(model - baseline, baseline) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], [0.1, 0.2], 0), "model has 1 scores, baseline 2"),
        (([], [], 0), "one score per query"),
        (([[0.1]], [[0.1]], 0), "one score per query"),
        (([np.nan], [0.1], 0), r"model\[0\] is nan"),
        (([0.1], [np.inf], 0), r"baseline\[0\] is inf"),
        (([0.1], [0.1], -1), "alpha is -1; it must be a number from 0 to 1,000,000"),
        (([0.1], [0.1], np.nan), "alpha is nan"),
        (([0.1], [0.1], "much"), "alpha is 'much'"),
        (([0.1], [0.1], True), "alpha is True"),
        (([0.1], [0.1], np.bool_(True)), "alpha is np.True_"),
        (([0.1], [0.1], np.timedelta64(1, "D")), "alpha is np.timedelta64"),
        (([0.1], [0.1], 1 + 0j), "alpha is"),
    ],
)
def test_what_is_refused(arguments, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        sf.u_risk(*arguments)
    with pytest.raises(ValueError):  # noqa: PT011  (users may catch it as such)
        sf.u_risk(*arguments)


def test_a_share_is_the_decimal_that_was_written() -> None:
    differences = np.arange(100.0)
    for hundredths in range(1, 101):
        share = hundredths / 100
        assert lowest_mean(differences, share) == pytest.approx((hundredths - 1) / 2), share  # floor(0.29 · 100) is 29
    assert lowest_mean(np.arange(1000.0), 0.0029) == pytest.approx(0.5)
