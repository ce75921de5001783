"""The search for a threshold: just what the rule says, and that what it certifies is true as often as promised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.proof import ConditionEvidence
from surefoot.decide.guard.thresholds import (
    MOST_SCORES_TRIED,
    Calibration,
    curve,
    find_threshold,
    fixed_quantiles,
    passing,
    thresholds_for,
)
from surefoot.errors import ArgumentError
from surefoot.risk.betting import anytime_columns, betting_p, betting_p_columns, start_anytime

LEVEL, DELTA = 0.02, 0.05


def calibration(scores: Any, differences: Any, level: float = LEVEL) -> Calibration:
    found = np.asarray(differences, np.float64)
    evidence = ConditionEvidence(ConditionRule("risk", level), np.maximum(-found, 0), 0.0, 1.0, "betting")
    return Calibration(np.asarray(scores, np.float64), found, np.ones(len(found)), (evidence,), DELTA)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([60, 150, 300]), st.floats(0.02, 0.3))
def test_the_search_is_the_rule_written_out(seed: int, n: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(n), 2)  # some are equal
    differences = np.where(rng.random(n) < 0.6, 0, rng.uniform(-0.3, 0.5, n))
    found = find_threshold(calibration(scores, differences, level=level), scores)
    best, best_gain, certified = None, 0.0, 0
    thresholds = np.array(sorted(set(scores), reverse=True))
    every = betting_p(np.maximum(-differences, 0) * (scores >= thresholds[:, None]), level, DELTA)
    for threshold, p in zip(thresholds, every, strict=True):
        shown = scores >= threshold
        if p > DELTA:
            break
        certified += 1
        gain = float((differences * shown).sum() / n)
        if gain > best_gain + 1e-12:
            best, best_gain = threshold, gain
    assert (found.threshold, found.certified, found.tried) == (best, certified, len(set(scores)))
    assert found.gain == pytest.approx(best_gain, abs=1e-12)


def test_a_candidate_that_gains_nothing_is_not_shown() -> None:
    found = find_threshold(calibration(np.arange(300.0), np.zeros(300)), np.arange(300.0))
    assert (found.threshold, found.certified, found.gain) == (None, 300, 0.0)


def test_up_to_5000_queries_every_score_and_beyond_that_what_other_queries_fixed() -> None:
    scores = np.arange(MOST_SCORES_TRIED, dtype=float)
    assert thresholds_for(scores, np.array([1.0])) is scores
    more = np.arange(MOST_SCORES_TRIED + 1, dtype=float)
    assert thresholds_for(more, np.array([1.0])).tolist() == [1.0]
    with pytest.raises(ArgumentError, match="call fit_scorer on other queries first"):
        thresholds_for(more, None)
    assert len(fixed_quantiles(np.random.default_rng(0).random(20_000))) == 1000
    assert fixed_quantiles(np.array([3.0, 1.0, 1.0])).tolist() == [1.0, 3.0]


def test_passing_stops_at_the_first_that_fails() -> None:
    assert passing(np.array([[0.01, 0.2, 0.01], [0.01, 0.02, 0.05]]), 0.05).tolist() == [1, 3]


def test_the_curve_only_rises() -> None:
    rng = np.random.default_rng(3)
    made = calibration(rng.random(500), rng.normal(0.02, 0.1, 500))
    gains = [point["gain"] for point in curve(made, {"risk": LEVEL}, 1.0)]
    assert gains == sorted(gains)


# Validity: scores are uniform and losses come with them, so that R(λ) = 0.04·(1 − λ) and the border lies at ½.

_COINS: dict[str, tuple[list[float], list[float]]] = {
    "0 or 1": ([0.0, 1.0], [0.96, 0.04]),
    "0 or 0.5": ([0.0, 0.5], [0.92, 0.08]),
    "0, 0.05 or 1": ([0.0, 0.05, 1.0], [0.58, 0.4, 0.02]),
}


def drawn(coin: str, runs: int, n: int, times: float, seed: int) -> tuple[Any, Any]:
    """Losses and scores of runs × n queries; `times` scales how often a loss comes."""
    values, chances = _COINS[coin]
    scaled = np.array([1 - times * sum(chances[1:]), *(times * chance for chance in chances[1:])])
    rng = np.random.default_rng(seed)
    return rng.choice(values, size=(runs, n), p=scaled), rng.random((runs, n))


def reached(losses: Any, scores: Any, thresholds: Any) -> Any:
    """For each run the lowest threshold that the search certifies, 2 where it is none."""
    p = betting_p_columns(gated(losses, scores, thresholds), losses.shape[1], LEVEL, DELTA, thresholds.shape)
    return lowest(p, thresholds)


def opened(losses: Any, scores: Any, thresholds: Any) -> Any:
    """The same where thresholds open query by query; what was open once stays open, so the end says what ever was."""
    state = start_anytime(LEVEL, DELTA, losses.shape[1], thresholds.shape)
    return lowest(anytime_columns(gated(losses, scores, thresholds), state).p, thresholds)


def gated(losses: Any, scores: Any, thresholds: Any) -> Iterator[Any]:
    for loss, score in zip(losses.T, scores.T, strict=True):
        yield loss[:, None] * (thresholds <= score[:, None])


def lowest(p: Any, thresholds: Any) -> Any:
    count = passing(p, DELTA)
    return np.where(count > 0, np.take_along_axis(thresholds, np.maximum(count - 1, 0)[:, None], 1)[:, 0], 2.0)


def empirical(losses: Any, scores: Any, thresholds: Any) -> Any:
    """The same by the plain rule: as far as the observed risk allows."""
    risk = np.stack([(losses * (scores >= one[:, None])).mean(axis=1) for one in thresholds.T], axis=1)
    return lowest((risk > LEVEL).astype(float), thresholds)


def searched(coin: str, runs: int, n: int, times: float, every: bool, search: Any = reached, seed: int = 11) -> Any:
    found = []
    for start in range(0, runs, 1000):
        losses, scores = drawn(coin, min(1000, runs - start), n, times, seed + start)
        # The first unsafe one lies close to the border; of many queries fewer thresholds are tried, to save time.
        grid = np.linspace(0.98, 0, 50) if n < 5000 else np.array([0.98, 0.9, 0.8, 0.7, 0.6, 0.55, 0.51, 0.494, 0.2, 0])
        near = np.where((grid < 0.499) & (n < 5000), grid + 0.015, grid)
        fixed = np.tile(near, (len(losses), 1))
        thresholds = -np.sort(-scores, axis=1) if every else fixed
        found.append(search(losses, scores, thresholds))
    return np.concatenate(found)


def check_valid(coin: str, runs: int, n: int, every: bool) -> None:
    most = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / runs)
    assert (searched(coin, runs, n, 1.0, every) < 0.5).mean() <= most
    assert (searched(coin, runs, n, 1.0, every, empirical) < 0.5).mean() >= 0.3  # so that the test can fail
    if n >= 5000:  # at half the border, which fewer queries do not tell from it, nearly all is found to be safe
        assert (searched(coin, runs // 4, n, 0.25, every) <= 0.03).mean() >= 0.8


def test_what_is_certified_is_true_as_often_as_promised() -> None:
    check_valid("0, 0.05 or 1", 300, 300, every=True)


_SIZES = [(300, 4_000, True), (300, 20_000, False), (1000, 20_000, False), (5000, 20_000, False)]


@pytest.mark.heavy
@pytest.mark.parametrize(("n", "runs", "every"), _SIZES)
@pytest.mark.parametrize("coin", _COINS)
def test_the_same_with_more_runs_and_queries(coin: str, n: int, runs: int, every: bool) -> None:
    check_valid(coin, runs, n, every)


@pytest.mark.heavy
@pytest.mark.parametrize("n", [300, 1000])
@pytest.mark.parametrize("coin", _COINS)
def test_thresholds_that_open_query_by_query_are_never_too_open(coin: str, n: int) -> None:
    runs = 4_000
    most = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / runs)
    assert (searched(coin, runs, n, 1.0, False, opened) < 0.5).mean() <= most


def test_the_simulated_search_is_the_one_that_guards_use() -> None:
    losses, scores = drawn("0, 0.05 or 1", 20, 300, 1.0, seed=5)
    simulated = reached(losses, scores, -np.sort(-scores, axis=1))
    for loss, score, lowest in zip(losses, scores, simulated, strict=True):
        found = find_threshold(calibration(score, -loss), score)
        assert found.certified == (score >= lowest).sum()
