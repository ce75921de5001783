"""T_Risk: is the trade-off more than chance, and on which queries? (Dinçer et al., SIGIR 2014)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from surefoot.data.ranking import Floats
from surefoot.risk.tradeoff import STRETCH, paired_differences, weigh_losses


@dataclass(frozen=True)
class TTest:
    """T_Risk with its inference; all but `df` are None where the standard error is not defined, and `reason` says why.

    `trusted` is False where the jackknife's standard error parts from the usual one: then neither T nor p should be.
    """

    t: float | None
    p: float | None
    df: int
    se: float | None
    se_jackknife: float | None
    trusted: bool = True
    reason: str | None = None


@dataclass(frozen=True)
class QueryScores:
    """Standardised trade-off of each query, in two forms, and the value beyond which one is significant.

    `t_r` is x_q / s_x; `t_j`, the jackknife form that Dinçer et al. (2014) name topics by, is (x_q − x̄) / s_x.
    """

    t_r: Floats
    t_j: Floats
    critical: float


def t_risk(model: ArrayLike, baseline: ArrayLike, alpha: float = 0.0) -> float | None:
    """U_Risk over its standard error (Dinçer et al., SIGIR 2014, Eq. 10); at α = 0 the paired t statistic.

    None with a single query or where all weighted differences are equal, since there is no standard error then.

    >>> round(t_risk([0.5, 0.4, 0.6], [0.3, 0.3, 0.5], alpha=5), 6)
    4.0
    """
    return t_test(model, baseline, alpha).t


def t_test(model: ArrayLike, baseline: ArrayLike, alpha: float = 0.0) -> TTest:
    """T_Risk with its two-sided p-value, degrees of freedom and both standard errors (Dinçer et al., SIGIR 2014).

    At α = 0 this is the paired t-test of any two systems.

    >>> result = t_test([0.5, 0.4, 0.6], [0.3, 0.3, 0.5])
    >>> round(result.t, 6), round(result.p, 6), result.df
    (4.0, 0.057191, 2)
    """
    return weighted_test(paired_differences(model, baseline), alpha, _scale(model, baseline))


def query_scores(model: ArrayLike, baseline: ArrayLike, alpha: float = 0.0) -> QueryScores | None:
    """T_R and T_J of each query, None where the deviation s_x is not defined (Dinçer et al., SIGIR 2014, §5).

    >>> scores = query_scores([0.5, 0.4, 0.6], [0.3, 0.3, 0.5])
    >>> scores.t_r.round(3), round(scores.critical, 3)
    (array([3.464, 1.732, 1.732]), 4.303)
    """
    differences = paired_differences(model, baseline)
    found = _moments(differences, alpha)
    if undefined(differences, found, (1 + alpha) * _scale(model, baseline)):
        return None
    weighted, deviation = weigh_losses(differences, alpha), math.sqrt(found.squares / (len(differences) - 1))
    return QueryScores(
        t_r=weighted / deviation,
        t_j=(weighted - found.mean) / deviation,
        critical=critical_value(len(weighted)),
    )


def critical_value(queries: int, level: float = 0.05) -> float:
    """The two-sided critical value t_{1 − level/2, c − 1}."""
    return float(stdtrit(queries - 1, 1 - level / 2))


class Moments(NamedTuple):
    """Of weighted differences x_q: the mean, the sum of squared deviations from it, and the extremes."""

    mean: float
    squares: float
    lowest: float
    highest: float


def undefined(differences: Floats, found: Moments, scale: float) -> str | None:
    """Why the weighted differences x_q with these moments have no standard error, or None.

    They count as equal when they differ by no more than the rounding of numbers of that `scale`.
    """
    if len(differences) < 2:
        return "a single query has no standard error"
    # The second condition is for differences of 1e-200 or so, whose squares are 0.
    if found.highest - found.lowest > 16 * np.finfo(np.float64).eps * scale and found.squares > 0:
        return None
    return (
        "all queries differ from the baseline alike"
        if differences.any()
        else "identical to the baseline on every query"
    )


def weighted_test(differences: Floats, alpha: float, scale: float) -> TTest:
    """The test of the weighted differences x_q = f_α(δ_q); `scale` is the size of the scores δ_q came from."""
    queries = len(differences)
    found = _moments(differences, alpha)
    reason = undefined(differences, found, (1 + alpha) * scale)
    if reason:
        return TTest(None, None, queries - 1, None, None, reason=reason)
    se = math.sqrt(found.squares / (queries - 1) / queries)
    # The standard error again, from the means that leave one query out.
    without = _moments(differences, alpha, lambda part: (queries * found.mean - part) / (queries - 1))
    se_jackknife = math.sqrt((queries - 1) * without.squares / queries)
    t = found.mean / se
    p = float(2 * stdtr(queries - 1, -abs(t)))
    return TTest(t, p, queries - 1, se, se_jackknife, bool(np.isclose(se, se_jackknife, rtol=1e-6)))


def _moments(differences: Floats, alpha: float, of: Callable[[Floats], Floats] = np.asarray) -> Moments:
    """The moments of (a function of) x_q, merged from those of stretches (Chan et al., 1983)."""
    count, mean, squares, lowest, highest = 0, 0.0, 0.0, math.inf, -math.inf
    for start in range(0, len(differences), STRETCH):
        part = of(weigh_losses(differences[start : start + STRETCH], alpha))
        own = float(part.mean())
        apart, total = own - mean, count + len(part)
        squares += float(np.square(part - own).sum()) + apart * apart * count * len(part) / total
        mean += apart * len(part) / total
        lowest, highest = min(lowest, float(part.min())), max(highest, float(part.max()))
        count = total
    return Moments(mean, squares, lowest, highest)


def _scale(model: ArrayLike, baseline: ArrayLike) -> float:
    """The size of what the differences were computed from."""
    return float(max(np.abs(np.asarray(model)).max(), np.abs(np.asarray(baseline)).max()))
