"""The rank distribution against enumeration, its limits, its gradient, and a draw of the scores themselves."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import MeasureError
from surefoot.measures.rank_binomial import rank_distribution
from surefoot.measures.sigma import soft_ndcg_gradient

scores_of = st.lists(st.floats(0, 1), min_size=1, max_size=8)
sigmas = st.floats(0.02, 3)


def chances(scores: Any, sigma: float, cutoff: int | None = None) -> np.ndarray:
    """The rank distribution without its derivative."""
    return rank_distribution(scores, sigma, cutoff)[0]


def enumerated(scores: list[float], sigma: float) -> np.ndarray:
    """Every one of the 2^(n−1) outcomes of a document's contests, with its chance."""
    n = len(scores)
    p = np.zeros((n, n))
    for j in range(n):
        others = [scores[i] for i in range(n) if i != j]
        lost_to = [0.5 * math.erfc((scores[j] - s) / (2 * sigma)) for s in others]
        for outcome in itertools.product((0, 1), repeat=n - 1):
            p[j, sum(outcome)] += math.prod(c if lost else 1 - c for c, lost in zip(lost_to, outcome, strict=True))
    return p


@pytest.mark.parametrize("n", range(1, 11))
def test_equals_enumeration_of_all_outcomes(n: int) -> None:
    scores = np.random.default_rng(n).random(n)
    scores[n // 2 :: 3] = scores[0]  # ties among them
    np.testing.assert_allclose(chances(scores, 0.2), enumerated(scores.tolist(), 0.2), atol=1e-13)


@given(scores_of, sigmas)
def test_rows_sum_to_one(scores: list[float], sigma: float) -> None:
    p = chances(scores, sigma)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)


@given(scores_of, sigmas, st.randoms())
def test_the_order_of_adding_does_not_matter(scores: list[float], sigma: float, random) -> None:
    order = list(range(len(scores)))
    random.shuffle(order)
    shuffled = chances([scores[i] for i in order], sigma)
    np.testing.assert_allclose(shuffled, chances(scores, sigma)[order], atol=1e-12)


@given(scores_of, sigmas, st.integers(1, 8))
def test_a_cutoff_keeps_the_first_ranks(scores: list[float], sigma: float, cutoff: int) -> None:
    np.testing.assert_array_equal(chances(scores, sigma, cutoff), chances(scores, sigma)[:, :cutoff])


def test_limits_of_sigma() -> None:
    scores = [0.9, 0.5, 0.7, 0.1]
    np.testing.assert_array_equal(chances(scores, 1e-9), np.eye(4)[[0, 2, 1, 3]])
    binomial = [math.comb(3, r) / 8 for r in range(4)]
    np.testing.assert_allclose(chances(scores, 1e9), [binomial] * 4, atol=1e-9)
    # Equal scores stay a toss-up whatever σ: the limit is no tie rule.
    np.testing.assert_array_equal(chances([0.5, 0.5], 1e-9), [[0.5, 0.5], [0.5, 0.5]])


def test_extremes_do_not_overflow() -> None:
    np.testing.assert_array_equal(chances([1.7e308, -1.7e308], 1e-300), np.eye(2))
    np.testing.assert_allclose(chances([1.5e308, -1.5e308], 1.5e308)[0, 0], 0.5 * math.erfc(-1.0), rtol=1e-14)
    np.testing.assert_array_equal(chances([3.0], 0.2), [[1.0]])
    assert np.isfinite(rank_distribution([1e300, -1e300, 0.0], 0.2)[1]).all()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.floats(0.05, 2))
def test_the_gradient_agrees_with_finite_differences(scores: list[float], sigma: float) -> None:
    _, slope = rank_distribution(scores, sigma)
    step = 1e-5 * sigma
    numeric = (chances(scores, sigma + step) - chances(scores, sigma - step)) / (2 * step)
    np.testing.assert_allclose(slope, numeric, atol=1e-5)


def test_the_gradient_of_soft_ndcg_agrees_with_finite_differences() -> None:
    rng = np.random.default_rng(5)
    scores, grades = rng.random((200, 5)), rng.integers(0, 5, (200, 5)).astype(float)
    for form, cutoff in (("log2", 5), ("exp-log2", 3), ("log2", None)):
        for sigma in (0.05, 0.2, 1.0):
            _, slope = soft_ndcg_gradient(scores, grades, sigma, dcg=form, cutoff=cutoff)
            step = 1e-5 * sigma
            high, low = (
                soft_ndcg_gradient(scores, grades, at, dcg=form, cutoff=cutoff)[0]
                for at in (sigma + step, sigma - step)
            )
            np.testing.assert_allclose(slope, (high - low) / (2 * step), atol=1e-5)


def draw_ranks(scores: np.ndarray, sigma: float, draws: int) -> np.ndarray:
    """How often each document stands at each rank when scores are drawn from their normal distributions."""
    rng = np.random.default_rng(0)
    noisy = scores + sigma * rng.standard_normal((draws, len(scores)))
    ranks = np.argsort(np.argsort(-noisy, axis=1), axis=1)
    return np.stack([np.bincount(column, minlength=len(scores)) / draws for column in ranks.T])


def test_a_monte_carlo_draw_agrees_for_two_documents() -> None:
    draws = 400_000
    for scores in ([0.6, 0.4], [0.51, 0.5], [0.9, 0.1]):
        p = chances(scores, 0.2)
        error = np.sqrt(p * (1 - p) / draws)
        assert (np.abs(draw_ranks(np.array(scores), 0.2, draws) - p) < 4 * error + 1e-9).all()


def test_a_monte_carlo_draw_parts_for_more_as_the_note_says() -> None:
    # Contests of one document are not independent: they share its own noise. So real ranks spread wider.
    scores = np.array([0.9, 0.7, 0.5, 0.3, 0.1])
    gap = draw_ranks(scores, 0.2, 200_000) - chances(scores, 0.2)
    assert 0.04 < np.abs(gap).max() < 0.08


@pytest.mark.parametrize("sigma", [0, -1, math.nan, math.inf, "x", True, None])
def test_sigma_must_be_a_number_above_zero(sigma: object) -> None:
    with pytest.raises(MeasureError, match="sigma is"):
        chances([0.5, 0.4], sigma)  # type: ignore[arg-type]
