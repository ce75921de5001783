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
    return t_tests(weigh_losses(paired_differences(model, baseline), alpha)[None, :], _scale(model, baseline, alpha))[0]


def query_scores(model: ArrayLike, baseline: ArrayLike, alpha: float = 0.0) -> QueryScores | None:
    """T_R and T_J of each query, None where the deviation s_x is not defined (Dinçer et al., SIGIR 2014, §5).

    >>> scores = query_scores([0.5, 0.4, 0.6], [0.3, 0.3, 0.5])
    >>> scores.t_r.round(3), round(scores.critical, 3)
    (array([3.464, 1.732, 1.732]), 4.303)
    """
    weighted = weigh_losses(paired_differences(model, baseline), alpha)
    if undefined(weighted[None, :], _scale(model, baseline, alpha))[0]:
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


def undefined(weighted: Floats, scale: float) -> list[str | None]:
    """For each row of x_q why it has no standard error, or None.

    Values count as equal when they differ by no more than the rounding of scores of that `scale`.
    """
    if weighted.shape[1] < 2:
        return ["a single query has no standard error"] * len(weighted)
    equal = np.ptp(weighted, axis=1) <= 16 * np.finfo(np.float64).eps * scale
    same = [
        "identical to the baseline on every query" if not row.any() else "all queries differ from the baseline alike"
        for row in weighted
    ]
    return [reason if flat else None for reason, flat in zip(same, equal, strict=True)]


def t_tests(weighted: Floats, scale: float) -> list[TTest]:
    """A test for each row of weighted differences x_q; `scale` is the size of the scores they came from."""
    queries = weighted.shape[1]
    reasons = undefined(weighted, scale)
    if queries < 2:
        return [TTest(None, None, queries - 1, None, None, reason=reason) for reason in reasons]
    mean = weighted.mean(axis=1)
    se = weighted.std(axis=1, ddof=1) / np.sqrt(queries)
    se_jackknife = _jackknife(weighted)
    t = np.divide(mean, se, out=np.zeros_like(mean), where=se > 0)
    p = 2 * stdtr(queries - 1, -np.abs(t))
    trusted = np.isclose(se, se_jackknife, rtol=1e-6, atol=0)
    return [
        TTest(None, None, queries - 1, None, None, reason=reason)
        if reason
        else TTest(float(t[i]), float(p[i]), queries - 1, float(se[i]), float(se_jackknife[i]), bool(trusted[i]))
        for i, reason in enumerate(reasons)
    ]


def _jackknife(weighted: Floats) -> Floats:
    """Standard error of each row's mean from the means that leave one query out."""
    queries = weighted.shape[1]
    without = (weighted.sum(axis=1, keepdims=True) - weighted) / (queries - 1)
    without -= without.mean(axis=1, keepdims=True)
    return np.asarray(np.sqrt((queries - 1) / queries * np.square(without).sum(axis=1)))


def _scale(model: ArrayLike, baseline: ArrayLike, alpha: float) -> float:
    """The size of what the weighted differences were computed from."""
    return float((1 + alpha) * max(np.abs(np.asarray(model)).max(), np.abs(np.asarray(baseline)).max()))
