"""Z_Risk and GeoRisk: risk against what a population of systems leads one to expect (Dinçer et al., SIGIR 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr

from surefoot.arrays import LARGEST_SCORE, Floats
from surefoot.errors import ArgumentError
from surefoot.risk.tradeoff import weigh_losses
from surefoot.risk.vectors import CHUNK


@dataclass(frozen=True)
class ChiSquare:
    """G² of a score matrix, its degrees of freedom and, if the scores are counts, the upper tail's probability.

    On other scores G² is not χ²-distributed, and depends on their scale: `p` is None then, and `reason` says why.
    """

    value: float
    df: int
    p: float | None
    reason: str | None = None


def expected(X: ArrayLike) -> Floats:
    """e_ij = S_i·T_j / N: a system's total spread over queries as the population's is (Eq. 5).

    >>> expected([[0.1, 0.3], [0.3, 0.5]]).round(4)
    array([[0.1333, 0.2667],
           [0.2667, 0.5333]])
    """
    scores = score_matrix(X)
    totals = scores.sum(axis=1, keepdims=True)
    return expectation(totals, totals.sum(), scores.sum(axis=0))


def deviations(X: ArrayLike) -> Floats:
    """z_ij = (x_ij − e_ij) / √e_ij, 0 where nothing is expected.

    >>> deviations([[0.1, 0.3], [0.3, 0.5]]).round(4)
    array([[-0.0913,  0.0645],
           [ 0.0645, -0.0456]])
    """
    scores = score_matrix(X)
    return deviation(scores, expected(scores))


def deviation_sums(X: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Of each row: the sum of its deviations above 0, of those below, and of all their squares."""
    scores = score_matrix(X)
    row_totals = scores.sum(axis=1)[:, np.newaxis]
    sums = np.zeros((3, len(scores)))
    for start in range(0, scores.shape[1], CHUNK):
        part = scores[:, start : start + CHUNK]
        z = deviation(part, expectation(row_totals, row_totals.sum(), part.sum(axis=0)))
        sums += np.maximum(z, 0).sum(axis=1), np.minimum(z, 0).sum(axis=1), np.square(z).sum(axis=1)
    above, below, squares = sums
    return above, below, squares


def expectation(system_total: ArrayLike, grand_total: ArrayLike, query_total: ArrayLike) -> Floats:
    """e = S_i / N · T_j from a system's total S_i, all systems' N and a query's T_j; 0 where there is nothing."""
    system_total, grand_total = np.asarray(system_total, dtype=np.float64), np.asarray(grand_total, dtype=np.float64)
    share = np.divide(
        system_total, grand_total, out=np.zeros(np.broadcast(system_total, grand_total).shape), where=grand_total > 0
    )
    return np.asarray(share * query_total)


def deviation(scores: Floats, expectations: Floats) -> Floats:
    """z = (x − e) / √e, 0 where nothing is expected."""
    root = np.sqrt(expectations)
    return np.asarray(np.divide(scores - expectations, root, out=np.zeros_like(expectations), where=root > 0))


def z_risk(X: ArrayLike, alpha: float = 0.0) -> Floats:
    """Sum of each system's deviations from expectation, those below it weighted 1 + α (Eq. 6); one value per row.

    >>> z_risk([[0.4, 0.35, 0.3, 0.25, 0.2], [0.05, 0.15, 0.3, 0.45, 0.55]]).round(4)
    array([ 0.1141, -0.1141])
    """
    return np.asarray(weigh_losses(deviations(X), alpha).sum(axis=1))


def geo_risk(X: ArrayLike, alpha: float = 0.0) -> Floats:
    """√(S_i/c · Φ(Z_Risk/c)): effectiveness and robustness in one number (Eq. 7); one value per row.

    >>> geo_risk([[0.4, 0.35, 0.3, 0.25, 0.2], [0.05, 0.15, 0.3, 0.45, 0.55]], alpha=5).round(4)
    array([0.316 , 0.2883])
    """
    scores = score_matrix(X)
    return geo_risk_of_means(scores.mean(axis=1), z_risk(scores, alpha) / scores.shape[1])


def geo_risk_of_means(mean: Floats, mean_deviation: Floats) -> Floats:
    """GeoRisk from a system's mean effectiveness S/c and mean weighted deviation Z/c."""
    return np.asarray(np.sqrt(mean * ndtr(mean_deviation)))


def g_squared(X: ArrayLike) -> ChiSquare:
    """Σ z²: how far the systems' profiles over queries differ, with (r − 1)(c − 1) degrees of freedom (Eq. 4).

    It has a p-value only for counts, such as numbers of clicks.

    >>> g_squared([[0.4, 0.35, 0.3, 0.25, 0.2], [0.05, 0.15, 0.3, 0.45, 0.55]]).df
    4
    """
    scores = score_matrix(X)
    return chi_square(deviation_sums(scores)[2], scores.shape[1], are_counts(scores))


def are_counts(scores: Floats) -> bool:
    """Whether all scores are whole numbers; zeros and ones alone are shares of success, not counts."""
    return bool((scores == np.rint(scores)).all()) and float(scores.max()) > 1


def chi_square(squares: Floats, queries: int, counts: bool) -> ChiSquare:
    """G² from each row's sum of squared deviations, of so many queries, whose scores may be counts."""
    value, df = float(squares.sum()), (len(squares) - 1) * (queries - 1)
    if not df:
        return ChiSquare(value, df, None, "one system or one query leaves no degrees of freedom")
    if not counts:
        return ChiSquare(value, df, None, "G² follows χ² for counts only, and these scores are not counts")
    return ChiSquare(value, df, float(chdtrc(df, value)))


def score_matrix(X: ArrayLike) -> Floats:
    """X as a systems × queries matrix of scores that expectations can be taken of."""
    scores = np.asarray(X, dtype=np.float64)
    if scores.ndim != 2 or not scores.size:
        raise ArgumentError(f"X must be a systems × queries matrix, found shape {scores.shape}")
    if not (scores.min() >= -LARGEST_SCORE and scores.max() <= LARGEST_SCORE):
        raise ArgumentError(
            f"X holds a value that is not finite or beyond ±{LARGEST_SCORE:g}; every system needs a score on "
            "every query"
        )
    if scores.min() < 0:
        raise ArgumentError(f"X holds {scores.min():g}; Z_Risk and GeoRisk need scores of at least 0")
    return scores
