"""Z_Risk and GeoRisk: the formulas written out, and their edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import surefoot as sf
from surefoot.errors import ArgumentError


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 12), st.floats(0, 20))
def test_the_formulas_written_out(seed: int, r: int, c: int, alpha: float) -> None:
    X = np.random.default_rng(seed).random((r, c)).round(1)
    N = X.sum()
    z, geo = sf.z_risk(X, alpha), sf.geo_risk(X, alpha)
    for i in range(r):
        Z = 0.0
        for j in range(c):
            e = X[i].sum() * X[:, j].sum() / N if N else 0.0
            zij = (X[i, j] - e) / math.sqrt(e) if e > 0 else 0.0
            Z += zij if zij > 0 else (1 + alpha) * zij
        assert z[i] == pytest.approx(Z, abs=1e-8)
        assert geo[i] == pytest.approx(math.sqrt(X[i].mean() * norm.cdf(Z / c)), abs=1e-9)


@given(st.integers(0, 10**6), st.floats(0, 20))
def test_order_of_systems_and_queries_does_not_matter(seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((4, 9))
    rows, columns = rng.permutation(4), rng.permutation(9)
    np.testing.assert_allclose(sf.z_risk(X[rows][:, columns], alpha), sf.z_risk(X, alpha)[rows], atol=1e-9)


def test_one_system_meets_its_own_expectation() -> None:
    np.testing.assert_allclose(sf.risk.deviations([[0.1, 0.5, 0.0]]), 0, atol=1e-12)
    np.testing.assert_allclose(sf.geo_risk([[0.1, 0.5, 0.0]], 10), np.sqrt(0.2 * 0.5))


def test_columns_and_rows_of_zeros() -> None:
    X = [[0.2, 0.0, 0.4], [0.0, 0.0, 0.0]]
    assert sf.risk.deviations(X)[:, 1].tolist() == [0, 0]
    assert sf.z_risk(X, 5)[1] == 0
    assert sf.geo_risk(X, 5)[1] == 0
    assert sf.z_risk(np.zeros((2, 3))).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("X", "message"),
    [([0.1, 0.2], "systems × queries"), ([[np.nan]], "not finite"), ([[-0.1, 0.3]], "need scores of at least 0")],
)
def test_what_is_refused(X, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        sf.geo_risk(X)
