"""T_Risk: is the trade-off more than chance, and on which queries? (Dinçer et al., SIGIR 2014)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from surefoot.arrays import Floats
from surefoot.risk.influence import Influence, InfluenceSums, influence_of
from surefoot.risk.tradeoff import paired_differences, weigh_losses
from surefoot.risk.vectors import blocks, dot
from surefoot.significance import SIGNIFICANCE

Numbers = TypeVar("Numbers", float, Floats)


@dataclass(frozen=True)
class TTest:
    """T_Risk with its inference; all but `df` and `trusted` are None without a standard error, and `reason` says why.

    `t`, `p` and `se` are the paper's. Weighing losses makes the x_q skewed, and then Student's t calls chance a reward
    too often; `t_skewness`, `p_skewness` and the 95 % `interval` of U_Risk correct for it by Hall's transformation
    (J. R. Stat. Soc. B 54, 1992). `t_robust` and `p_robust` are those of the least favourable of two samples, the one
    at hand and the same with its worst query once more (its best, where it is worse); outcomes go by them.
    `trusted` is False where the jackknife's standard error differs from the usual one: then no part of the inference
    should be. With weights it is None: the jackknife of a ratio differs by a little anyway. Where few queries have most
    of the weight, u is heavy-tailed and all of these tests call chance a reward (or a risk) too often. Outcomes then
    need `p_traffic` too: `t_traffic` is the least favourable of t and of t with the worst query once more, asked as
    often as a typical request's query, with `df_traffic` = c_eff − 1 degrees of freedom; `interval` is of this test.
    """

    t: float | None
    p: float | None
    df: int
    se: float | None
    se_jackknife: float | None
    trusted: bool | None = True
    reason: str | None = None
    t_skewness: float | None = None
    p_skewness: float | None = None
    interval: tuple[float, float] | None = None
    t_robust: float | None = None
    p_robust: float | None = None
    t_traffic: float | None = None
    p_traffic: float | None = None
    df_traffic: float | None = None


@dataclass(frozen=True)
class QueryScores:
    """t values per query, not effectiveness: each trade-off standardised, and the value beyond which it is significant.

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

    At α = 0 this is the paired t-test of any two systems. Outcomes go by `p_robust`; see `TTest`.

    >>> result = t_test([0.5, 0.4, 0.6], [0.3, 0.3, 0.5])
    >>> round(result.t, 6), round(result.p, 6), result.df
    (4.0, 0.057191, 2)
    >>> round(result.t_skewness, 6), round(result.p_skewness, 6)
    (6.640427, 0.021935)
    >>> round(result.t_robust, 6), round(result.p_robust, 6)
    (6.640427, 0.021935)
    """
    return weighted_test(paired_differences(model, baseline), alpha, _scale(model, baseline))


def query_scores(model: ArrayLike, baseline: ArrayLike, alpha: float = 0.0) -> QueryScores | None:
    """t values per query, not effectiveness: T_R and T_J (Dinçer et al., SIGIR 2014, §5).

    None where the deviation s_x is not defined.

    >>> scores = query_scores([0.5, 0.4, 0.6], [0.3, 0.3, 0.5])
    >>> scores.t_r.round(3), round(scores.critical, 3)
    (array([3.464, 1.732, 1.732]), 4.303)
    """
    return weighted_t_values(paired_differences(model, baseline), alpha, _scale(model, baseline))


def weighted_t_values(
    differences: Floats, alpha: float, scale: float, weights: Floats | None = None
) -> QueryScores | None:
    """T_R and T_J of the differences δ_q; `scale` is the size of the scores they came from.

    With relative weights w̃_q of the queries, T_R is w̃_q·x_q / s_u and T_J is u_q / s_u; see `weighted_test`.
    """
    if weights is not None:
        influence = influence_of(differences, alpha, weights)
        if _undefined_by_influence(influence, (1 + alpha) * scale):
            return None
        x, deviation = weigh_losses(differences, alpha) / influence.unit, influence.deviation
        return QueryScores(
            t_r=weights * x / deviation,
            t_j=weights * (x - influence.mean) / deviation,
            critical=_student(len(weights)),
        )
    moments = _moments(differences, alpha)
    if undefined_reason(differences, moments, (1 + alpha) * scale):
        return None
    weighted, deviation = weigh_losses(differences, alpha), math.sqrt(moments.squares / (len(differences) - 1))
    return QueryScores(
        t_r=weighted / deviation,
        t_j=(weighted - moments.mean) / deviation,
        critical=_student(len(weighted)),
    )


def critical_value(queries: float) -> float | None:
    """The two-sided critical value t_{1 − level/2, c − 1}; None for a single query, which has none.

    Effective queries need not be whole; of hardly more than one it would be beyond 1e128, and SciPy has none.

    >>> critical_value(1), round(critical_value(3), 3)
    (None, 4.303)
    """
    return _student(queries) if queries > 1.01 else None


def _student(queries: float) -> float:
    return float(stdtrit(queries - 1, 1 - SIGNIFICANCE / 2))


class Moments(NamedTuple):
    """Of weighted differences x_q: the mean, the sum of squared deviations from it, and the extremes."""

    mean: float
    squares: float
    lowest: float
    highest: float


def undefined_reason(differences: Floats, moments: Moments, scale: float) -> str | None:
    """Why the weighted differences x_q with these moments have no standard error, or None.

    They count as equal when they differ by no more than the rounding of numbers of that `scale`.
    """
    if len(differences) < 2:
        return "a single query has no standard error"
    # The second condition is for differences of 1e-200 or so, whose squares are 0.
    if moments.highest - moments.lowest > 16 * np.finfo(np.float64).eps * scale and moments.squares > 0:
        return None
    return (
        "the difference from the baseline is the same on all queries"
        if any(part.any() for part in blocks(differences))
        else "identical to the baseline on every query"
    )


def weighted_test(differences: Floats, alpha: float, scale: float, weights: Floats | None = None) -> TTest:
    """The test of the weighted differences x_q = f_α(δ_q); `scale` is the size of the scores δ_q came from.

    With relative weights w̃_q of the queries (their mean is 1) it goes by the influence values
    u_q = w̃_q·(x_q − x̄_w) in place of x_q − x̄: repeating queries would claim more of them than were judged.
    """
    if weights is not None:
        return _influence_test(influence_of(np.asarray(differences), alpha, weights), (1 + alpha) * scale)
    queries = len(differences)
    moments = _moments(differences, alpha)
    reason = undefined_reason(differences, moments, (1 + alpha) * scale)
    if reason:
        return TTest(None, None, queries - 1, None, None, reason=reason)
    se = math.sqrt(moments.squares / (queries - 1) / queries)
    # The standard error again, from the means that leave one query out.
    without = _moments(differences, alpha, lambda part: (queries * moments.mean - part) / (queries - 1))
    se_jackknife = math.sqrt((queries - 1) * without.squares / queries)
    t = moments.mean / se
    hall = _Hall(math.sqrt(moments.squares / (queries - 1)), _skewness(differences, alpha, moments), queries)
    t_skewness = hall.t(moments.mean)
    unit = math.sqrt(moments.squares / queries)
    worse, better = (
        float(hall_t_with_another(moments.mean / unit, hall.skewness, queries, end / unit))
        for end in (moments.lowest, moments.highest)
    )
    t_robust = float(robust_t(t_skewness, worse, better))
    return TTest(
        t, float(two_sided_p(t, queries)), queries - 1, se, se_jackknife, math.isclose(se, se_jackknife, rel_tol=1e-6),
        t_skewness=t_skewness, p_skewness=float(two_sided_p(t_skewness, queries)), interval=hall.interval(moments.mean),
        t_robust=t_robust, p_robust=float(two_sided_p(t_robust, queries)),
    )  # fmt: skip


def weighted_tests(
    differences: Floats, alphas: Sequence[float], scale: float, sums: InfluenceSums | None = None
) -> list[TTest]:
    """`weighted_test` at several α; with weights from sums that were made once for all of them."""
    if sums is None:
        return [weighted_test(differences, alpha, scale) for alpha in alphas]
    return [_influence_test(sums.at(alpha), (1 + alpha) * scale) for alpha in alphas]


def _influence_test(influence: Influence, scale: float) -> TTest:
    """`weighted_test` with weights; `scale` is the size of the scores that x_q came from."""
    queries, unit = influence.queries, influence.unit
    if reason := _undefined_by_influence(influence, scale):
        return TTest(None, None, queries - 1, None, None, reason=reason, trusted=None)
    here, worse, better = influence.means_and_errors()
    t, se = float(here[0] / here[1]), float(here[1] * unit)
    t_skewness, t_robust, t_traffic = map(float, influence_ts(influence))
    reach = critical_value(influence.effective)
    return TTest(
        t, float(two_sided_p(t, queries)), queries - 1, se, math.sqrt(influence.jackknife) * unit, None,
        t_skewness=t_skewness, p_skewness=float(two_sided_p(t_skewness, queries)),
        interval=None if reach is None else (
            float(min(mean - reach * error for mean, error in (here, worse)) * unit),
            float(max(mean + reach * error for mean, error in (here, better)) * unit),
        ),
        t_robust=t_robust, p_robust=float(two_sided_p(t_robust, queries)),
        t_traffic=t_traffic, p_traffic=float(two_sided_p(t_traffic, influence.effective)),
        df_traffic=max(influence.effective - 1, 0.0),
    )  # fmt: skip


def influence_ts(influence: Influence) -> tuple[Floats, Floats, Floats]:
    """Hall's t, the robust t, and the least favourable t of the weighted mean with and without another query."""
    each = (influence, *map(influence.with_another, (influence.lowest, influence.highest)))
    hall, worse, better = (hall_t(one.mean / one.deviation, one.skewness, one.queries) for one in each)
    return hall, robust_t(hall, worse, better), robust_t(*(mean / se for mean, se in influence.means_and_errors()))


