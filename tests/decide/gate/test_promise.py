"""The promise, end to end: for given traffic at the border, judged again and again, at most δ of the decisions ship."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from benchmarks.workflow import Traffic

import surefoot as sf
from surefoot.decide.gate import gate as gate_module

DELTA, SAMPLES, TRAFFICS = 0.05, 200, 4


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
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
