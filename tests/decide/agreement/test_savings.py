"""The draws that a judge saves: exact values, by the formulas written once more with plain loops over queries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from tests.decide.agreement.test_agreement import IDS, JUDGE, PEOPLE, RUNS

import surefoot as sf
from surefoot.decide.agreement import agreement as savings_module
from surefoot.decide.agreement.agreement import _weights, draws_needed
from surefoot.measures.worst_case import check_bounded
from surefoot.risk.batches import CountBet, p_of_batch

DELTA = 0.05
SHARES = np.array([0.01 * 99 ** (k / 19) for k in range(20)])[:, None]


def slow_p(h: np.ndarray, m: float, a: np.ndarray | None, moments: tuple[float, ...]) -> np.ndarray:
    """p of each row of draws by the gate's bet, one draw after the other."""
    rows, n = h.shape
    aiming, fixed, peak = np.ones(rows), np.ones((20, rows)), np.ones(rows)
    sums, squares = np.zeros(rows), np.zeros(rows)
    mean, variance, least = moments
    together, apart_squared = np.full(rows, 10 * variance), np.full(rows, 20 * variance)
    for i in range(1, n + 1):
        x, room = h[:, i - 1], 1 - m
        if a is not None and variance > 0:
            apart = a[:, i - 1] - mean
            weight = np.clip(together / apart_squared, 0, 1.5)
            together, apart_squared = together + (x - m) * apart, apart_squared + apart**2
            x, room = x - weight * apart, room + weight * (mean - least)
        wanted = np.maximum((1 / DELTA - 0.1 * fixed.mean(axis=0)) / (0.9 * aiming), 1e-300)
        spread = (5 * m * (1 - m) / 2 + squares) / (5 + i - 1)
        stake = np.minimum(0.99 / room, np.sqrt(2 * np.maximum(0, np.log(wanted)) / ((n - i + 1) * spread)))
        aiming = aiming * (1 + stake * (m - x))
        fixed = fixed * (1 + SHARES * (m - x) / room)
        sums = sums + x
        squares = squares + (x - (5 * m + sums) / (5 + i)) ** 2
        peak = np.maximum(peak, 0.9 * aiming + 0.1 * fixed.mean(axis=0))
    return np.minimum(1, 1 / peak)


def slow_exact_p(h: np.ndarray, m: float) -> np.ndarray:
    """The same of losses that are 0 or 1: the binomial tail takes 0.9 of δ, and the bets what it leaves."""
    n, p = h.shape[1], []
    tails = binom.cdf(np.arange(n + 1), n, m)
    greatest = max((tail for tail in tails.tolist() if tail <= 0.9 * DELTA), default=0.0)
    for hurt in h.sum(axis=1).astype(int).tolist():
        bets = np.mean((1 + SHARES * m / (1 - m)) ** (n - hurt) * (1 - SHARES) ** hurt)
        p.append(min(1.0, tails[hurt] / 0.9, 1 / ((1 - greatest / DELTA) * bets)))
    return np.array(p)


def slow_draws(
    h: list[float], weights: list[float], m: float, a: list[float] | None = None, *, exact: bool = False
) -> int | None:
    """From 8 draws on twice as many until 4 of 5 samples prove the level; then between, until 3 % apart."""
    share = np.array(weights) / sum(weights)
    samples = np.random.default_rng(0).choice(len(h), (200, 4_000), p=share)
    moments = (0.0, 0.0, 0.0)
    if a is not None:
        mean = sum(chance * value for chance, value in zip(share, a, strict=True))
        variance = sum(chance * (value - mean) ** 2 for chance, value in zip(share, a, strict=True))
        moments = (mean, 0.0 if variance < 1e-20 else variance, min(a))

    def proves(n: int) -> bool:
        people = np.array(h)[samples[:, :n]]
        if exact and moments[1] == 0:
            p = slow_exact_p(people, m)
        else:
            p = slow_p(people, m, None if a is None else np.array(a)[samples[:, :n]], moments)
        return int((p <= DELTA).sum()) >= 160

    low, high = 0, 8
    while not proves(high):
        if high == 4_000:
            return None
        low, high = high, min(2 * high, 4_000)
    while high - low > 1 and high > 1.03 * low:
        middle = high // 2 if low == 0 else min(high - 1, max(low + 1, round(math.sqrt(low * high))))
        low, high = (low, middle) if proves(middle) else (middle, high)
    return high


def precision(judgments: Any, documents: list[str], query: str, depth: int) -> float:
    return sum(judgments[query].get(document, 0) > 0 for document in documents[:depth]) / depth


