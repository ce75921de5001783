"""What weights do to outcomes and intervals, by simulation: small versions of benchmarks/weighted_outcomes.py."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.weighted_outcomes import (
    BAR,
    INDEPENDENT,
    MEAN_BAR,
    correlated_samples,
    generated,
    independent_samples,
    rates,
)

from surefoot.report.notes import UNEVEN, few_queries, too_few_of
from surefoot.risk.inference import weighted_test

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("alpha", [0, 1, 5])
@pytest.mark.parametrize("kind", INDEPENDENT)
def test_outcomes_of_systems_that_balance(kind: str, alpha: float) -> None:
    runs = 150
    each = [
        rates(independent_samples(population, INDEPENDENT[kind], alpha, 2000, runs, seed), alpha)
        for seed, population in enumerate(generated().values())
    ]
    spread = 3 * np.sqrt(BAR * (1 - BAR) / runs)
    assert np.mean([one.false for one in each]) <= MEAN_BAR + spread / np.sqrt(len(each))
    assert max(one.false for one in each) <= BAR + spread
    assert min(one.covered for one in each) >= 0.935


@pytest.mark.parametrize("queries", [200, 2000])
def test_where_frequent_queries_differ_more_the_caution_says_how_often_outcomes_are_false(queries: int) -> None:
    for seed, population in enumerate(generated().values()):
        found = rates(correlated_samples(population, 1.0, 0.5, 5, queries, 150, seed), 5)
        assert found.false <= 0.16
        assert "up to 16 % of such results are false" in (too_few_of(queries, found.effective, 5) or "")
        assert few_queries(found.effective, 0) is None
        assert found.effective < UNEVEN.queries


@pytest.mark.parametrize("alpha", [0, 5])
def test_repeated_queries_claim_several_times_as_many_as_were_judged(alpha: float) -> None:
    rng = np.random.default_rng(alpha)
    population = np.where(rng.random(20_000) < 0.4, 0.0, rng.normal(0.03, 0.15, 20_000))
    weights = np.ceil(3 * np.exp(rng.normal(0, 0.7, 20_000)))
    x = np.where(population > 0, population, (1 + alpha) * population)
    truth = float(weights @ x / weights.sum())
    covered = np.zeros(2)
    for _ in range(1000):
        drawn = rng.integers(0, 20_000, 200)
        delta, w = population[drawn], weights[drawn]
        tests = (
            weighted_test(delta, alpha, 1.0, w / w.mean()),
            weighted_test(np.repeat(delta, w.astype(int)), alpha, 1.0),
        )
        covered += [low <= truth <= high for low, high in (test.interval or (0, 0) for test in tests)]
    by_weights, by_repeating = covered / 1000
    assert by_weights >= 0.94
    assert by_repeating < 0.80