def _undefined_by_influence(influence: Influence, scale: float) -> str | None:
    ends = np.resize([influence.lowest, influence.highest], min(influence.queries, 2))
    moments = Moments(influence.mean, influence.u2, influence.lowest, influence.highest)
    return undefined_reason(ends, moments, scale / influence.unit)


def two_sided_p(t: Numbers, queries: float) -> Numbers:
    """The p-value of Student's t, of one or of several; 1 where no degrees of freedom are left."""
    p: Numbers = 2 * stdtr(queries - 1, -abs(t)) if queries > 1 + 1e-9 else 0 * t + 1
    return p


def hall_t(T: Numbers, skewness: Numbers, queries: int) -> Numbers:
    """√c·h(T), which is near Student's t, of one T = x̄/s or of several; `_Hall` says what h is."""
    bend = skewness / 3
    h = T * (1 + bend * T * (1 + bend * T / 3)) + skewness / (6 * queries)
    return math.sqrt(queries) * h


def hall_t_with_another(mean: Numbers, skewness: Numbers, queries: int, value: Numbers) -> Numbers:
    """Hall's t of c values and one more, in units of √mean((x − x̄)²): from the mean and γ of the c values alone."""
    c, apart = queries, value - mean
    # The means of squared and cubed deviations of c + 1 values (Pébay, 2008); products, since powers are slow.
    step = apart / (c + 1)
    second = c * (1 + apart * step) / (c + 1)
    third = c * (skewness + step * ((c - 1) * apart * step - 3)) / (c + 1)
    deviation = second**0.5
    moved: Numbers = (mean + step) / deviation * (c / (c + 1)) ** 0.5
    gamma: Numbers = third / (second * deviation)
    return hall_t(moved, gamma, c + 1)


