"""κ and α by slow loops, and judges who agree by definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import ArgumentError
from surefoot.risk.judge_agreement import cohen_kappa, confusion, krippendorff_alpha

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


def slow_kappa(first: list[int], second: list[int], power: float) -> float | None:
    def weight(one: float, other: float) -> float:
        return float(one != other) if power == 0 else abs(one - other) ** power

    observed = sum(weight(one, other) for one, other in zip(first, second, strict=True)) / len(first)
    chance = sum(weight(one, other) for one in first for other in second) / len(first) ** 2
    return None if chance == 0 else 1 - observed / chance


@given(pairs, st.sampled_from([("none", 0), ("linear", 1), ("quadratic", 2)]))
def test_kappa_is_the_formula(rated: list[tuple[int, int]], kind: tuple) -> None:
    first, second = map(list, zip(*rated, strict=True))
    found, slow = cohen_kappa(*confusion(first, second), kind[0]), slow_kappa(first, second, kind[1])
    assert found == (None if slow is None else pytest.approx(slow))


def slow_alpha(ratings: np.ndarray, power: int) -> float | None:
    """Over all ordered pairs of ratings of one document, and of ratings anywhere."""

    def apart(one: float, other: float) -> float:
        return float(one != other) if power == 0 else abs(one - other) ** power

    documents = [[value for value in column if not np.isnan(value)] for column in ratings.T]
    documents = [values for values in documents if len(values) > 1]
    everything = [value for values in documents for value in values]
    if not everything:
        return None
    n = len(everything)
    observed = (
        sum(
            sum(apart(one, other) for one, other in itertools.permutations(values, 2)) / (len(values) - 1)
            for values in documents
        )
        / n
    )
    chance = sum(apart(one, other) for one, other in itertools.permutations(everything, 2)) / (n * (n - 1))
    return None if chance == 0 else 1 - observed / chance


@given(st.integers(2, 4), st.integers(1, 12), st.integers(0, 2**32), st.sampled_from([("nominal", 0), ("interval", 2)]))
def test_alpha_is_the_formula(judges: int, documents: int, seed: int, kind: tuple) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.integers(0, 3, (judges, documents)).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    found, slow = krippendorff_alpha(ratings, kind[0]), slow_alpha(ratings, kind[1])
    assert found == (None if slow is None else pytest.approx(slow, abs=1e-9))


def test_krippendorffs_own_example() -> None:
    """Four observers and twelve units (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", C)."""
    n = np.nan
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
        [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    ]
    assert krippendorff_alpha(ratings, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(ratings, "interval") == pytest.approx(0.849, abs=5e-4)


def test_the_same_grade_everywhere_divides_by_nothing() -> None:
    assert cohen_kappa(*confusion([1, 1], [1, 1])) is None
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1, np.nan], [np.nan, 1]]) is None
    assert cohen_kappa(*confusion([1, 0], [1, 0]), "quadratic") == 1.0


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(ArgumentError, match="same documents"):
        confusion([], [])
    with pytest.raises(ArgumentError, match="same documents"):
        confusion([1], [1, 2])
