"""Criteria against the risk measures themselves, and what must be known of all queries, added up over machines."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.arrays import Floats
from surefoot.learn.criteria import Criterion, history_figures
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.objectives import Objective

OBJECTIVES = [
    Objective("gain"), Objective("u_risk", 5), Objective("saro", 5), Objective("saro", 5, estimate="first"),
    Objective("faro", 5), Objective("geo_risk", 5), Objective("geo_risk"),
]  # fmt: skip


class Machines:
    """Machines that meet whenever one of them has sums to add up; `seen` are the results, in order."""

    def __init__(self, count: int) -> None:
        self._meeting = threading.Barrier(count, timeout=60)
        self._sums: list[Floats | None] = [None] * count
        self.seen: list[Floats] = []

    def reduce(self, machine: int) -> Callable[[Floats], Floats]:
        def together(sums: Floats) -> Floats:
            self._sums[machine] = sums
            self._meeting.wait()
            total = np.sum(np.array(self._sums), axis=0)
            if self._meeting.wait() == 0:
                self.seen.append(total)
            return total

        return together


def gradients(
    objective: Objective, lengths: Floats, labels: Floats, scores: Floats, baselines: Floats, reduce: Callable
) -> list[tuple[Floats, Floats]]:
    """Those of three iterations, from other scores each."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    target = MeasuredQueries("nDCG@5", labels, offsets, np.arange(len(labels)), threads=1)
    lambdas = Lambdas(objective, target, baselines, reduce=reduce)
    return [lambdas(each) for each in (np.zeros(len(labels)), scores, -scores)]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: f"{o.name}-{o.alpha:g}-{o.estimate}")
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), queries=st.integers(2, 20), data=st.data())
def test_the_totals_of_two_halves_are_those_of_the_whole(objective: Objective, seed: int, queries: int, data) -> None:
    rng = np.random.default_rng(seed)
    cut = data.draw(st.integers(1, queries - 1))
    lengths = rng.integers(1, 9, queries)
    row = lengths[:cut].sum()
    labels = rng.integers(0, 4, lengths.sum()).astype(float)
    scores = rng.random(len(labels))
    baselines = rng.random((3, queries))
    alone: list[Floats] = []

    def keep(sums: Floats) -> Floats:
        alone.append(sums)
        return sums

    undivided = gradients(objective, lengths, labels, scores, baselines, keep)
    machines = Machines(2)
    with ThreadPoolExecutor(2) as pool:
        halves = [
            pool.submit(gradients, objective, lengths[q], labels[r], scores[r], baselines[:, q], machines.reduce(n))
            for n, (q, r) in enumerate([(slice(cut), slice(row)), (slice(cut, None), slice(row, None))])
        ]
        parts = [half.result() for half in halves]
    assert len(machines.seen) == len(alone) == _sums_of(objective)
    for together, one in zip(machines.seen, alone, strict=True):
        np.testing.assert_allclose(together, one, rtol=1e-12, atol=1e-12)
    for expected, *halves_of_it in zip(undivided, *parts, strict=True):
        for which in (0, 1):
            joined = np.concatenate([part[which] for part in halves_of_it])
            np.testing.assert_allclose(joined, expected[which], rtol=1e-5, atol=1e-6)


def _sums_of(objective: Objective) -> int:
    """How often three iterations add up: never twice for one sum, and s_x no more once it is kept."""
    if objective.name == "geo_risk":
        return 3 * 2
    if objective.name in ("saro", "faro"):
        return 3 if objective.estimate == "each" else 2
    return 0


@pytest.mark.parametrize("text", ["effectiveness", "u_risk@5", "t_risk@2", "geo_risk@5"])
@pytest.mark.parametrize("cut", [0, 1, 7, 20])
def test_criteria_and_histories_of_two_machines_are_those_of_the_whole(text: str, cut: int) -> None:
    """One of the two may have no query at all."""
    rng = np.random.default_rng(cut)
    values, baselines = rng.random(20), rng.random((3, 20))
    criterion = Criterion.parse(text)

    def both(reduce: Callable, part: slice) -> tuple[float, dict[str, float]]:
        own = values[part], baselines[:, part]
        return criterion(*own, reduce), history_figures(*own, reduce)

    alone_found = criterion(values, baselines), history_figures(values, baselines)
    machines = Machines(2)
    with ThreadPoolExecutor(2) as pool:
        halves = [pool.submit(both, machines.reduce(n), part) for n, part in enumerate((slice(cut), slice(cut, None)))]
        for half in halves:
            score, history = half.result()
            assert score == pytest.approx(alone_found[0], rel=1e-12)
            assert history == pytest.approx(alone_found[1], rel=1e-12)


BASELINES = np.array([[0.1, 0.6, 0.5, 0.2], [0.3, 0.2, 0.9, 0.4]])
MODEL = np.array([0.5, 0.3, 0.8, 0.1])  # δ against the mean: 0.3, −0.1, 0.1, −0.2


def test_each_criterion_is_the_models_at_its_alpha() -> None:
    mean = BASELINES.mean(axis=0)
    assert Criterion.parse("effectiveness")(MODEL, BASELINES) == pytest.approx(0.425)
    assert Criterion.parse("u_risk@5")(MODEL, BASELINES) == pytest.approx((0.4 - 6 * 0.3) / 4)
    assert Criterion.parse("t_risk@5")(MODEL, BASELINES) == pytest.approx(sf.t_risk(MODEL, mean, 5))
    population = sf.geo_risk(np.vstack([BASELINES, MODEL]), 5)
    assert len(set(population.round(6))) == 3  # no row stands for another
    assert Criterion.parse("geo_risk@5")(MODEL, BASELINES) == pytest.approx(population[2])


@pytest.mark.parametrize("name", ["u_risk", "t_risk", "geo_risk"])
def test_alpha_matters(name: str) -> None:
    low, high = (Criterion.parse(f"{name}@{alpha}")(MODEL, BASELINES) for alpha in (0, 5))
    assert high < low


def test_a_model_equal_to_its_baseline_has_no_t() -> None:
    assert Criterion.parse("t_risk@5")(BASELINES[0], BASELINES[:1]) == 0.0


def test_figures_are_against_the_mean_of_the_baselines() -> None:
    assert history_figures(MODEL, BASELINES) == pytest.approx(
        {"effectiveness": 0.425, "reward": 0.1, "risk": 0.075, "wins": 2, "losses": 2}
    )
    assert history_figures(MODEL, None) == {"effectiveness": pytest.approx(0.425)}
