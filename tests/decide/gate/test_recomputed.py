"""Everything that a decision says besides its p-values, computed again from `per_query` alone, for random decisions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.decide.gate import sample_size
from surefoot.decide.options import RESAMPLES
from surefoot.risk.batches import BatchBet, CountBet

MOST = 260  # queries that are tried at most for `queries_needed`


def random_scores(seed: int, queries: int) -> sf.Scores:
    """Two systems whose scores often tie, and sometimes part far; or one that merely rounds worse."""
    rng = np.random.default_rng(seed)
    today = rng.integers(0, 6, queries) / 5
    change = rng.choice([0.0, 0.0, 0.05, -0.05, 0.4, -0.4, -1.0], queries, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.07, 0.03])
    return sf.Scores([today, np.clip(today + change, 0, 1)], ["today", "new"], [f"q{i}" for i in range(queries)], "AP")


def values(data: dict[str, Any], condition: dict[str, Any]) -> tuple[np.ndarray, float, float, float]:
    """A condition's x, its m, and how a mean becomes the figure."""
    held = data["per_query"]
    baseline, candidate = np.array(held["baseline"]), np.array(held["candidate"])
    difference, alpha = candidate - baseline, condition["alpha"] or 0.0
    if condition["name"] == "risk":
        return np.maximum(-difference, 0), condition["level"], 0.0, 1.0
    if condition["name"] == "share_hurt":
        hurt = (difference < -0.2 * (1 + 1e-9) * baseline) & (baseline > 0)
        return hurt.astype(float), condition["level"], 0.0, 1.0
    x = (1 - np.where(difference > 0, difference, (1 + alpha) * difference)) / (2 + alpha)
    return x, (1 - condition["level"]) / (2 + alpha), 1.0, -(2 + alpha)


def p_of(x: np.ndarray, levels: Any, delta: float, method: str) -> np.ndarray:
    bet = CountBet if method == "binomial" else BatchBet
    return bet.start(levels, delta, x.shape[:-1]).after(x).p


def bound_of(x: np.ndarray, m: float, delta: float, method: str) -> tuple[float, bool]:
    """The largest level above the mean that is not refuted, by two grids, and whether it agrees with p at m."""
    low, high = float(x.mean()), 1.0
    for power in (2, 1):
        levels = low + (high - low) * (np.arange(513) / 512) ** power
        kept = [place for place, p in enumerate(p_of(x, levels, delta, method)[:-1]) if p > delta]
        low, high = levels[kept[-1] if kept else 0], levels[(kept[-1] if kept else 0) + 1]
    if float(p_of(x, m, delta, method)) > delta:
        return max(high, m), True
    return (min(high, m), True) if low <= m else (high, False)


def needed_by(data: dict[str, Any], most: int) -> int | None:
    """The least number at which 80 % of resamples decide, searched for as the package says it is."""
    delta, share, judged = data["delta"], data["delta"] / len(data["conditions"]), data["queries"]

    def decided(n: int) -> float:
        rows = np.random.default_rng(0).integers(0, judged, (RESAMPLES, n))
        hold, fail = np.ones(RESAMPLES, bool), np.zeros(RESAMPLES, bool)
        for condition in data["conditions"]:
            x, m, _, _ = values(data, condition)
            drawn = x[rows]
            hold &= p_of(drawn, m, delta, condition["method"]) <= delta
            fail |= p_of(1 - drawn, 1 - m, share, condition["method"]) <= share
        return float((hold | fail).mean())

    most, low, high = max(most, 2 * judged), 0, max(8, judged // 8)
    while decided(high) < 0.8:
        if high >= most:
            return None
        low, high = high, min(most, 2 * high)
    while high > 1.05 * low and high - low > 1:
        middle = max(low + 1, min(high - 1, round(math.sqrt(max(1, low) * high))))
        low, high = (low, middle) if decided(middle) >= 0.8 else (middle, high)
    return high


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 120), st.sampled_from([0.02, 0.05, 0.15]))
def test_hurt_losses_bounds_and_queries_needed(seed: int, queries: int, level: float) -> None:
    policy = {"risk": level, "share_hurt": 2 * level, "gain": -level, "u_risk": {"alpha": 2, "above": -0.2}}
    before, sample_size.MOST_QUERIES_TRIED = sample_size.MOST_QUERIES_TRIED, MOST
    try:
        data = sf.gate(random_scores(seed, queries), baseline="today", policy=policy).to_dict()
    finally:
        sample_size.MOST_QUERIES_TRIED = before
    held = data["per_query"]
    rows = sorted(
        ((c - b, place) for place, (b, c) in enumerate(zip(held["baseline"], held["candidate"], strict=True)) if c < b)
    )
    assert data["hurt"] == len(rows)
    assert [one["query"] for one in data["most_hurt"]] == [held["query"][place] for _, place in rows[:20]]
    assert all(one["difference"] < 0 for one in data["most_hurt"])
    for condition in data["conditions"]:
        x, m, offset, scale = values(data, condition)
        method = condition["method"]
        (most, holds), (least, fails) = (
            bound_of(x, m, data["delta"], method), bound_of(1 - x, 1 - m, data["delta_fails"], method)
        )  # fmt: skip
        assert condition["observed"] == pytest.approx(offset + scale * x.mean(), abs=1e-12)
        assert condition["bound"] == pytest.approx(offset + scale * most, abs=1e-9)
        assert condition["bound_fails"] == pytest.approx(offset + scale * (1 - least), abs=1e-9)
        holds &= condition["p_holds"] <= data["delta"]
        fails &= condition["p_fails"] <= data["delta_fails"]
        assert condition["status"] == ("fails" if fails else "holds" if holds else "open")
    if data["decision"] == "undecided":
        assert data["queries_needed"] == needed_by(data, MOST)
    else:
        assert data["queries_needed"] is None


def test_queries_needed_of_conditions_that_fail() -> None:
    """The share of δ that a refutation gets decides how many are needed: with six conditions the sixth of it."""
    lost = np.zeros(80)
    lost[:9] = 0.5
    scores = sf.Scores([np.ones(80), 1 - lost], ["today", "new"], [f"q{i}" for i in range(80)], "AP")
    policy = {"risk": 0.03, "share_hurt": 0.9, "gain": -0.5, "u_risk": {"alpha": 1, "above": -0.9}}
    decision = sf.gate(scores, baseline="today", policy=policy).to_dict()
    assert decision["decision"] == "undecided"
    assert decision["queries_needed"] == needed_by(decision, 10_000)


def test_a_drawn_query_is_hurt_once() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    today = sf.read_run({query: ["a", "b"] for query in qrels}, "today")
    new = sf.read_run({query: ["b", "a"] for query in qrels}, "new")
    draws = sf.judge_next({"today": today, "new": new}, baseline="today", measure="RR@10", n=40, seed=0)
    data = sf.gate(
        sf.score(qrels, [today, new], "RR@10"), baseline="today", policy={"risk": 0.9}, sample=draws
    ).to_dict()
    assert data["queries"] == 40
    assert data["hurt"] == len(data["most_hurt"]) == len(draws.queries) == 6