@pytest.mark.parametrize(("depth", "times"), [(1, 1.4), (1, None), (2, 1.4), (2, 3.0), (2, None)])
def test_savings_are_what_slow_loops_give(depth: int, times: float | None) -> None:
    h, a, weights, losses = [], [], [], []
    for query in IDS:
        today, new = RUNS["today"][query], RUNS["new"][query]
        by_people, by_judge = (
            max(0.0, precision(own, today, query, depth) - precision(own, new, query, depth)) for own in (PEOPLE, JUDGE)
        )
        could_lose = len({*today[:depth]} - {*new[:depth]}) / depth
        losses.append(by_people)
        weights.append(could_lose)
        if could_lose > 0:
            h.append(by_people / could_lose)
            a.append(by_judge / could_lose)
    observed = sum(losses) / len(losses)
    level = 2 * observed if times is None else times * observed
    m = level / (sum(weights) / len(weights))
    drawn = [weight for weight in weights if weight > 0]
    options = {"measure": f"P@{depth}", "baseline": "today"} | ({} if times is None else {"risk": level})
    savings = sf.judge_agreement(PEOPLE, automatic=JUDGE, runs=RUNS, **options).to_dict()["comparison"]["savings"]
    assert savings["level"] == pytest.approx(level)
    assert savings["alone"] == slow_draws(h, drawn, m, exact=depth == 1)
    assert savings["with_judge"] == slow_draws(h, drawn, m, a, exact=depth == 1)


def test_losses_and_weights_of_any_size() -> None:
    rng = np.random.default_rng(6)
    people = np.where(rng.random(150) < 0.2, rng.random(150) / 2, 0.0)
    judge, weights = np.clip(people + rng.normal(0, 0.1, 150), 0, 1), rng.random(150) + 0.05
    for m in (0.07, 0.1, 0.3):
        for a in (None, judge, np.full(150, 0.25)):
            slow = slow_draws(people.tolist(), weights.tolist(), m, None if a is None else a.tolist())
            assert draws_needed(people, weights, m, DELTA, a) == slow


def test_a_p_of_just_delta_proves_and_just_the_share_of_samples_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is lost all samples say the same; δ is the very p that so many draws reach."""
    none, even = np.zeros(40), np.ones(40)

    def alone(n: int) -> float:
        return float(p_of_batch(np.zeros(n), 0.1, 0.05))

    def counted(n: int) -> float:
        return float(CountBet.start(0.1, 0.05).after(np.zeros(n)).p)

    def first(p_of: Callable[[int], float], exact: bool) -> None:
        n = next(n for n in range(9, 100) if p_of(n) <= DELTA)
        found = draws_needed(none, even, 0.1, DELTA, exact=exact)
        assert n <= found <= max(n + 1, 1.03 * n)

    first(alone, False)
    first(counted, True)
    # A p that is δ itself, whatever the bet: it proves.
    monkeypatch.setattr(savings_module, "p_of_batch", lambda h, *_: np.full(len(h), DELTA))
    assert draws_needed(none, even, 0.1, DELTA) == 1
    monkeypatch.setattr(savings_module, "p_of_batch", lambda h, *_: np.where(np.arange(len(h)) < 160, DELTA, 1.0))
    assert draws_needed(none, even, 0.1, DELTA) == 1
    monkeypatch.setattr(savings_module, "p_of_batch", lambda h, *_: np.where(np.arange(len(h)) < 159, DELTA, 1.0))
    assert draws_needed(none, even, 0.1, DELTA) is None


def test_a_count_whose_p_is_just_delta_proves(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bet:
        @staticmethod
        def start(*_: object) -> type[Bet]:
            return Bet

        @staticmethod
        def after(h: np.ndarray) -> Bet:
            bet = Bet()
            bet.p = np.full(len(h), DELTA)
            return bet

        p: np.ndarray

    monkeypatch.setattr(savings_module, "CountBet", Bet)
    assert draws_needed(np.zeros(40), np.ones(40), 0.1, DELTA, exact=True) == 1


def test_a_level_that_is_the_risk_itself_saves_nothing_and_one_that_is_the_worst_needs_nothing() -> None:
    options = {"measure": "P@2", "baseline": "today"}
    risk = sf.judge_agreement(PEOPLE, automatic=JUDGE, runs=RUNS, **options).to_dict()["comparison"]["risk"]["people"]

    def reason(level: float) -> str | None:
        return sf.judge_agreement(PEOPLE, automatic=JUDGE, runs=RUNS, **options, risk=level).to_dict()["comparison"][
            "savings"
        ]["reason"]

    assert reason(risk) == "the risk is not below the level"
    assert reason(risk * (1 + 1e-9)) is None
    runs = {name: sf.read_run(run, name) for name, run in RUNS.items()}
    worst = float(_weights(runs["new"], runs["today"], check_bounded("P@2"), IDS).mean())
    assert "differ so little" in reason(worst)
    assert reason(worst * (1 - 1e-9)) is None
