"""σ from preferences: it is found, its interval covers, and what cannot be told is said."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.types.preferences import PreferencePairs
from surefoot.errors import ArgumentError, MeasureError
from surefoot.measures.sigma import _Likelihood


@pytest.mark.heavy
def test_sigma_is_found_and_its_interval_covers() -> None:
    covered, widths = 0, []
    for seed in range(3):
        fit = sf.fit_sigma(sf.demo.preferences(20_000, sigma=0.2, seed=seed))
        assert fit.converged
        assert fit.n == 20_000
        covered += fit.interval[0] <= 0.2 <= fit.interval[1]
        widths.append((fit.interval[1] - fit.interval[0]) / 2)
        assert fit.log_likelihood >= fit.curve[1].max()
        assert 0.03 < fit.standard_error < 0.08
    assert covered >= 2
    assert np.median(widths) <= 0.12


def test_the_interval_ends_where_the_likelihood_has_fallen_by_half_of_chi_squares_quantile() -> None:
    pairs = sf.demo.preferences(4000, seed=1)
    fit, likelihood = sf.fit_sigma(pairs), _Likelihood(pairs, "log2", 5)
    ends = [end for end in fit.interval if end is not None]
    assert ends
    for end in ends:
        assert fit.log_likelihood - likelihood(end)[0] == pytest.approx(1.92073, abs=1e-3)


def test_the_likelihoods_gradient_agrees_with_finite_differences() -> None:
    likelihood = _Likelihood(sf.demo.preferences(500, seed=3), "log2", 5)
    for sigma in (0.05, 0.2, 1.0):
        step = 1e-5
        high, low = (likelihood(sigma * np.exp(d))[0] for d in (step, -step))
        assert likelihood.slope(sigma) == pytest.approx((high - low) / (2 * step), abs=1e-5)


def test_lists_of_other_scores_and_lengths() -> None:
    rng = np.random.default_rng(0)
    pairs = PreferencePairs.of(
        [
            (sorted(rng.random(a), reverse=True), rng.integers(0, 3, a).tolist(),
             sorted(rng.random(b), reverse=True), rng.integers(0, 3, b).tolist(), "AB"[rng.integers(2)])
            for a, b in rng.integers(1, 6, (300, 2))
        ]
    )  # fmt: skip
    one, two = _Likelihood(pairs, "log2", None), _Likelihood(pairs, "log2", 5)
    assert one(0.3)[0] == pytest.approx(two(0.3)[0])
    assert np.isfinite(one(0.3)).all()


def test_what_the_data_cannot_tell_is_said() -> None:
    flat = sf.fit_sigma(sf.demo.preferences(20, seed=0))
    assert (flat.converged, flat.sigma, flat.interval, flat.standard_error) == (False, None, None, None)
    assert "20 pairs cannot tell one σ from another" in flat.message
    # Always preferring the ideal list drives σ to 0, the opposite to infinity.
    good, bad = ([0.9, 0.6, 0.3], [2, 1, 0]), ([0.9, 0.6, 0.3], [0, 1, 2])
    sharp = sf.fit_sigma(PreferencePairs.of([(*good, *bad, "A")] * 500))
    assert not sharp.converged
    assert "at the edge" in sharp.message
    assert "smaller σ may be better" in sharp.message
    blunt = sf.fit_sigma(PreferencePairs.of([(*good, *bad, "B")] * 500))
    assert "larger σ may be better" in blunt.message


def test_bad_arguments() -> None:
    pairs = sf.demo.preferences(10)
    with pytest.raises(ArgumentError, match="dcg is 'linear'"):
        sf.fit_sigma(pairs, dcg="linear")
    with pytest.raises(MeasureError, match="lower bound of sigma is 0"):
        sf.fit_sigma(pairs, bounds=(0, 1))
    with pytest.raises(ArgumentError, match="the first must be below the second"):
        sf.fit_sigma(pairs, bounds=(2, 1))
    with pytest.raises(ArgumentError, match="equal scores throughout"):
        sf.fit_sigma(PreferencePairs.of([([0.5, 0.5], [1, 0], [0.5, 0.5], [0, 1], "A")]))
    with pytest.raises(ArgumentError, match="pairs is a list"):
        sf.fit_sigma([])  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match="sigma is 0"):
        sf.demo.preferences(3, sigma=0)
    for wrong, message in (
        ({"n": 2.5}, "n is 2.5; it must be a whole number"),
        ({"n": 3, "length": True}, "length is True"),
        ({"n": 3, "seed": -1}, "seed is -1"),
        ({"n": 3, "dcg": "linear"}, "dcg is 'linear'"),
        ({"n": 3, "sigma": True}, "sigma is True: it is not a number"),
        ({"n": 3, "sigma": 10**400}, "must be a finite number above 0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            sf.demo.preferences(**wrong)
    with pytest.raises(ArgumentError, match="n is 0"):
        sf.demo.preferences(0)
