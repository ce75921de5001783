"""Evidence that the mean of bounded values is below a level, by betting (Waudby-Smith and Ramdas, 2024).

A fair bet against the hypothesis E[x] ≥ m multiplies a capital by 1 + ν·(m − x) at each query, with a stake ν that
looks at the past only. Under the hypothesis the capital is a non-negative supermartingale, so the chance that it ever
reaches 1/δ is at most δ (Ville), whatever the distribution of x.

Everything here is vectorised over leading axes (thresholds, levels, simulated runs) and loops over queries, so that
memory holds a few vectors, never a matrix besides the one given. Of more than 20,000 queries the stake is set for a
block of queries at a time: any stake that looks at the past only has the same proof, and a few hundred are
enough.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError

MOST_STAKE = 0.99  # of the capital, at x = 1: a bet of all of it could never recover
AIMING_PRIOR, ANYTIME_PRIOR = 5.0, 10.0  # imagined queries with mean m and variance m(1 − m)/2 before the first
FIXED_BET_SHARES = np.geomspace(0.1, 1, 5)  # the fixed bets, as shares of the greatest, 1/(1 − m)
COPIED_QUERIES = 64  # queries copied at a time, so that one query's values lie side by side
MANY_QUERIES = 20_000  # queries beyond which a stake is set for a block of them
MOST_STAKES_SET = 250  # that are set then, at most
_TOGETHER = 16  # queries whose factors are multiplied before a logarithm is taken: no product of so many overflows
_ROUNDING = 1e-9  # by which a value may leave [0, 1], as a quotient of equal numbers does
_CEILING = 1e300  # of a fixed bet's capital: what is above is given away, which no proof minds

Delta: TypeAlias = float | Floats  # one level, or many


class ColumnWithRoom(NamedTuple):
    """Values that may lie beyond [0, 1], and how far each may exceed m at most."""

    x: Floats
    room: Floats


# For each query, in betting order, its x for all leading axes at once.
LossColumns: TypeAlias = Iterable[Floats | float | ColumnWithRoom]


class AimingBet:
    """The aiming bet: at each query the stake that would just reach `target` (a log of capital) with the last of n.

        ν_i = min( 0.99/(1−m), √( 2·max(0, target − ln K_{i−1}) / ((n−i+1)·v_{i−1}) ) )
        μ_i = (w·m + Σ_{j≤i} x_j)/(w+i)      v_i = (w·m(1−m)/2 + Σ_{j≤i} (x_j − μ_j)²)/(w+i),   w the prior's weight

    Past n queries n − i + 1 stays 1. Once the target is reached nothing more is staked. `m` must lie within (0, 1).
    """

    def __init__(self, m: Floats, target: Floats | float, n: int, prior: float) -> None:
        self.m, self.target, self.n, self.prior = m, target, n, prior
        self.count = 0
        self.log_capital, self.sums, self.squares = np.zeros(m.shape), np.zeros(m.shape), np.zeros(m.shape)
        self._cap = MOST_STAKE / (1 - m)
        self._variance = prior * m * (1 - m) / 2
        self._stake, self._apart = np.empty(m.shape), np.empty(m.shape)

    def add(self, x: Floats | float, room: Floats | None = None) -> None:
        """Bet on one query, then learn its x; `room` is how far x may exceed m, 1 − m by default."""
        stake, apart = self._stake, self._apart
        np.subtract(self.target, self.log_capital, out=stake)
        np.maximum(stake, 0, out=stake)
        stake *= 2 * (self.prior + self.count) / max(1, self.n - self.count)
        np.add(self._variance, self.squares, out=apart)
        stake /= apart
        np.sqrt(stake, out=stake)
        np.minimum(stake, self._cap if room is None else MOST_STAKE / room, out=stake)
        np.subtract(self.m, x, out=apart)
        stake *= apart
        stake += 1
        np.log(stake, out=stake)
        self.log_capital += stake
        self.count += 1
        self.sums += x
        np.multiply(self.m, self.prior, out=apart)
        apart += self.sums
        apart /= self.prior + self.count
        np.subtract(x, apart, out=apart)
        apart *= apart
        self.squares += apart


def betting_p(x: ArrayLike, m: ArrayLike, delta: Delta) -> Floats:
    """p of the hypothesis E[x] ≥ m, by the aiming bet; x of shape (..., n) in betting order, within [0, 1].

    p = min(1, 1 / max_i K_i) with ln(1/δ) as the bet's target, so `delta` must be the level that p is compared with.
    The capital stops growing there: p says whether δ was reached, not by how far. m ≥ 1 gives 0, m ≤ 0 gives 1.

    >>> float(betting_p(np.zeros(150), 0.02, 0.05)) <= 0.05, float(betting_p(np.zeros(149), 0.02, 0.05)) <= 0.05
    (True, False)
    """
    values = check_unit(x)
    if values.shape[-1] > MANY_QUERIES:
        return _betting_p_of_many(values, m, delta)
    return betting_p_columns(columns_of(values), values.shape[-1], m, delta, values.shape[:-1])


def _betting_p_of_many(x: Floats, m: ArrayLike, delta: Delta) -> Floats:
    """`betting_p` with a stake for each block of queries, of each sample on its own."""
    level, inside = _full_levels(m, x.shape[:-1])
    target = np.broadcast_to(-np.log(check_delta(delta)), level.shape)
    p = np.empty(level.shape)
    for sample in np.ndindex(x.shape[:-1]):
        levels = _levels_of_sample(sample, x.shape[:-1])
        peak = _peak_by_blocks(x[sample], inside[levels].ravel(), target[levels].ravel())
        p[levels] = np.exp(-peak).reshape(p[levels].shape)
    return settle_trivial_levels(level, p)


def _levels_of_sample(sample: tuple[int, ...], samples: tuple[int, ...]) -> tuple[Any, ...]:
    """Where the levels of one sample stand: on further axes of m, and on those along which there is one sample."""
    return (..., *(slice(None) if size == 1 else at for at, size in zip(sample, samples, strict=True)))


def _peak_by_blocks(x: Floats, m: Floats, target: Floats) -> Floats:
    """The greatest log of the capital at each level m; one that has reached its target bets no more."""
    n, size = len(x), -(-len(x) // (MOST_STAKES_SET * _TOGETHER)) * _TOGETHER
    log_capital, peak = np.zeros(len(m)), np.zeros(len(m))
    betting = np.arange(len(m))
    total, squares = 0.0, 0.0
    for start in range(0, n, size):
        level, capital = m[betting], log_capital[betting]
        mean = (AIMING_PRIOR * level + total) / (AIMING_PRIOR + start)
        spread = AIMING_PRIOR * level * (1 - level) / 2 + np.maximum(squares - mean * (2 * total - start * mean), 0)
        stake = np.sqrt(2 * (target[betting] - capital) / (n - start) * (AIMING_PRIOR + start) / spread)
        np.minimum(stake, MOST_STAKE / (1 - level), out=stake)
        part = x[start : start + size]
        growth = capital[:, None] + np.cumsum(_log_factors(part, level, stake), axis=1)
        log_capital[betting] = growth[:, -1]
        peak[betting] = np.maximum(peak[betting], growth.max(axis=1))
        total, squares = total + float(part.sum()), squares + float(part @ part)
        betting = betting[log_capital[betting] < target[betting]]
        if not len(betting):
            break
    return peak


def _log_factors(x: Floats, m: Floats, stake: Floats) -> Floats:
    """For each level the logs of the factors 1 + ν·(m − x), of sixteen queries together."""
    padded = np.zeros(-(-len(x) // _TOGETHER) * _TOGETHER)
    padded[: len(x)] = x
    columns = padded.reshape(-1, _TOGETHER).T
    lead, slope = (1 + stake * m)[:, None], stake[:, None]
    product = np.maximum(lead - slope * columns[0], 0)  # the greatest fixed bet's rounding below 0
    for column in columns[1:]:
        product *= np.maximum(lead - slope * column, 0)
    logs = np.log(product)
    logs[:, -1:] -= (len(padded) - len(x)) * np.log(lead)  # what was padded with is no query
    return np.asarray(logs)


def betting_p_columns(columns: LossColumns, n: int, m: ArrayLike, delta: Delta, shape: tuple[int, ...] = ()) -> Floats:
    """`betting_p` of n columns: for each query in betting order its x, one number or an array of `shape`, unchecked.

    `delta` may be an array too, with a level for each m.
    """
    level, inside = _full_levels(m, shape)
    bet = AimingBet(inside, -np.log(check_delta(delta)), n, AIMING_PRIOR)
    peak = np.zeros(inside.shape)
    for column in columns:
        bet.add(*_x_and_room(column))
        np.maximum(peak, bet.log_capital, out=peak)
    return settle_trivial_levels(level, np.exp(-peak))


def thresholded_p(losses: ArrayLike, scores: ArrayLike, thresholds: ArrayLike, m: ArrayLike, delta: float) -> Floats:
    """`betting_p` for each threshold λ of the losses where the score is at least λ, and 0 elsewhere.

    Losses and scores are of queries in betting order. No matrix of thresholds × queries is made.

    >>> p = thresholded_p(np.ones(300), np.arange(300), [500, 0], 0.02, 0.05)
    >>> [round(float(value), 2) for value in p]
    [0.05, 1.0]
    """
    loss, score, limits = check_unit(losses), np.asarray(scores, np.float64), np.asarray(thresholds, np.float64)
    return betting_p_columns(thresholded_columns(loss, score, limits), len(loss), m, delta, limits.shape)


def thresholded_columns(losses: Floats, scores: Floats, thresholds: Floats) -> Iterator[Floats | float]:
    """For each query its loss at the thresholds up to its score, and 0 at those above."""
    for loss, score in zip(losses.tolist(), scores.tolist(), strict=True):
        yield loss * (thresholds <= score) if loss else 0.0


class AnytimeBets(NamedTuple):
    """What the anytime bets hold after some queries; plain arrays, so that a batch can be added later, or saved."""

    m: Floats
    delta: Delta
    budget: int
    seen: int  # queries
    log_capital: Floats  # of the aiming bet
    sums: Floats
    squares: Floats
    fixed: Floats  # capitals of the five fixed bets, on the first axis
    capital: Floats  # of all together
    peak: Floats  # the most it ever was

    @property
    def p(self) -> Floats:
        """min(1, 1/peak): it may be looked at after every query, and compared with δ."""
        return settle_trivial_levels(self.m, np.minimum(1, 1 / self.peak))


def start_anytime(m: ArrayLike, delta: Delta, budget: int, shape: tuple[int, ...] = ()) -> AnytimeBets:
    """The anytime bets before the first query; `budget` is about how many queries will be judged at most."""
    level, _ = _full_levels(m, shape)
    zeros, ones = np.zeros(level.shape), np.ones(level.shape)
    return AnytimeBets(
        level,
        check_delta(delta),
        int(budget),
        0,
        zeros,
        zeros,
        zeros,
        np.ones((len(FIXED_BET_SHARES), *level.shape)),
        ones,
        ones,
    )


def anytime_capital(x: ArrayLike, state: AnytimeBets) -> AnytimeBets:
    """The state after a batch: x of shape (..., batch) in betting order within it, within [0, 1].

    Capital = ½·(mean of five fixed bets, log-spaced over 0.1 … 1 × 1/(1−m)) + ½·(the aiming bet, aimed at ln(2/δ) with
    the budget for n). Adding batches one by one or all at once gives the same.

    >>> state = start_anytime(0.02, 0.05, budget=300)
    >>> state = anytime_capital(np.zeros(100), state)
    >>> float(state.p) <= 0.05, float(anytime_capital(np.zeros(72), state).p) <= 0.05
    (False, True)
    """
    return anytime_columns(columns_of(check_unit(x)), state)


def anytime_columns(columns: LossColumns, state: AnytimeBets) -> AnytimeBets:
    """`anytime_capital` of columns: for each query in order its x, one number or an array of the state's shape."""
    _, inside = _full_levels(state.m, ())
    bet = AimingBet(inside, np.log(2 / state.delta), state.budget, ANYTIME_PRIOR)
    bet.count = state.seen
    bet.log_capital, bet.sums, bet.squares = state.log_capital.copy(), state.sums.copy(), state.squares.copy()
    stakes = _fixed_stakes(1 - inside)
    fixed, capital, peak = state.fixed.copy(), state.capital.copy(), state.peak.copy()
    for column in columns:
        x, room = _x_and_room(column)
        bet.add(x, room)
        own = stakes if room is None else _fixed_stakes(room)
        fixed *= np.maximum(1 + own * (inside - x), 0)  # the greatest bet's rounding below 0
        np.minimum(fixed, _CEILING, out=fixed)
        capital = 0.5 * fixed.mean(axis=0) + 0.5 * np.exp(bet.log_capital)
        np.maximum(peak, capital, out=peak)
    return state._replace(
        seen=bet.count, log_capital=bet.log_capital, sums=bet.sums, squares=bet.squares,
        fixed=fixed, capital=np.asarray(capital), peak=peak,
    )  # fmt: skip


