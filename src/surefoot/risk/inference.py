"""T_Risk: is the trade-off more than chance, and on which queries? (Dinçer et al., SIGIR 2014)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from surefoot.data.ranking import Floats
from surefoot.risk.tradeoff import paired_differences, weigh_losses


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
    return weighted_test(weigh_losses(paired_differences(model, baseline), alpha), _scale(model, baseline, alpha))


def query_scores(model: ArrayLike, baseline: ArrayLike, alpha: float = 0.0) -> QueryScores | None:
    """T_R and T_J of each query, None where the deviation s_x is not defined (Dinçer et al., SIGIR 2014, §5).

    >>> scores = query_scores([0.5, 0.4, 0.6], [0.3, 0.3, 0.5])
    >>> scores.t_r.round(3), round(scores.critical, 3)
    (array([3.464, 1.732, 1.732]), 4.303)
    """
    weighted = weigh_losses(paired_differences(model, baseline), alpha)
    if undefined(weighted, _scale(model, baseline, alpha)):
        return None
    deviation = weighted.std(ddof=1)
    return QueryScores(
        t_r=weighted / deviation,
        t_j=(weighted - weighted.mean()) / deviation,
        critical=critical_value(len(weighted)),
    )


def critical_value(queries: int, level: float = 0.05) -> float:
    """The two-sided critical value t_{1 − level/2, c − 1}."""
    return float(stdtrit(queries - 1, 1 - level / 2))


def undefined(weighted: Floats, scale: float) -> str | None:
    """Why weighted differences x_q have no standard error, or None.

    Values count as equal when they differ by no more than the rounding of scores of that `scale`.
    """
    if len(weighted) < 2:
        return "a single query has no standard error"
    # The second condition is for differences of 1e-200 or so, whose squares are 0.
    if np.ptp(weighted) > 16 * np.finfo(np.float64).eps * scale and weighted.std(ddof=1) > 0:
        return None
    return (
        "all queries differ from the baseline alike" if weighted.any() else "identical to the baseline on every query"
    )


def weighted_test(weighted: Floats, scale: float) -> TTest:
    """The test of weighted differences x_q; `scale` is the size of the scores they came from."""
    df = len(weighted) - 1
    reason = undefined(weighted, scale)
    if reason:
        return TTest(None, None, df, None, None, reason=reason)
    se = float(weighted.std(ddof=1) / np.sqrt(len(weighted)))
    se_jackknife = _jackknife(weighted)
    t = float(weighted.mean()) / se
    return TTest(t, float(2 * stdtr(df, -abs(t))), df, se, se_jackknife, bool(np.isclose(se, se_jackknife, rtol=1e-6)))


def _jackknife(weighted: Floats) -> float:
    """Standard error of the mean from the means that leave one query out."""
    queries = len(weighted)
    without = (weighted.sum() - weighted) / (queries - 1)
    return float(np.sqrt((queries - 1) * without.var()))


def _scale(model: ArrayLike, baseline: ArrayLike, alpha: float) -> float:
    """The size of what the weighted differences were computed from."""
    return float((1 + alpha) * max(np.abs(np.asarray(model)).max(), np.abs(np.asarray(baseline)).max()))
