"""What is decided where a figure is exactly at its level: each comparison, from the side that its words promise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from scipy.special import stdtrit

import surefoot as sf
from surefoot.data.types.scores import FilledHoles
from surefoot.risk import assessment_parts
from surefoot.risk.batches import (
    AIMING_PART,
    FIXED_PART,
    FIXED_SHARES,
    BatchBet,
    CountBet,
    _log_choose,
    least_by_batches,
    least_count_of_known,
    least_of_known,
)
from surefoot.risk.betting import (
    FIXED_BET_SHARES,
    MOST_STAKE,
    anytime_capital,
    betting_p,
    least_anytime,
    start_anytime,
    stratified_p,
    thresholded_p,
)
from surefoot.risk.bounds import binomial_p, bound_by_grid, bound_by_halving
from surefoot.risk.outcomes import holm_rejects, outcome_of
from surefoot.risk.tradeoff import which_lose_over_20
from surefoot.significance import SIGNIFICANCE

LEVELS = (0.02, 0.05, 0.1, 0.3)


@pytest.mark.parametrize("t", [-2.0, 2.0])
def test_a_p_at_the_significance_is_not_below_it(t: float) -> None:
    assert outcome_of(t, SIGNIFICANCE) == "unclear"
    assert outcome_of(t, np.nextafter(SIGNIFICANCE, 0)) == ("better" if t > 0 else "worse")
    assert sf.risk.outcomes.outcomes([t], [SIGNIFICANCE]) == [(SIGNIFICANCE, "unclear")]


@pytest.mark.parametrize(("queries", "tests"), [(5, 1), (40, 3)])
def test_a_t_at_its_critical_value_is_not_beyond_it(queries: int, tests: int) -> None:
    critical = stdtrit(queries - 1, 1 - SIGNIFICANCE / 2 / np.arange(tests, 0, -1))
    assert not holm_rejects(critical[None], queries).any()
    assert holm_rejects(np.nextafter(critical, np.inf)[None], queries).all()
    first = np.append(critical[0] + 1, critical[1:])  # the first is beyond, the second only at its value
    assert holm_rejects(first[None], queries)[0].tolist() == [True] + [False] * (tests - 1)


def test_a_judge_favours_nobody_where_p_is_at_the_significance(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    without = rng.random((2, 30)) / 2
    values = without + np.vstack([np.zeros(30), rng.random(30) / 4])
    holes = FilledHoles("llm", {"today": 0, "new": 9}, {"today": 0, "new": 9}, without)
    scores = sf.Scores(values, ["today", "new"], [f"q{n}" for n in range(30)], "AP", filled=holes)
    found = assessment_parts._filled(scores, holes, ["today"])
    p = found["systems"][1]["p_value"]
    assert found["favours"] == ["new"]
    monkeypatch.setattr(assessment_parts, "SIGNIFICANCE", p)
    assert assessment_parts._filled(scores, holes, ["today"])["favours"] == []
    monkeypatch.setattr(assessment_parts, "SIGNIFICANCE", np.nextafter(p, 1))
    assert assessment_parts._filled(scores, holes, ["today"])["favours"] == ["new"]


def test_a_loss_of_just_a_fifth_is_not_over_it() -> None:
    baseline = np.arange(1, 1001) / 1000  # as decimals are read; the differences are not exact
    just = np.array([float(f"{8 * thousandth / 10_000:.4f}") for thousandth in range(1, 1001)])
    assert not which_lose_over_20(just - baseline, baseline).any()
    assert which_lose_over_20(just - 1e-6 - baseline, baseline).all()
    powers = np.array([5.0, 1.25, 0.3125])  # of which a fifth is exact, and the rule's product too
    assert not which_lose_over_20(-sf.risk.tradeoff.OVER_20_PERCENT * powers, powers).any()


@pytest.mark.parametrize("search", [bound_by_grid, bound_by_halving])
def test_a_level_whose_p_is_delta_is_refuted(search: Callable[..., sf.risk.bounds.Bound]) -> None:
    delta = 0.05

    def p_of(levels: np.ndarray) -> np.ndarray:
        return np.where(levels < 0.5, 1.0, delta)

    bound = search(p_of, np.array([0.1]), np.array([delta]))
    assert 0.5 <= bound.refuted[0] < 0.51
    assert bound.not_refuted[0] < 0.5


def _capitals(m: float, shares: np.ndarray, parts: np.ndarray, queries: int) -> Iterator[tuple[int, float]]:
    """ln of the capital of all bets after each number of queries without a loss."""
    growth = np.log1p(shares / (1 - m) * m)
    for n in range(1, queries):
        yield n, np.logaddexp.reduce(np.log(parts) + n * growth)


def _reached_at(value: float) -> float | None:
    """A δ that a capital of just this logarithm reaches, if floats have one."""
    near = [math.exp(-value)]
    near += [np.nextafter(near[0], 0), np.nextafter(near[0], 1)]
    return next((float(delta) for delta in near if 0 < delta < 1 and -np.log(delta) == value), None)


def _least_at_the_level(m: float, shares: np.ndarray, parts: np.ndarray) -> Iterator[tuple[int, float]]:
    for n, value in _capitals(m, shares, parts, 200):
        delta = _reached_at(value)
        if delta is not None:
            yield n, delta


def test_a_capital_of_just_one_over_delta_is_enough() -> None:
    tried = 0
    for m in LEVELS:
        shares = np.append(FIXED_SHARES, MOST_STAKE)
        parts = np.append(np.full(len(FIXED_SHARES), FIXED_PART / len(FIXED_SHARES)), AIMING_PART)
        for n, delta in itertools.islice(_least_at_the_level(m, shares, parts), 5):
            assert least_by_batches(m, delta) == n
            tried += 1
        shares = np.append(FIXED_BET_SHARES, MOST_STAKE)
        parts = np.append(np.full(len(FIXED_BET_SHARES), 0.5 / len(FIXED_BET_SHARES)), 0.5)
        for n, delta in itertools.islice(_least_at_the_level(m, shares, parts), 5):
            assert least_anytime(m, delta) == n
            tried += 1
    assert tried > 20


def test_of_a_known_number_of_queries_too() -> None:
    known, tried = 200, 0
    shares = np.append(FIXED_SHARES, MOST_STAKE)[:, None]
    parts = np.append(np.full(len(FIXED_SHARES), FIXED_PART / len(FIXED_SHARES)), AIMING_PART)
    for m in LEVELS:
        level = known * m / (known - np.arange(known))
        inside = level[level < 1]
        growth = np.log1p(shares * inside / (1 - inside)).cumsum(axis=1)
        capitals = np.logaddexp.reduce(np.log(parts)[:, None] + growth, axis=0)
        for n, value in enumerate(capitals.tolist(), start=1):
            delta = _reached_at(value) if 0.1 < value < 30 else None
            if delta is not None:
                assert least_of_known(m, delta, known) == n
                tried += 1
    assert tried > 20


def test_a_chance_of_just_the_share_of_delta_is_enough() -> None:
    known, hurt = 100, 10
    for n in range(5, 40):
        log = _log_choose(np.array(known - n), np.array(hurt)) - _log_choose(known, np.array(hurt))
        none_hurt = float(np.exp(log))  # of n queries out of 100 of which 10 are hurt
        assert none_hurt == pytest.approx(math.comb(known - n, hurt) / math.comb(known, hurt), rel=1e-9)
        delta = none_hurt / AIMING_PART
        if delta * AIMING_PART == none_hurt and delta < 1:
            assert least_count_of_known(hurt / known, delta, known) == n
            assert least_count_of_known(hurt / known, delta * (1 - 1e-9), known) == n + 1


def test_a_loss_at_the_threshold_counts() -> None:
    losses, scores = np.array([0.0, 1.0, 0.0, 0.5, 0.0, 0.0]), np.arange(6.0)
    for threshold in scores.tolist():
        whole = betting_p(np.where(scores >= threshold, losses, 0.0), 0.4, 0.05)
        assert thresholded_p(losses, scores, [threshold], 0.4, 0.05)[0] == whole


@pytest.mark.parametrize(("level", "p"), [(0.0, 1.0), (1.0, 0.0)])
def test_no_mean_is_below_0_and_every_mean_is_at_most_1(level: float, p: float) -> None:
    never, always = np.zeros(300), np.ones(300)
    for x in (never, always):
        assert float(betting_p(x, level, 0.05)) == p
        assert float(stratified_p(x, level)) == p
        assert float(binomial_p(x.sum(), 300, level)) == p
        assert float(BatchBet.start(level, 0.05).after(x).p) == p
        assert float(CountBet.start(level, 0.05).after(x).p) == p
        assert float(anytime_capital(x, start_anytime(level, 0.05, 300)).p) == p


def test_a_tail_of_just_the_share_of_delta_may_be_bet_on() -> None:
    """Of the tails of the binomial, the greatest that is at most what the bet may spend."""
    for n, hurt, m in ((40, 1, 0.1), (80, 0, 0.05), (60, 3, 0.2)):
        tail = float(binomial_p(hurt, n, m))
        bet = CountBet.start(m, 0.05)
        assert float(bet._tails(n, np.array(0.0), np.array(tail))[1]) == tail
        assert float(bet._tails(n, np.array(0.0), np.array(np.nextafter(tail, 0)))[1]) < tail
        finite = CountBet.start(m, 0.05, known=500)
        tails = finite._tails(n, np.array(float(hurt)), np.array(1.0))[0]
        assert float(finite._tails(n, np.array(0.0), np.array(float(tails)))[1]) == float(tails)