def stratified_p(x: ArrayLike, m: ArrayLike) -> Floats:
    """p of the hypothesis that the *average* of the means is ≥ m, of independent x whose means may differ.

    The mean of the five fixed bets, and the final capital, p = min(1, 1/K_n): the adaptive bet has no proof for unequal
    means, and the maximum on the way errs in up to half of all runs. The order of x does not matter.

    >>> bool(stratified_p(np.zeros(250), 0.02) < 0.05)
    True
    """
    values = check_unit(x)
    if values.shape[-1] <= MANY_QUERIES:
        return stratified_p_columns(columns_of(values), m, values.shape[:-1])
    level, inside = _full_levels(m, values.shape[:-1])
    logs, stakes = np.zeros((len(FIXED_BET_SHARES), *level.shape)), _fixed_stakes(1 - inside)
    with np.errstate(divide="ignore"):
        for sample in np.ndindex(values.shape[:-1]):
            levels = _levels_of_sample(sample, values.shape[:-1])
            for bet, stake in enumerate(stakes):
                for start in range(0, values.shape[-1], MANY_QUERIES):
                    part = values[sample][start : start + MANY_QUERIES]
                    growth = _log_factors(part, inside[levels].ravel(), stake[levels].ravel()).sum(axis=1)
                    logs[bet, *levels] += growth.reshape(inside[levels].shape)
    return _p_of_final_capital(level, logs)


