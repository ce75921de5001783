"""The promise, end to end: for given traffic at the border, judged again and again, at most δ of the decisions ship.

With automatic judges of eight kinds, through `judge_next` and `gate`, in full in `benchmarks/guarantee.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from benchmarks.automatic_judges import KINDS, JudgedTraffic
from benchmarks.workflow import Traffic

import surefoot as sf
from surefoot.decide.gate import gate as gate_module

DELTA, SAMPLES, TRAFFICS = 0.05, 200, 4


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at how many queries would be needed here."""
    monkeypatch.setattr(gate_module, "queries_needed", lambda *_, **__: None)


def plain(traffic: Traffic, policy: dict[str, float], seed: int) -> bool:
    some = np.random.default_rng(seed).choice([*traffic.qrels], 80, replace=False).tolist()
    return sf.gate(traffic.judged(some), baseline="today", policy=policy).decision == "ship"


def drawn(traffic: Traffic, policy: dict[str, float], seed: int) -> bool:
    today, new = traffic.runs
    draws = sf.judge_next(
        {"today": today, "new": new},
        baseline="today",
        measure="RR@10",
        n=60,
        to_prove="gain" if "gain" in policy else "risk",
        seed=seed,
    )
    scores = traffic.judged([*draws.queries])
    return sf.gate(scores, baseline="today", policy=policy, sample=draws).decision == "ship"


@pytest.mark.heavy
@pytest.mark.parametrize("condition", ["risk", "gain"])
@pytest.mark.parametrize("ships", [plain, drawn])
def test_no_given_traffic_ships_falsely_more_often_than_delta(
    ships: Callable[[Traffic, dict[str, float], int], bool], condition: str
) -> None:
    rates = []
    for number in range(TRAFFICS):
        traffic = Traffic(number)
        policy = {condition: getattr(traffic, condition)}  # just at the border: every decision to ship is false
        rates.append(np.mean([ships(traffic, policy, seed) for seed in range(SAMPLES)]))
    # Of the worst of four traffics: 3 standard errors, at the level of one in four.
    assert max(rates) <= DELTA + (3 + math.log(TRAFFICS) / 3) * math.sqrt(DELTA * (1 - DELTA) / SAMPLES)
    lenient = {condition: 2.5 * traffic.risk if condition == "risk" else 2.5 * traffic.gain}
    assert np.mean([ships(traffic, lenient, seed) for seed in range(40)]) > 0.5  # so the test can fail


# With automatic judges.


@pytest.fixture(scope="module")
def judged_traffic() -> JudgedTraffic:
    return JudgedTraffic(0)


def most(samples: int) -> float:
    """5 % and three standard errors."""
    return DELTA + 3 * math.sqrt(DELTA * (1 - DELTA) / samples)


@pytest.mark.parametrize("condition", ["risk", "gain", "u_risk"])
def test_the_bets_alone_are_wrong_as_rarely_as_promised(judged_traffic: JudgedTraffic, condition: str) -> None:
    rng, runs = np.random.default_rng(1), 2000
    substituted = {}
    for kind in KINDS:
        rates = judged_traffic.rates(kind, condition, runs, rng)
        substituted[kind] = rates.pop("substituted")
        assert max(rates.values()) <= most(runs), (kind, rates)
    if condition == "risk":
        assert substituted["favours the candidate"] > 0.5  # who trusts the judge ships nearly always


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("condition", "samples"), [("risk", 60), ("gain", 20), ("u_risk", 20)])
def test_false_ships_are_as_rare_as_promised(
    judged_traffic: JudgedTraffic, kind: str, condition: str, samples: int
) -> None:
    shipped = [judged_traffic.ships(kind, condition, seed) for seed in range(samples)]
    assert np.mean(shipped) <= most(samples)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
def test_twenty_looks_ship_no_more(judged_traffic: JudgedTraffic, kind: str) -> None:
    samples = 4
    # Fixed seeds: with fresh ones, two of four would ship by chance in one build of twenty.
    shipped = [judged_traffic.ships_in_batches(kind, "risk", seed=1000 * sample) for sample in range(samples)]
    assert np.mean(shipped) <= most(samples)
