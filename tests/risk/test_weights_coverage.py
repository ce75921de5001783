"""What weights do to inference, by simulation: repeating queries is wrong, and intervals hold where no caution is."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.data.reading.traffic import effective_queries
from surefoot.report.few_queries import UNEVEN
from surefoot.risk.inference import weighted_test

pytestmark = pytest.mark.heavy


def coverage(queries: int, alpha: float, spread: float, samples: int = 1500) -> tuple[float, float, float]:
    """How often the interval of U contains it: by weights, and by repeated queries; and c_eff."""
    rng = np.random.default_rng([queries, int(alpha), int(10 * spread)])
    population = np.where(rng.random(20_000) < 0.4, 0.0, rng.normal(0.03, 0.15, 20_000))
    weights = np.ceil(3 * np.exp(rng.normal(0, spread, 20_000)))
    x = np.where(population > 0, population, (1 + alpha) * population)
    truth = float(weights @ x / weights.sum())
    by_weights, by_repeating, effective = 0, 0, 0.0
    for _ in range(samples):
        drawn = rng.integers(0, 20_000, queries)
        delta, w = population[drawn], weights[drawn]
        low, high = weighted_test(delta, alpha, 1.0, w / w.mean()).interval or (0, 0)
        by_weights += low <= truth <= high
        low, high = weighted_test(np.repeat(delta, w.astype(int)), alpha, 1.0).interval or (0, 0)
        by_repeating += low <= truth <= high
        effective += effective_queries(w)
    return by_weights / samples, by_repeating / samples, effective / samples


@pytest.mark.parametrize("alpha", [0, 5])
@pytest.mark.parametrize("queries", [50, 200])
def test_intervals_contain_the_truth_or_a_caution_says_why_not(queries: int, alpha: float) -> None:
    for spread in (0.4, 0.7):
        by_weights, by_repeating, effective = coverage(queries, alpha, spread)
        assert by_weights >= 0.92 or effective < UNEVEN.queries, (by_weights, effective)
        assert by_repeating < 0.80  # it claims several times as many queries as were judged
        assert by_weights > by_repeating + 0.1