def stratified_p_columns(columns: Iterable[Floats | float], m: ArrayLike, shape: tuple[int, ...] = ()) -> Floats:
    """`stratified_p` of columns: for each query its x, one number or an array of `shape`, unchecked."""
    level, inside = _full_levels(m, shape)
    stakes = _fixed_stakes(1 - inside)
    logs = np.zeros((len(FIXED_BET_SHARES), *level.shape))
    with np.errstate(divide="ignore"):  # the greatest bet loses everything at x = 1: ln 0
        for x in columns:
            logs += np.log(np.maximum(1 + stakes * (inside - x), 0))
    return _p_of_final_capital(level, logs)


def _p_of_final_capital(level: Floats, logs: Floats) -> Floats:
    """p by the final capitals of the fixed bets, given as logs."""
    mean = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
    return settle_trivial_levels(level, np.exp(-np.clip(mean, 0, np.log(_CEILING))))


def least_by_betting(m: float, delta: float) -> float:
    """The fewest queries with which the aiming bet can reach δ at all: those without any loss.

    >>> least_by_betting(0.02, 0.05)
    150.0
    """
    with np.errstate(over="ignore", divide="ignore"):  # where m is next to nothing, no number of them can
        return float(np.ceil(-np.log(delta) / np.log1p(MOST_STAKE * m / (1 - m))))