def robust_t(t: ArrayLike, worse: ArrayLike, better: ArrayLike) -> Floats:
    """The t that one more query as bad as the worst, or as good as the best, would leave; 0 where it turns the sign.

    `worse` and `better` are Hall's t with the worst and with the best query once more. Where losses are rare, heavy and
    not in the sample, Hall's t alone calls chance a reward too often.
    """
    least, most = np.minimum(t, worse), np.maximum(t, better)
    return np.where(least > 0, least, np.where(most < 0, most, 0.0))


class _Hall(NamedTuple):
    """Hall's transformation h, which takes the skewness γ out of T = x̄/s (J. R. Stat. Soc. B 54, 1992).

    h(T) = T + γT²/3 + γ²T³/27 + γ/(6c) = ((1 + γT/3)³ − 1)/γ + γ/(6c)
    """

    deviation: float
    skewness: float
    queries: int

    def t(self, mean: float) -> float:
        """The adjusted t of a mean."""
        return hall_t(mean / self.deviation, self.skewness, self.queries)

    def interval(self, mean: float) -> tuple[float, float]:
        """The interval of U_Risk: the values that the test does not reject."""
        reach = _student(self.queries) / math.sqrt(self.queries)
        return mean - self.deviation * self._inverse(reach), mean - self.deviation * self._inverse(-reach)

    def _inverse(self, h: float) -> float:
        """T of h: 3/γ·(∛(1 + γ·y) − 1) with y = h − γ/(6c), written so that γ = 0 needs no case of its own."""
        y = h - self.skewness / (6 * self.queries)
        root = float(np.cbrt(1 + self.skewness * y))  # the real root: the argument is often negative
        return 3 * y / (root * root + root + 1)


def _moments(differences: Floats, alpha: float, transform: Callable[[Floats], Floats] = np.asarray) -> Moments:
    """The moments of (a function of) x_q, merged from those of blocks (Chan et al., 1983)."""
    count, mean, squares, lowest, highest = 0, 0.0, 0.0, math.inf, -math.inf
    for x in _weighted_blocks(differences, alpha):
        part = transform(x)
        part_mean = float(part.mean())
        apart, total = part_mean - mean, count + len(part)
        squares += float(np.square(part - part_mean).sum()) + apart * apart * count * len(part) / total
        mean += apart * len(part) / total
        lowest, highest = min(lowest, float(part.min())), max(highest, float(part.max()))
        count = total
    return Moments(mean, squares, lowest, highest)


def _skewness(differences: Floats, alpha: float, moments: Moments) -> float:
    """γ of x_q; deviations are divided before they are cubed, so that no cube overflows or vanishes."""
    unit = math.sqrt(moments.squares / len(differences))
    parts = ((x - moments.mean) / unit for x in _weighted_blocks(differences, alpha))
    return sum(dot(np.square(z), z) for z in parts) / len(differences)


def _weighted_blocks(differences: Floats, alpha: float) -> Iterator[Floats]:
    """The x_q, a block of queries at a time."""
    for part in blocks(differences):
        yield weigh_losses(part, alpha)


def _scale(model: ArrayLike, baseline: ArrayLike) -> float:
    """The size of what the differences were computed from."""
    return float(max(np.abs(np.asarray(model)).max(), np.abs(np.asarray(baseline)).max()))
