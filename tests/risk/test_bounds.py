"""Exact tails and bounds: against sums, against MAPIE, and against how often they fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr
from scipy.stats import binom

from surefoot.decide.guard.thresholds import passing
from surefoot.risk.betting import betting_p, stratified_p
from surefoot.risk.bounds import (
    binomial_p,
    bound_by_grid,
    bound_by_halving,
    least_queries,
)

DELTA = 0.05


def p_of(x: np.ndarray, levels: np.ndarray | float, method: str) -> np.ndarray:
    """p of one sample at each level."""
    n = len(x)
    return {
        "betting": lambda: betting_p(x, levels, DELTA),
        "binomial": lambda: binomial_p(x.sum(), n, levels),
        "stratified": lambda: stratified_p(x, levels),
    }[method]()


def bound(x: np.ndarray, method: str) -> float:
    """The bound that one sample proves."""
    search = bound_by_grid if method == "betting" else bound_by_halving
    return float(search(lambda levels: p_of(x, levels, method), x.mean(keepdims=True), np.array([DELTA])).refuted[0])


def hoeffding_bentkus_p(mean: np.ndarray, n: int, m: float) -> np.ndarray:
    """The strongest known alternative to betting (Bates et al., 2021), which MAPIE has."""
    low = np.minimum(mean, m)
    hoeffding = np.exp(-n * (rel_entr(low, m) + rel_entr(1 - low, 1 - m)))
    return np.minimum(hoeffding, np.e * binom.cdf(np.ceil(n * mean * (1 - 1e-12)), n, m)).clip(max=1)


def slow_tail(k: int, n: int, m: float) -> float:
    return sum(math.comb(n, i) * m**i * (1 - m) ** (n - i) for i in range(k + 1))


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.001, 0.999))
def test_the_binomial_tail_is_the_sum(counts: tuple[int, int], m: float) -> None:
    k, n = counts
    assert float(binomial_p(k, n, m)) == pytest.approx(slow_tail(k, n, m), rel=1e-9)


def test_levels_at_the_ends_are_known_beforehand() -> None:
    for levels in ([0, 1], [-1, 2]):
        assert binomial_p(0, 10, levels).tolist() == [1, 0]
    assert least_queries(0, 0.05) is None
    assert least_queries(1, 0.05) == 1


def test_least_queries_of_the_exact_tail() -> None:
    for m in (0.005, 0.02, 0.3):
        least = least_queries(m, 0.05, "binomial")
        assert least is not None
        assert float(binomial_p(0, least, m)) <= 0.05 < float(binomial_p(0, least - 1, m))


@pytest.mark.parametrize("method", ["betting", "binomial"])
def test_a_bound_is_where_p_crosses_delta(method) -> None:
    rng = np.random.default_rng(3)
    for n in (30, 200):
        x = (rng.random(n) < 0.1).astype(float)
        most = bound(x, method)
        assert most >= x.mean()
        above = np.linspace(most, 1, 500)
        assert (p_of(x, above, method) <= DELTA).all()
        assert float(p_of(x, most - 1e-4, method)) > DELTA


def test_bounds_of_no_losses() -> None:
    assert bound(np.zeros(150), "betting") == pytest.approx(0.02, abs=1e-4)
    assert bound(np.zeros(149), "binomial") == pytest.approx(0.0199, abs=1e-4)


@pytest.mark.heavy
def test_bounds_are_exceeded_no_more_often_than_delta() -> None:
    rng, runs = np.random.default_rng(5), 300
    samples = rng.random((runs, 200)) * (rng.random((runs, 200)) < 0.1)
    for method in ("betting", "stratified"):
        exceeded = np.mean([bound(x, method) < 0.05 for x in samples])
        assert exceeded <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs), method


def test_the_aim_makes_betting_prove_more_than_hoeffding_bentkus() -> None:
    rng = np.random.default_rng(6)
    x = rng.random((200, 1000)) * 0.5 * (rng.random((200, 1000)) < 0.04)
    assert (betting_p(x, 0.02, 0.05) <= 0.05).mean() > 1.3 * (
        hoeffding_bentkus_p(x.mean(axis=1), 1000, 0.02) <= 0.05
    ).mean()


@pytest.mark.heavy
def test_mapie_agrees_where_the_two_overlap() -> None:
    theirs = pytest.importorskip("mapie.risk_control.methods")
    rng = np.random.default_rng(0)
    risks = rng.random(30) * 0.2
    for n in (50, 400):
        for level in (0.05, 0.1, 0.3):
            expected = theirs.compute_hoeffding_bentkus_p_value(risks, n, level)
            assert hoeffding_bentkus_p(risks, n, level) == pytest.approx(np.ravel(expected), rel=1e-6)


@pytest.mark.heavy
def test_mapie_certifies_the_same_thresholds() -> None:
    """Learn-then-test in a fixed order: from the safest threshold on, up to the first whose p is above δ."""
    methods = pytest.importorskip("mapie.risk_control.methods")
    control = pytest.importorskip("mapie.risk_control.fwer_control")
    rng, n, level, delta = np.random.default_rng(1), 500, 0.1, 0.1
    for _ in range(20):
        scores, lost = rng.random(n), rng.random(n) * (rng.random(n) < 0.4)
        thresholds = np.sort(rng.random(40))[::-1]
        values = np.where(scores >= thresholds[:, None], lost, 0)
        p = hoeffding_bentkus_p(values.mean(axis=1), n, level)
        ours = np.arange(passing(p, delta))
        expected = methods.compute_hoeffding_bentkus_p_value(values.mean(axis=1), n, level)
        assert ours.tolist() == list(control.control_fwer(np.ravel(expected), delta, "fixed_sequence"))
        assert 0 < len(ours) < len(p)
