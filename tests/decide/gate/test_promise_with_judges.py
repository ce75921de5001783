"""What is promised with automatic judges of eight kinds, end to end through `judge_next` and `gate`; in full in
`benchmarks/guarantee.py`."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from automatic_judges import KINDS, JudgedTraffic

DELTA = 0.05


def most(samples: int) -> float:
    """5 % and three standard errors."""
    return DELTA + 3 * math.sqrt(DELTA * (1 - DELTA) / samples)


@pytest.fixture(scope="module")
def traffic() -> JudgedTraffic:
    return JudgedTraffic(0)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at how many queries would be needed here."""
    monkeypatch.setattr("surefoot.decide.gate.gate.queries_needed", lambda *_, **__: None)


@pytest.mark.parametrize("condition", ["risk", "gain", "u_risk"])
def test_the_bets_alone_are_wrong_as_rarely_as_promised(traffic: JudgedTraffic, condition: str) -> None:
    rng, runs = np.random.default_rng(1), 2000
    substituted = {}
    for kind in KINDS:
        rates = traffic.rates(kind, condition, runs, rng)
        substituted[kind] = rates.pop("substituted")
        assert max(rates.values()) <= most(runs), (kind, rates)
    if condition == "risk":
        assert substituted["favours the candidate"] > 0.5  # who trusts the judge ships nearly always


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("condition", "samples"), [("risk", 60), ("gain", 20), ("u_risk", 20)])
def test_false_ships_are_as_rare_as_promised(traffic: JudgedTraffic, kind: str, condition: str, samples: int) -> None:
    shipped = [traffic.ships(kind, condition, seed) for seed in range(samples)]
    assert np.mean(shipped) <= most(samples)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
def test_twenty_looks_ship_no_more(traffic: JudgedTraffic, kind: str) -> None:
    samples = 4
    # Fixed seeds: with fresh ones, two of four would ship by chance in one build of twenty.
    shipped = [traffic.ships_in_batches(kind, "risk", seed=1000 * sample) for sample in range(samples)]
    assert np.mean(shipped) <= most(samples)