def least_anytime(m: float, delta: float) -> int:
    """The fewest queries after which the anytime bets can reach δ at all; m must not be so small that none do.

    >>> least_anytime(0.02, 0.05)
    172
    """
    return least_lossless(FIXED_BET_SHARES, (0.5, 0.5), m, delta)


def least_lossless(fixed_shares: Floats, parts: tuple[float, float], m: float, delta: float) -> int:
    """The fewest queries without a loss after which fixed bets and one that aims reach δ; `parts` are of the capital.

    The aiming bet stakes the most at every query then.
    """
    logs = np.log(np.append(np.full(len(fixed_shares), parts[0] / len(fixed_shares)), parts[1]))
    growth = np.log1p(np.append(fixed_shares, MOST_STAKE) / (1 - m) * m)
    return bisect_left(range(sys.maxsize), -np.log(delta), key=lambda n: np.logaddexp.reduce(logs + n * growth))


def columns_of(values: Floats) -> Iterator[Floats]:
    """The last axis of an array, entry by entry; copied in blocks, so that what is read lies side by side."""
    n = values.shape[-1]
    for start in range(0, n, COPIED_QUERIES):
        yield from np.ascontiguousarray(np.moveaxis(values[..., start : start + COPIED_QUERIES], -1, 0))


def check_unit(x: ArrayLike) -> Floats:
    """Values within [0, 1], queries on the last axis; what rounding put beyond is cut off."""
    values = np.asarray(x, dtype=np.float64)
    if not values.ndim or not values.shape[-1]:
        raise ArgumentError("no queries were given to bet on")
    least, most = float(values.min()), float(values.max())
    if not (least >= -_ROUNDING and most <= 1 + _ROUNDING):
        beyond = least if not least >= -_ROUNDING else most
        raise ArgumentError(f"a value to bet on is {beyond:g}; every one must be from 0 to 1")
    return np.clip(values, 0, 1) if least < 0 or most > 1 else values


