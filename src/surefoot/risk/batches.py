"""The gate's bet: evidence that a mean is below a level, carried on from batch to batch of judged queries.

A decision that is looked at again must not begin anew, or it ships falsely in 11 to 20 % of cases. So the capital goes
on where it was. Part of it aims at 1/δ with all queries that are known of so far; the rest is on fixed stakes, which
keep it alive when large losses burn what aims:

    K = 0.9·A + 0.1·F          A_i = A_{i−1}·(1 + ν_i·(m − x_i))          F_i = mean_σ Π_{j≤i} (1 + σ·(m − x_j)/(1−m))
    ν_i = min( 0.99/(1−m), √( 2g/((n−i+1)·v_{i−1}) ) )          g = max(0, ln( (1/δ − 0.1·F_{i−1})/(0.9·A_{i−1}) ))
    p = min(1, 1/max K)

with v as in `betting.AimingBet`, and n the number of all queries after the current batch. ν looks at earlier x and at
sizes of batches alone. So K is a non-negative supermartingale under the hypothesis E[x] ≥ m for any size of a batch
that is fixed before the batch is judged, and P(ever p ≤ δ) ≤ δ over all looks (Ville).

Of a simple random sample of `known` queries without replacement, m is replaced by m_i = (N·m − S)/(N − i + 1), S the
sum of the earlier x: exact for every fixed traffic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrik, gammaln

from surefoot.arguments import LARGEST_COUNT
from surefoot.arrays import Flags, Floats, Ints
from surefoot.errors import ArgumentError
from surefoot.risk.betting import (
    AIMING_PRIOR,
    MANY_QUERIES,
    MOST_STAKE,
    Delta,
    check_delta,
    check_unit,
    least_lossless,
    levels_within,
)
from surefoot.risk.bounds import binomial_p
from surefoot.risk.control_variate import ControlVariate, JudgeMoments

AIMING_PART, FIXED_PART = 0.9, 0.1  # of the capital
FIXED_SHARES = np.geomspace(0.01, 0.99, 20)  # the fixed stakes, as shares of the greatest
MOST_STAKES_SET = 250  # in a batch of more than 20,000 queries
_Array = TypeVar("_Array", Floats, Flags)
_CELLS = 1 << 18  # of fixed bets by levels by queries at a time
_TINY = 1e-300
_ROUNDING = 1e-9  # by which a sum of x may miss a whole number, per query of the known traffic


@dataclass(frozen=True)
class BatchBet:
    """The capital of each level m after some batches, and what the next stakes go by; nothing is changed in place."""

    m: Floats
    wanted: Floats  # 1/δ
    known: int | None  # queries of the traffic, where the sample is of that many
    seen: int
    sums: Floats
    squares: Floats
    log_aiming: Floats
    fixed: Floats  # capitals of the fixed bets, on the first axis
    peak: Floats  # of K
    settled: Floats  # 0: not; 1: the hypothesis is sure; −1: it cannot be

    @classmethod
    def start(cls, m: ArrayLike, delta: Delta, shape: tuple[int, ...] = (), known: int | None = None) -> BatchBet:
        """Before the first query."""
        level = np.asarray(m, np.float64)
        level = np.array(np.broadcast_to(level, np.broadcast_shapes(level.shape, shape)))
        zeros = np.zeros(level.shape)
        return cls(
            level, np.broadcast_to(1 / np.asarray(check_delta(delta), np.float64), level.shape), known, 0, zeros, zeros,
            zeros, np.ones((len(FIXED_SHARES), *level.shape)), np.ones(level.shape),
            np.where(level >= 1, -1.0, np.where(level <= 0, 1.0, 0.0)),
        )  # fmt: skip

    @property
    def p(self) -> Floats:
        """min(1, 1/max K): at most δ where the level was ever refuted."""
        p = np.minimum(1, 1 / self.peak)
        return np.where(self.settled > 0, 1.0, np.where(self.settled < 0, 0.0, p))

    @property
    def fixed_capital(self) -> Floats:
        """F."""
        with np.errstate(over="ignore"):
            return np.asarray(self.fixed.mean(axis=0))

    def after(self, x: ArrayLike, variate: ControlVariate | None = None, a: ArrayLike | None = None) -> BatchBet:
        """After one more batch: x of shape (..., queries) in betting order, within [0, 1].

        With an automatic judge, `a` has its values in place of x, and `variate` learns how much they count.

        >>> bet = BatchBet.start(0.3, 0.2).after([0, 0.5, 0, 0]).after([0, 0, 0.25])
        >>> round(float(bet.p), 6)
        0.23727
        """
        values, others = self._by_query(x), None if a is None else self._by_query(a)
        if self.known is not None and self.seen + len(values) > self.known:
            raise ArgumentError(f"a sample of {self.seen + len(values):,} queries cannot be from {self.known:,}")
        size, total = len(values), self.seen + len(values)
        step = 1 if size <= MANY_QUERIES else -(-size // MOST_STAKES_SET)
        together = max(1, _CELLS // self.fixed.size)
        bet, stake = self, None
        for block in range(0, size, step if step > 1 else together):
            end = min(size, block + (step if step > 1 else together))
            stake = None
            for start in range(block, end, together):
                part = slice(start, min(end, start + together))
                columns = bet._columns(values[part], None if others is None else others[part], variate)
                bet, stake = bet._add(columns, total, stake if step > 1 else None, constant=step > 1)
        return bet

    def _by_query(self, x: ArrayLike) -> Floats:
        """Values with the queries on the first axis, and axes beside those of the levels."""
        values = np.moveaxis(check_unit(x), -1, 0)
        return values.reshape(len(values), *[1] * (self.m.ndim + 1 - values.ndim), *values.shape[1:])

    def _columns(self, values: Floats, others: Floats | None, variate: ControlVariate | None) -> _BetColumns:
        """What is bet on, query by query: x, how far it lies below its level, and how far it may lie above."""
        m = levels_within(self.m)
        if variate is not None and others is not None:
            pairs = [*variate.columns(zip(values, others, strict=True))]
            x, room = (
                np.stack([np.broadcast_to(part, m.shape) for part in parts]) for parts in zip(*pairs, strict=True)
            )
            return _BetColumns(x, m - x, room, None)
        if self.known is None:
            return _BetColumns(values, m - values, 1 - m, None)
        sums = self.sums + np.cumsum(values, axis=0)
        before = np.concatenate([np.broadcast_to(self.sums, m.shape)[None], sums[:-1] + np.zeros(m.shape)])
        left = (self.known - self.seen - np.arange(len(values))).reshape(-1, *[1] * m.ndim)
        level = (self.known * m - before) / left
        inside = (level > 0) & (level < 1)
        gap = np.where(inside, level - values, 0.0)
        return _BetColumns(values, gap, np.where(inside, 1 - level, 1.0), sums + np.zeros(m.shape))

    def _settled(self, sums: Floats | None) -> Floats:
        """Which levels are settled for good by sums of x after each query, of a known number of queries."""
        if sums is None or self.known is None:
            return self.settled
        apart, slack = self.known * levels_within(self.m) - sums, self.known * _ROUNDING
        left = (self.known - self.seen - 1 - np.arange(len(sums))).reshape(-1, *[1] * self.m.ndim)
        refuted, sure = (apart > left + slack).any(axis=0), (apart < -slack).any(axis=0)
        return np.where(self.settled != 0, self.settled, np.where(sure, 1.0, np.where(refuted, -1.0, 0.0)))

    def _add(
        self, columns: _BetColumns, total: int, stake: Floats | None, *, constant: bool
    ) -> tuple[BatchBet, Floats | None]:
        """After some queries of a batch; with one `constant` stake for a block, that stake too."""
        m, x, gap = levels_within(self.m), columns.x, columns.gap
        count = self.seen + np.arange(1, len(x) + 1).reshape(-1, *[1] * m.ndim)
        with np.errstate(over="ignore", under="ignore"):
            growth = FIXED_SHARES.reshape(-1, *[1] * m.ndim) * (gap / columns.room)[:, None]
            growth += 1
            for row, factors in enumerate(growth):  # many times faster than cumprod
                np.multiply(growth[row - 1] if row else self.fixed, factors, out=factors)
            fixed = growth.mean(axis=1)
        sums = self.sums + np.cumsum(x, axis=0)
        squares = self.squares + np.cumsum((x - (AIMING_PRIOR * m + sums) / (AIMING_PRIOR + count)) ** 2, axis=0)
        before = [np.concatenate([first[None], path[:-1]]) for first, path in (
            (self.fixed_capital, fixed), (np.broadcast_to(self.squares, m.shape), squares + np.zeros(m.shape)),
        )]  # fmt: skip
        target = np.log(np.maximum(self.wanted - FIXED_PART * before[0], _TINY) / AIMING_PART)
        variance = (AIMING_PRIOR * m * (1 - m) / 2 + before[1]) / (AIMING_PRIOR + count - 1)
        pace, cap = 2 / ((total - count + 1) * variance), np.broadcast_to(MOST_STAKE / columns.room, gap.shape)
        aiming, path = self.log_aiming, np.empty(gap.shape)
        if constant:
            if stake is None:
                stake = np.minimum(np.sqrt(np.maximum(target[0] - aiming, 0) * pace[0]), cap[0])
            path = aiming + np.cumsum(np.log1p(np.minimum(stake, cap) * gap), axis=0)
        else:
            own = np.empty(m.shape)
            for row in range(len(x)):
                np.subtract(target[row], aiming, out=own)
                np.maximum(own, 0, out=own)
                np.multiply(own, pace[row], out=own)
                np.sqrt(own, out=own)
                np.minimum(own, cap[row], out=own)
                np.multiply(own, gap[row], out=own)
                np.log1p(own, out=own)
                aiming = path[row, ...]
                np.add(path[row - 1] if row else self.log_aiming, own, out=aiming)
        last = growth[-1]
        last = np.where(last < _TINY**0.5, 0.0, last)  # what is given away no proof minds, and denormals are slow
        capital = AIMING_PART * np.exp(path) + FIXED_PART * fixed
        bet = replace(
            self, seen=self.seen + len(x), sums=sums[-1], squares=squares[-1], log_aiming=path[-1].copy(), fixed=last,
            peak=np.maximum(self.peak, capital.max(axis=0)), settled=self._settled(columns.sums),
        )  # fmt: skip
        return bet, stake


def p_of_batch(
    x: ArrayLike, m: ArrayLike, delta: Delta, a: ArrayLike | None = None, judge: JudgeMoments | None = None
) -> Floats:
    """p of the hypothesis E[x] ≥ m by one batch, x of shape (..., n) in betting order.

    With an automatic judge `a` has its values of the same draws, and what `judge` holds has the shape of the leading
    axes.

    >>> from surefoot.risk.control_variate import judge_moments
    >>> truth = np.where(np.arange(1000) % 10 == 0, 0.5, 0.0)
    >>> h = truth[np.random.default_rng(7).integers(0, 1000, 60)]
    >>> alone, judged = p_of_batch(h, 0.1, 0.05), p_of_batch(h, 0.1, 0.05, h, judge_moments(truth, np.ones(1000)))
    >>> bool(judged < 0.05 < alone)
    True
    """
    values = check_unit(x)
    if a is None or judge is None:
        return BatchBet.start(m, delta, values.shape[:-1]).after(values).p
    values, others = np.broadcast_arrays(values, check_unit(a))
    bet = BatchBet.start(m, delta, values.shape[:-1])
    return bet.after(values, ControlVariate(bet.m, judge), others).p


class _BetColumns(NamedTuple):
    x: Floats
    gap: Floats  # m − x, or m_i − x; 0 where no bet is made
    room: Floats  # how far x may lie above m
    sums: Floats | None  # of x after each query, where the traffic is known


def least_of_known(m: float, delta: float, known: int) -> int:
    """The fewest queries without a loss that can prove a mean below m, of a known number of them.

    >>> least_of_known(0.5, 0.05, 4), least_of_known(0.02, 0.05, 1000)
    (3, 143)
    """
    left = known - np.arange(known)
    level = known * m / left
    inside = level[level < 1]
    growth = np.log1p(np.append(FIXED_SHARES, MOST_STAKE)[:, None] * inside / (1 - inside)).cumsum(axis=1)
    parts = np.log(np.append(np.full(len(FIXED_SHARES), FIXED_PART / len(FIXED_SHARES)), AIMING_PART))
    reached = np.logaddexp.reduce(parts[:, None] + growth, axis=0) >= -np.log(delta)
    return int(reached.argmax()) + 1 if reached.any() else len(inside) + 1


def least_by_batches(m: float, delta: float) -> int | None:
    """The fewest queries, all without a loss and judged at once, that can prove a mean below m; None: too many.

    >>> [least_by_batches(m, 0.05) for m in (0.02, 0.05, 0.1)], [least_by_batches(m, 0.04) for m in (0.02, 0.05, 0.1)]
    ([155, 61, 30], [166, 66, 32])
    """
    least = least_lossless(FIXED_SHARES, (FIXED_PART, AIMING_PART), m, delta)
    return least if least <= LARGEST_COUNT else None


@dataclass(frozen=True)
class CountBet:
    """The same of losses that are 0 or 1, batch by batch: the exact tail of a count takes the place of what aims.

    With u = min(1, δ·K) before a batch, it refutes m where P(Bin(n, m) ≤ s) ≤ 0.9·u, s of its n queries being hurt;
    otherwise K goes on as K·(1 − a/u)·F_b/F_{b−1}, a the tail of the greatest s that would have refuted. It is an
    e-value for each batch, so any size that is fixed beforehand is valid.
    """

    m: Floats
    delta: Floats
    known: int | None
    seen: int
    hurt: Floats
    capital: Floats
    log_fixed: Floats  # ln F
    p: Floats
    bets: BatchBet | None  # the fixed bets, where the traffic is known

    @classmethod
    def start(cls, m: ArrayLike, delta: Delta, shape: tuple[int, ...] = (), known: int | None = None) -> CountBet:
        """Before the first batch."""
        level = np.asarray(m, np.float64)
        level = np.array(np.broadcast_to(level, np.broadcast_shapes(level.shape, shape)))
        bets = None if known is None else BatchBet.start(_least_hurt(level, known) / known, 0.5, known=known)
        return cls(
            level, np.broadcast_to(np.asarray(check_delta(delta), np.float64), level.shape), known, 0,
            np.zeros(level.shape), np.ones(level.shape), np.zeros(level.shape),
            np.where(level >= 1, 0.0, 1.0), bets,
        )  # fmt: skip

    def after(self, x: ArrayLike) -> CountBet:
        """After one more batch: x of shape (..., queries), each 0 or 1, in betting order.

        >>> first = CountBet.start(0.1, 0.05).after([1] + 39 * [0])
        >>> second = first.after(30 * [0])
        >>> [round(float(p), 7) for p in (first.p, second.p)]
        [0.0894152, 0.0343021]
        """
        values = check_unit(x)
        size, hurt = values.shape[-1], np.broadcast_to(values.sum(axis=-1), self.m.shape)
        bets = None if self.bets is None else self.bets.after(values)
        share = np.minimum(1, self.delta * self.capital)
        tail, greatest = self._tails(size, hurt, AIMING_PART * share)
        log_fixed = self._log_fixed(size, hurt) if bets is None else np.log(np.maximum(bets.fixed_capital, _TINY))
        with np.errstate(divide="ignore", over="ignore"):
            capital = self.capital * (1 - greatest / share) * np.exp(log_fixed - self.log_fixed)
            p = np.minimum.reduce([self.p, self.delta * tail / (AIMING_PART * share), 1 / capital])
        bet = replace(
            self, seen=self.seen + size, hurt=self.hurt + hurt, capital=np.maximum(capital, _TINY), log_fixed=log_fixed,
            p=p, bets=bets,
        )  # fmt: skip
        return replace(bet, p=bet._settled_p())

    def _settled_p(self) -> Floats:
        """p, where what was seen does not settle the question for good."""
        p = np.where(self.m <= 0, 1.0, np.where(self.m >= 1, 0.0, np.minimum(1, self.p)))
        if self.known is None:
            return p
        left = _least_hurt(self.m, self.known) - self.hurt
        return np.where(self.m >= 1, 0.0, np.where(left <= 0, 1.0, np.where(left > self.known - self.seen, 0.0, p)))

    def _log_fixed(self, size: int, hurt: Floats) -> Floats:
        """ln F after all queries with those of a batch; without a known traffic their order does not count."""
        m, n, s = levels_within(self.m), self.seen + size, self.hurt + hurt
        shares = FIXED_SHARES.reshape(-1, *[1] * m.ndim)
        logs = (n - s) * np.log1p(shares * m / (1 - m)) + s * np.log1p(-shares)
        return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(FIXED_SHARES)))

    def _tails(self, size: int, hurt: Floats, level: Floats) -> tuple[Floats, Floats]:
        """P(count ≤ hurt), and the greatest tail that is at most `level`, 0 where none is."""
        if self.known is not None:
            return _hypergeometric_tails(
                self.known - self.seen, _least_hurt(self.m, self.known) - self.hurt, size, hurt, level
            )
        m = levels_within(self.m)
        with np.errstate(invalid="ignore"):
            guess = np.clip(np.nan_to_num(np.floor(bdtrik(level, size, m)), nan=-1.0), -1, size) + 1
        greatest = np.zeros(m.shape)
        for less in (2, 1, 0):  # the inverse may miss by one
            k = guess - less
            tail = np.where(k >= 0, binomial_p(np.maximum(k, 0), size, m), 0.0)
            greatest = np.where(tail <= level, np.maximum(greatest, tail), greatest)
        return binomial_p(hurt, size, m), greatest


def _least_hurt(m: Floats, known: int) -> Floats:
    """The fewest hurt queries of the known traffic with which the share is at least m."""
    return np.ceil(known * m - _ROUNDING)


def _hypergeometric_tails(
    left: int, hurt_left: Floats, size: int, hurt: Floats, level: Floats
) -> tuple[Floats, Floats]:
    """The same of `size` queries out of `left`, of which `hurt_left` are hurt."""
    many = np.clip(hurt_left, 0, left)[..., None]
    k = np.arange(size + 1)
    with np.errstate(invalid="ignore"):
        possible = (k <= many) & (size - k <= left - many)
        ways = _log_choose(many, np.minimum(k, many)) + _log_choose(left - many, np.clip(size - k, 0, left - many))
        chances = np.where(possible, np.exp(ways - _log_choose(left, size)), 0.0)
    tails = np.minimum(np.cumsum(chances, axis=-1), 1.0)
    tail = np.take_along_axis(tails, hurt.astype(np.int64)[..., None], axis=-1)[..., 0]
    return tail, np.where(tails <= level[..., None], tails, 0.0).max(axis=-1)


def _log_choose(n: Floats | int, k: Floats | Ints | int) -> Floats:
    return np.asarray(gammaln(np.add(n, 1)) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n, k) + 1))


def least_count_of_known(m: float, delta: float, known: int) -> int:
    """The fewest queries, none of them hurt and judged at once, that can prove a share below m of a known number."""
    hurt = float(_least_hurt(np.array(m), known))
    possible = np.arange(known - hurt + 1, dtype=np.float64)
    none_hurt = _log_choose(known - possible, np.array(hurt)) - _log_choose(known, np.array(hurt))
    reached = np.exp(none_hurt) <= AIMING_PART * delta
    return int(reached.argmax()) if reached.any() else len(possible)


def batches_of(x: _Array, sizes: Sequence[int]) -> list[_Array]:
    """Values of shape (..., queries) cut into batches of these sizes."""
    return np.split(x, np.cumsum(sizes)[:-1], axis=-1)
