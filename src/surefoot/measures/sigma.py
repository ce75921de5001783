"""σ of SoftNDCG from preferences: the scale of near ties that best agrees with people (Li et al., CIKM 2009).

P(A ≻ B) = 1/(1 + exp(SoftNDCG_B − SoftNDCG_A)); σ is found by maximum likelihood, on log σ, with the analytic
gradient. Differences of SoftNDCG are small, so a preference says little: thousands are needed.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.preferences import PreferencePairs, read_preferences
from surefoot.errors import ArgumentError
from surefoot.measures.effectiveness import discounts, gains, ratio
from surefoot.measures.notation import check_choice
from surefoot.measures.rank_binomial import check_sigma, rank_distribution
from surefoot.significance import SIGNIFICANCE

_CELLS = 1 << 16  # (document, contest) cells handled at once, so that memory does not grow with the pairs
_CURVE_POINTS = 33


@dataclass(frozen=True)
class SigmaFit:
    """σ with how sure it is; `curve` holds the σ tried and their log-likelihoods.

    Where the data cannot tell (`converged` is false) σ, its error and interval are None and `message` says why.
    """

    sigma: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    log_likelihood: float
    curve: tuple[Floats, Floats]
    converged: bool
    message: str
    n: int


def soft_ndcg_gradient(
    scores: Floats, grades: Floats, sigma: float, *, dcg: str = "log2", cutoff: int | None = None
) -> tuple[Floats, Floats]:
    """SoftNDCG of lists [list, rank] and its derivative in σ; the ideal is each list's own best order.

    >>> value, slope = soft_ndcg_gradient(np.array([[0.6, 0.4]]), np.array([[1.0, 0.0]]), sigma=0.2)
    >>> value.round(6), slope.round(4)
    (array([0.911515]), array([-0.4054]))
    """
    weight, ideal = _gains_and_ideal(grades, dcg, cutoff)
    value, slope = _weighted_discounts(np.ascontiguousarray(scores.T), np.ascontiguousarray(weight.T), sigma, cutoff)
    return ratio(value, ideal), ratio(slope, ideal)


def _weighted_discounts(scores: Floats, weight: Floats, sigma: float, cutoff: int | None) -> tuple[Floats, Floats]:
    """Σ_j w_j Σ_r D(r)·P_j(r) of lists [document, list], and its derivative in σ."""
    n, lists = scores.shape
    value, slope = np.empty(lists), np.empty(lists)
    discount = discounts(n, cutoff)[: n if cutoff is None else cutoff]
    step = max(1, _CELLS // (n * n))
    for start in range(0, lists, step):
        part = slice(start, start + step)
        p, dp = rank_distribution(scores[:, part], sigma, cutoff)
        value[part] = np.einsum("jl,jl->l", np.einsum("jrl,r->jl", p, discount), weight[:, part])
        slope[part] = np.einsum("jl,jl->l", np.einsum("jrl,r->jl", dp, discount), weight[:, part])
    return value, slope


def _gains_and_ideal(grades: Floats, dcg: str, cutoff: int | None) -> tuple[Floats, Floats]:
    weight = np.where(grades > 0, gains(np.maximum(grades, 0.0), dcg), 0.0)
    return weight, np.asarray(-np.sort(-weight, axis=1) @ discounts(grades.shape[1], cutoff))


def fit_sigma(
    pairs: PreferencePairs | str | os.PathLike[str],
    *,
    dcg: str = "log2",
    cutoff: int | None = 5,
    bounds: tuple[float, float] | None = None,
) -> SigmaFit:
    """σ by maximum likelihood from preference pairs, with its standard error, 95 % interval and likelihood curve.

    Scores are taken as they are; give percentiles if SoftNDCG will see percentiles. `pairs` may be a file with the
    columns `pair, list, rank, score, grade, preferred`, one line per result.
    The standard error is from the observed information; the interval holds every σ whose likelihood is within
    chance of the best (likelihood ratio). σ is looked for within `bounds`, by default 1/100 to 20 times
    the usual spread of a list's scores.

    >>> from surefoot.demo import preferences
    >>> fit = fit_sigma(preferences(4000, sigma=0.2, seed=1))
    >>> fit.converged, 0.05 < fit.sigma < 0.6
    (True, True)
    """
    if not isinstance(pairs, PreferencePairs | str | os.PathLike):
        raise ArgumentError(f"pairs is a {type(pairs).__name__}; give PreferencePairs, or the file of pairs")
    pairs = pairs if isinstance(pairs, PreferencePairs) else read_preferences(pairs)
    likelihood = _Likelihood(pairs, dcg, cutoff)
    low, high = _bounds(pairs, bounds)
    grid = np.geomspace(low, high, _CURVE_POINTS)
    heights = np.array([likelihood(sigma)[0] for sigma in grid])
    best = int(np.argmax(heights))

    def unsure(message: str) -> SigmaFit:
        return SigmaFit(None, None, None, float(heights[best]), (grid, heights), False, message, len(pairs))

    if np.ptp(heights) < _margin():
        return unsure(
            f"{len(pairs):,} pairs cannot tell one σ from another: the log-likelihood varies by {np.ptp(heights):.2g} "
            f"between σ = {low:.3g} and {high:.3g}; collect more pairs, or lists whose order matters more"
        )
    if best in (0, len(grid) - 1):
        way, end = ("falls", "smaller") if best == 0 else ("rises", "larger")
        return unsure(
            f"the best σ is at the edge of the range, {grid[best]:.3g}, and a {end} σ may be better: between {low:.3g} "
            f"and {high:.3g}, the likelihood only {way} with σ. Use wider bounds=. If that does not help, these "
            "preferences do not follow SoftNDCG"
        )
    sigma = _peak(likelihood, grid[best - 1], grid[best + 1])
    height, _ = likelihood(sigma)
    step = 1e-3  # of log σ
    information = (likelihood.slope(sigma * math.exp(-step)) - likelihood.slope(sigma * math.exp(step))) / (2 * step)
    if not information > 0:
        return unsure(f"the likelihood is flat around its best, σ = {sigma:.3g}; collect more pairs")
    error = sigma / math.sqrt(information)
    interval = (
        _crossing(likelihood, height, sigma, grid[grid < sigma][::-1], heights[grid < sigma][::-1]),
        _crossing(likelihood, height, sigma, grid[grid > sigma], heights[grid > sigma]),
    )
    open_ends = [end for end, bound in (("below", interval[0]), ("above", interval[1])) if bound is None]
    message = "maximum found" + (f"; the interval is open {' and '.join(open_ends)}" if open_ends else "")
    lower = 0.0 if interval[0] is None else interval[0]
    upper = math.inf if interval[1] is None else interval[1]
    return SigmaFit(sigma, error, (lower, upper), height, (grid, heights), True, message, len(pairs))


class _Likelihood:
    """Log-likelihood of preferences and its derivative, of σ."""

    def __init__(self, pairs: PreferencePairs, dcg: str, cutoff: int | None) -> None:
        check_choice("dcg", dcg)
        sign = np.where(pairs.preferred == 0, 1.0, -1.0)
        # Lists that show the same scores have the same rank distribution: of each pair's scores one copy is enough.
        same = np.array_equal(pairs.scores[:, 0], pairs.scores[:, 1])
        weight, ideal = _gains_and_ideal(pairs.grades.reshape(-1, pairs.grades.shape[2]), dcg, cutoff)
        share = ratio(weight, np.broadcast_to(ideal[:, None], weight.shape)).reshape(pairs.grades.shape)
        share = share * np.stack([sign, -sign], axis=1)[:, :, None]
        scores = pairs.scores[:, :1] if same else pairs.scores
        share = share.sum(axis=1, keepdims=True) if same else share
        self._scores, self._share = (
            np.ascontiguousarray(values.transpose(2, 1, 0)).reshape(values.shape[2], -1) for values in (scores, share)
        )
        self._pairs = len(pairs)
        self._cutoff = cutoff

    def __call__(self, sigma: float) -> tuple[float, float]:
        """The log-likelihood at σ and its derivative in log σ."""
        from scipy.special import expit, log_expit

        ahead, slope = _weighted_discounts(self._scores, self._share, sigma, self._cutoff)
        difference = ahead.reshape(-1, self._pairs).sum(axis=0)
        change = slope.reshape(-1, self._pairs).sum(axis=0)
        return float(log_expit(difference).sum()), float((expit(-difference) * change).sum() * sigma)

    def slope(self, sigma: float) -> float:
        """The derivative in log σ."""
        return self(sigma)[1]


def _bounds(pairs: PreferencePairs, bounds: tuple[float, float] | None) -> tuple[float, float]:
    if bounds is not None:
        low, high = (
            check_sigma(bounds[0], "the lower bound of sigma"),
            check_sigma(bounds[1], "the upper bound of sigma"),
        )
        if not low < high:
            raise ArgumentError(f"bounds are {bounds}; the first must be below the second")
        return low, high
    finite = np.where(np.isneginf(pairs.scores), np.nan, pairs.scores)
    spread = float(np.median(np.nanmax(finite, axis=2) - np.nanmin(finite, axis=2)))
    if not (math.isfinite(spread) and spread > 0):
        raise ArgumentError(
            "most lists have equal scores throughout, so preferences cannot tell σ; give bounds= or scores"
        )
    return spread / 100, spread * 20


def _peak(likelihood: _Likelihood, low: float, high: float) -> float:
    """Where the derivative vanishes between two σ around the best of the grid (Brent's method)."""
    from scipy.optimize import brentq

    def slope(log_sigma: float) -> float:
        return likelihood.slope(math.exp(log_sigma))

    a, b = math.log(low), math.log(high)
    if slope(a) <= 0 or slope(b) >= 0:  # a second bump within the bracket: the derivative misleads, heights do not
        from scipy.optimize import minimize_scalar

        optimum = minimize_scalar(lambda at: -likelihood(math.exp(at))[0], bounds=(a, b), method="bounded")
        return math.exp(float(optimum.x))
    return math.exp(float(brentq(slope, a, b, xtol=1e-6)))


def _margin() -> float:
    """How far below its maximum a log-likelihood is still within chance of it: half of χ² at one degree of freedom."""
    from scipy.special import ndtri

    return float(ndtri(1 - SIGNIFICANCE / 2) ** 2 / 2)


def _crossing(likelihood: _Likelihood, height: float, sigma: float, grid: Floats, heights: Floats) -> float | None:
    """Where, going outwards from the peak, the likelihood falls out of the interval; None if it never does."""
    from scipy.optimize import brentq

    level = height - _margin()
    inside = sigma
    for outside, outside_height in zip(grid.tolist(), heights.tolist(), strict=True):
        if outside_height < level:
            a, b = math.log(inside), math.log(outside)
            return math.exp(float(brentq(lambda at: likelihood(math.exp(at))[0] - level, a, b, xtol=1e-4)))
        inside = outside
    return None