def check_delta(delta: Delta) -> Delta:
    """δ, the chance of a wrong claim that is accepted, within (0, 1); or many of them."""
    if not np.all((np.asarray(delta) > 0) & (np.asarray(delta) < 1)):
        raise ArgumentError(f"delta is {delta}; it must be above 0 and below 1, such as 0.05")
    return delta


def _full_levels(m: ArrayLike, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """m at the full shape, and the same within (0, 1)."""
    values = np.asarray(m, dtype=np.float64)
    if np.isnan(values).any():
        raise ArgumentError("a level to test is not a number")
    level = np.array(np.broadcast_to(values, np.broadcast_shapes(values.shape, shape)))
    return level, levels_within(level)


def levels_within(level: Floats) -> Floats:
    """m, but ½ where it is not within (0, 1): a test can be made there, and `settle_trivial_levels` corrects its p."""
    return np.where((level > 0) & (level < 1), level, 0.5)


def settle_trivial_levels(level: Floats, p: Floats) -> Floats:
    """p, but 0 where m ≥ 1, which no mean exceeds, and 1 where m ≤ 0, which none is below."""
    return np.where(level >= 1, 0.0, np.where(level <= 0, 1.0, p))


def _fixed_stakes(room: Floats) -> Floats:
    return FIXED_BET_SHARES.reshape(-1, *[1] * room.ndim) / room


def _x_and_room(column: Floats | float | ColumnWithRoom) -> tuple[Floats | float, Floats | None]:
    return column if isinstance(column, ColumnWithRoom) else (column, None)
