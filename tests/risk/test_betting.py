"""Betting against a mean: the formulas by slow loops, what is refused, and claims that hold as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from scipy.special import rel_entr
from scipy.stats import binom
from tests.risk.slow_bets import NO_JUDGE, slow_aiming, slow_anytime

from surefoot.decide.guard.thresholds import passing
from surefoot.errors import ArgumentError
from surefoot.risk.betting import (
    anytime_capital,
    anytime_columns,
    betting_p,
    betting_p_columns,
    columns_of,
    start_anytime,
    stratified_p,
    stratified_p_columns,
    thresholded_p,
)
from surefoot.risk.bounds import (
    binomial_p,
    bound_by_grid,
    bound_by_halving,
    least_queries,
)

unit = st.floats(0, 1, allow_subnormal=False)
vectors = st.integers(1, 40).flatmap(lambda n: nps.arrays(float, n, elements=unit))
levels = st.floats(0.01, 0.99)
DELTA, DELTAS = 0.05, [0.05, 0.01, 0.2]


@given(vectors, levels, st.sampled_from(DELTAS))
def test_the_aiming_bet_is_the_formula(x: np.ndarray, m: float, delta: float) -> None:
    capitals = slow_aiming(x, 0 * x, NO_JUDGE, m, math.log(1 / delta), len(x), 5)
    assert float(betting_p(x, m, delta)) == pytest.approx(min(1, 1 / max(capitals)), rel=1e-9)


@given(vectors, levels, st.sampled_from(DELTAS), st.integers(1, 60))
def test_the_anytime_form_is_the_formula(x: np.ndarray, m: float, delta: float, budget: int) -> None:
    state = anytime_capital(x, start_anytime(m, delta, budget))
    capitals = slow_anytime(x, 0 * x, NO_JUDGE, m, delta, budget)
    assert float(state.capital) == pytest.approx(capitals[-1], rel=1e-8, abs=1e-12)
    assert float(state.p) == pytest.approx(min(1, 1 / max(1, *capitals)), rel=1e-8)


@given(vectors, levels)
def test_stratified_p_is_one_over_the_final_capital(x: np.ndarray, m: float) -> None:
    capitals = [
        math.prod(1 + share / (1 - m) * (m - value) for value in x)
        for share in (0.1, 10**-0.75, 10**-0.5, 10**-0.25, 1.0)
    ]
    assert float(stratified_p(x, m)) == pytest.approx(min(1, 5 / sum(capitals)), rel=1e-8)
    assert float(stratified_p(x[::-1], m)) == pytest.approx(float(stratified_p(x, m)), rel=1e-8)


@given(vectors, levels, st.integers(0, 40))
def test_batches_give_what_all_at_once_gives(x: np.ndarray, m: float, cut: int) -> None:
    start = start_anytime(m, 0.05, 30)
    at_once = anytime_capital(x, start)
    parts = start
    for part in (x[:cut], x[cut:]):
        parts = anytime_capital(part, parts) if len(part) else parts
    assert parts.seen == at_once.seen == len(x)
    assert float(parts.peak) == float(at_once.peak)
    assert float(start.peak) == 1  # what was given is left as it was


def test_all_leading_axes_at_once() -> None:
    rng = np.random.default_rng(0)
    x, m = rng.random((3, 4, 70)), rng.uniform(0.2, 0.8, (3, 4))
    together = betting_p(x, m, 0.05)
    anytime = anytime_capital(x, start_anytime(m, 0.05, 70)).p
    strata = stratified_p(x, m)
    for place in np.ndindex(3, 4):
        assert together[place] == betting_p(x[place], m[place], 0.05)
        assert anytime[place] == pytest.approx(float(anytime_capital(x[place], start_anytime(m[place], 0.05, 70)).p))
        assert strata[place] == pytest.approx(float(stratified_p(x[place], m[place])))
    assert betting_p(x[0, 0], np.array([0.3, 0.6]), 0.05).shape == (2,)  # many levels of one sample


def test_gated_losses_are_what_the_matrix_gives() -> None:
    rng = np.random.default_rng(1)
    losses, scores = rng.random(200) * (rng.random(200) < 0.2), rng.normal(size=200).round(1)
    thresholds = np.unique(scores)[::-1]
    matrix = np.where(scores >= thresholds[:, None], losses, 0)
    assert thresholded_p(losses, scores, thresholds, 0.05, 0.05).tolist() == betting_p(matrix, 0.05, 0.05).tolist()


def test_levels_at_the_ends_are_known_beforehand() -> None:
    x = np.ones(10)
    assert betting_p(x, [-0.1, 0, 1, 1.5], 0.05).tolist() == [1, 1, 0, 0]
    assert stratified_p(x, [0, 1]).tolist() == [1, 0]
    assert anytime_capital(x, start_anytime([0, 1], 0.05, 10)).p.tolist() == [1, 0]


@pytest.mark.parametrize("m", [0.01, 0.02, 0.1, 0.3, 0.5])
def test_least_queries_suffice_and_fewer_do_not(m: float) -> None:
    for delta in DELTAS:
        least = least_queries(m, delta)
        assert float(betting_p(np.zeros(least), m, delta)) <= delta
        assert least == 1 or float(betting_p(np.zeros(least - 1), m, delta)) > delta
        least = least_queries(m, delta, "anytime")
        assert float(anytime_capital(np.zeros(least), start_anytime(m, delta, least)).p) <= delta
        assert least == 1 or float(anytime_capital(np.zeros(least - 1), start_anytime(m, delta, least)).p) > delta


@pytest.mark.parametrize("n", [20_001, 23_456])
def test_of_many_queries_a_block_has_one_stake(n: int) -> None:
    """The formula by slow loops: a stake for each block, from what came before it."""
    x, m, delta = np.random.default_rng(n).random(n) ** 8, 0.1125, 0.05
    size = 16 * math.ceil(n / (16 * 250))
    log_capital, most = 0.0, 0.0
    for start in range(0, n, size):
        past = x[:start]
        mean = (5 * m + past.sum()) / (5 + start)
        v = (5 * m * (1 - m) / 2 + ((past - mean) ** 2).sum()) / (5 + start)
        left = max(0.0, math.log(1 / delta) - log_capital)
        stake = min(0.99 / (1 - m), math.sqrt(2 * left / ((n - start) * v)))
        for at in range(start, min(n, start + size), 16):
            log_capital += float(np.log(1 + stake * (m - x[at : min(at + 16, start + size, n)])).sum())
            most = max(most, log_capital)
    assert 0.05 < math.exp(-most) < 1
    assert float(betting_p(x, m, delta)) == pytest.approx(math.exp(-most), rel=1e-9)
    together = betting_p(np.stack([x, 1 - x])[:, None], [[m, 0.2], [0.5, 0.9]], np.array([[0.05], [0.01]]))
    alone = [
        [betting_p(x, m, 0.05), betting_p(x, 0.2, 0.05)],
        [betting_p(1 - x, 0.5, 0.01), betting_p(1 - x, 0.9, 0.01)],
    ]
    assert together == pytest.approx(np.array(alone), rel=1e-12)
    stratified = stratified_p(np.stack([x, x**2]), [0.12, 0.06])
    slow = [stratified_p_columns(one, level) for one, level in ((x, 0.12), (x**2, 0.06))]
    assert stratified == pytest.approx(np.array(slow), rel=1e-9)
    assert float(stratified_p(np.append(np.zeros(n), 1.0), 0.02)) < 0.05  # the greatest bet loses everything


@pytest.mark.heavy
def test_blocks_decide_as_single_queries_do() -> None:
    rng, n, runs = np.random.default_rng(0), 20_001, 400
    for mean, least, most in ((0.02, 0.0, most_allowed(400)), (0.018, 0.8, 1.0)):
        x = 0.5 * (rng.random((runs, n)) < 2 * mean)
        blocks = float((betting_p(x, 0.02, DELTA) <= DELTA).mean())
        single = float((betting_p_columns(columns_of(x), n, 0.02, DELTA, (runs,)) <= DELTA).mean())
        assert least <= blocks <= most
        assert blocks == pytest.approx(single, abs=0.04)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: betting_p([0.1, 1.2], 0.5, 0.05), "1.2; every one must be from 0 to 1"),
        (lambda: betting_p([0.1, np.nan], 0.5, 0.05), "nan; every one"),
        (lambda: betting_p([-0.1], 0.5, 0.05), "-0.1; every one"),
        (lambda: betting_p([], 0.5, 0.05), "no queries"),
        (lambda: betting_p([0.1], np.nan, 0.05), "level to test is not a number"),
        (lambda: betting_p([0.1], 0.5, 0), "delta is 0"),
    ],
)
def test_what_is_refused(call, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()


# Validity: values at the border of the level must not be certified in more than δ of all runs, whatever their shape.

RUNS = 20_000
COINS = {  # the values that are not 0, and their chances at each border
    "0/1": ([1.0], {0.02: [0.02], 0.1: [0.1]}),
    "0/0.5": ([0.5], {0.02: [0.04], 0.1: [0.2]}),
    "0/0.05/1": ([0.05, 1.0], {0.02: [0.2, 0.01], 0.1: [0.4, 0.08]}),
}
ENOUGH = {(0.02, 5000), (0.1, 1000), (0.1, 5000)}  # level and queries with which half the level can be told from it


def tosses(coin: str, n: int, level: float, share: float = 1.0, runs: int = RUNS):
    """One column of x per query, at a mean of `share` of the level, for all runs at once."""
    values, chances = COINS[coin][0], share * np.array(COINS[coin][1][level])
    assert np.dot(values, chances) == pytest.approx(share * level)
    rng, outcomes = np.random.default_rng(n), np.array([*values, 0.0])
    edges = np.cumsum(chances).astype(np.float32)
    return (outcomes[np.searchsorted(edges, rng.random(runs, np.float32), side="right")] for _ in range(n))


def most_allowed(runs: int = RUNS) -> float:
    return DELTA + 3 * math.sqrt(DELTA * (1 - DELTA) / runs)


def certified(columns, n: int, level: float, form: str, runs: int = RUNS) -> float:
    if form == "p":
        p = betting_p_columns(columns, n, level, DELTA, (runs,))
    else:  # p is of the greatest capital on the way: looked at after every query
        p = anytime_columns(columns, start_anytime(level, DELTA, n, (runs,))).p
    return float((p <= DELTA).mean())


def empirical(columns, level: float) -> float:
    """How often the mean that is seen is at most the level, as the plain rule has it."""
    return float((np.mean([*columns], axis=0) <= level).mean())


@pytest.mark.heavy
@pytest.mark.parametrize("form", ["p", "anytime"])
@pytest.mark.parametrize("coin", COINS)
@pytest.mark.parametrize(("level", "n"), [(0.02, 300), (0.02, 1000), (0.02, 5000), (0.1, 300), (0.1, 1000)])
def test_no_more_than_delta_is_certified_at_the_border(level: float, n: int, coin: str, form: str) -> None:
    assert certified(tosses(coin, n, level), n, level, form) <= most_allowed()
    if (level, n) in ENOUGH or (coin, n) == ("0/0.5", 1000):
        assert certified(tosses(coin, n, level, 0.5), n, level, form) >= 0.8


@pytest.mark.heavy
@pytest.mark.parametrize("coin", COINS)
@pytest.mark.parametrize("n", [300, 1000])
def test_the_empirical_rule_fails_the_same_test(n: int, coin: str) -> None:
    assert empirical(tosses(coin, n, 0.02), 0.02) >= 0.3


@pytest.mark.parametrize("form", ["p", "anytime"])
def test_a_short_look_at_validity(form: str) -> None:
    runs, n = 4000, 300
    assert certified(tosses("0/0.5", n, 0.1, 1.0, runs), n, 0.1, form, runs) <= most_allowed(runs)
    assert certified(tosses("0/0.5", n, 0.1, 0.5, runs), n, 0.1, form, runs) >= 0.8
    assert empirical(tosses("0/0.5", n, 0.1, 1.0, runs), 0.1) >= 0.3


def test_unequal_strata_are_certified_no_more_often_than_delta() -> None:
    rng, runs = np.random.default_rng(4), 4000
    means = np.repeat([0.0, 0.04], 150)  # the safe half first: the worst for a maximum on the way
    x = (rng.random((runs, 300)) < means).astype(float)
    assert float((stratified_p(x, 0.02) <= DELTA).mean()) <= most_allowed(runs)
    assert float((betting_p(x, 0.02, DELTA) <= DELTA).mean()) > 0.3  # which is why it is not used there


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


def test_tails_at_the_ends_are_known_beforehand() -> None:
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
