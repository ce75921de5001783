"""How many judged queries it would take: the least number with which 80 % of resamples of the judged ones decide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.arrays import Flags, Floats, Ints
from surefoot.decide.evidence.proof import Evidence
from surefoot.decide.options import DECIDING_SHARE, MOST_QUERIES_TRIED, RESAMPLES
from surefoot.risk.betting import (
    AIMING_PRIOR,
    MANY_QUERIES,
    MOST_STAKE,
    AnytimeBets,
    ColumnWithRoom,
    anytime_columns,
    betting_p_columns,
    start_anytime,
    stratified_p_columns,
)
from surefoot.risk.bounds import binomial_p
from surefoot.risk.control_variate import ControlVariate, JudgeMoments

_SEED = 0
_CLOSE_ENOUGH = 1.05  # how near the least number is searched for
_DRAWN_TOGETHER = 64  # queries drawn at a time
_SUMMED_BLOCKS = 200  # of queries whose sums are drawn, as good as normal, where there are many


def queries_needed(evidence: Sequence[Evidence], queries: int, delta: float) -> int | None:
    """The least number of queries, those judged included; None where the most that is tried would not decide.

    Each condition's queries are drawn again with replacement, conditions on the same queries together, with what an
    automatic judge says of them (what it says of all traffic stays). The more
    queries, the more resamples decide: the number is searched for between those that are judged and the most.
    """
    groups = _groups(evidence, delta)
    if evidence[0].budget is not None:
        return _after_batches(groups, queries)
    low, high = queries, most_tried(queries)
    if _deciding_share(groups, high / queries) < DECIDING_SHARE:
        return None
    while high > _CLOSE_ENOUGH * low and high - low > 1:
        middle = max(low + 1, min(high - 1, round(math.sqrt(low * high))))
        enough = _deciding_share(groups, middle / queries) >= DECIDING_SHARE
        low, high = (low, middle) if enough else (middle, high)
    return high


def most_tried(queries: int) -> int:
    """The greatest number that is tried."""
    return max(MOST_QUERIES_TRIED, 2 * queries)


@dataclass(frozen=True)
class _TestGroup:
    """Conditions of one method on the same queries, a row of x for each; tests are these, then the mirrored ones."""

    method: str
    budget: int
    x: Floats
    m_of_conditions: Floats  # the m of each condition
    delta: float
    failing_delta: float  # the part of δ for the mirrored tests
    a: Floats | None = None  # an automatic judge's values in place of x
    judge: JudgeMoments | None = None  # of each condition

    @property
    def size(self) -> int:
        """How many queries were judged."""
        return int(self.x.shape[-1])

    @property
    def m(self) -> Floats:
        """The level of each test, as a column."""
        return np.concatenate([self.m_of_conditions, 1 - self.m_of_conditions])[:, None]

    @property
    def deltas(self) -> Floats:
        """What p of each test is compared with, as a column."""
        return np.repeat([self.delta, self.failing_delta], len(self.x))[:, None]

    def both(self, x: Floats) -> Floats:
        """Values of the conditions, with the mirrored ones after them."""
        return np.concatenate([x, 1 - x])

    def variate(self) -> ControlVariate | None:
        """What learns λ of each test and resample, where there is a judge."""
        if self.judge is None:
            return None
        both = (np.concatenate(parts)[:, None] for parts in zip(self.judge, self.judge.mirrored, strict=True))
        return ControlVariate(np.repeat(self.m, RESAMPLES, axis=1), JudgeMoments(*both))

    def columns(self, places: Ints, variate: ControlVariate | None) -> Iterable[Floats | ColumnWithRoom]:
        """For each row of places the values of the queries there, of all tests."""
        x = (self.both(self.x[:, row]) for row in places)
        if self.a is None or variate is None:
            return x
        own = self.a
        return variate.columns(zip(x, (self.both(own[:, row]) for row in places), strict=True))

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """The means of x, and a root of their covariances, by which sums of many queries can be drawn."""
        covariance = np.atleast_2d(np.cov(self.x, bias=True))
        values, vectors = np.linalg.eigh(covariance)
        return self.x.mean(axis=1), vectors * np.sqrt(np.maximum(values, 0))

    def decided(self, p: Floats) -> tuple[Flags, Flags]:
        """In which resamples all conditions hold, and in which one fails."""
        reached = p <= self.deltas
        hold, fail = reached[: len(self.x)].all(axis=0), reached[len(self.x) :].any(axis=0)
        return np.asarray(hold), np.asarray(fail)


def _groups(evidence: Sequence[Evidence], delta: float) -> list[_TestGroup]:
    gathered: dict[tuple[str | None, str, bool], list[Evidence]] = {}
    for one in evidence:
        gathered.setdefault((one.rule.segment, one.method, one.judge is None), []).append(one)
    failing_delta = delta / len(evidence)
    return [
        _TestGroup(
            method,
            own[0].budget or 1,
            np.stack([condition_evidence.x for condition_evidence in own]),
            np.array([condition_evidence.m for condition_evidence in own]),
            delta,
            failing_delta,
            *_judges(own),
        )
        for (_, method, _), own in gathered.items()
    ]


def _judges(evidence: Sequence[Evidence]) -> tuple[Floats, JudgeMoments] | tuple[None, None]:
    judges = [one.judge for one in evidence if one.judge is not None]
    if not judges:
        return None, None
    return np.stack([judge.a for judge in judges]), JudgeMoments(*np.array([judge.moments for judge in judges]).T)


def _deciding_share(groups: Sequence[_TestGroup], times: float) -> float:
    """The share of resamples, so many times as large as the sample, that decide."""
    all_hold, any_fails = np.ones(RESAMPLES, bool), np.zeros(RESAMPLES, bool)
    for group in groups:
        hold, fails = group.decided(_p(group, max(1, round(times * group.size))))
        all_hold &= hold
        any_fails |= fails
    return float((all_hold | any_fails).mean())


def _p(group: _TestGroup, n: int) -> Floats:
    if n > MANY_QUERIES and group.method != "stratified" and group.judge is None:
        return _p_of_sums(group, n)
    columns, shape = _resampled(group, n), (2 * len(group.x), RESAMPLES)
    if group.method == "binomial":
        total = np.zeros(shape)
        for column in columns:
            total += column
        return binomial_p(total, n, group.m)
    if group.method == "stratified":
        return stratified_p_columns(columns, group.m, shape)
    return betting_p_columns(columns, n, group.m, group.deltas, shape)


def _resampled(group: _TestGroup, n: int) -> Iterator[Any]:
    """n columns of resamples; the same places for every condition that has as many queries."""
    rng, variate = np.random.default_rng(_SEED), group.variate()
    for start in range(0, n, _DRAWN_TOGETHER):
        drawn = rng.integers(0, group.size, (min(_DRAWN_TOGETHER, n - start), RESAMPLES))
        yield from group.columns(drawn, variate)


def _p_of_sums(group: _TestGroup, n: int) -> Floats:
    """The same of sums over blocks of many queries, drawn as normal; a block has one stake, as beyond 20,000 queries.

    The log of 1 + ν·(m − x) is taken to its second power: stakes are small where queries are many.
    """
    rng = np.random.default_rng(_SEED)
    mean, root = group.moments
    if group.method == "binomial":
        drawn = n * mean[:, None] + math.sqrt(n) * root @ rng.standard_normal((len(mean), RESAMPLES))
        total = np.clip(np.round(drawn), 0, n)
        return binomial_p(np.concatenate([total, n - total]), n, group.m)
    m, target = group.m, -np.log(group.deltas)
    apart = m - group.both(mean)[:, None]
    spread = np.tile((root**2).sum(axis=1), 2)[:, None]
    second = spread + apart**2
    log_capital, peak = np.zeros((len(m), RESAMPLES)), np.zeros((len(m), RESAMPLES))
    size = n / _SUMMED_BLOCKS
    for block in range(_SUMMED_BLOCKS):
        seen = block * size
        variance = (AIMING_PRIOR * m * (1 - m) / 2 + seen * spread) / (AIMING_PRIOR + seen)
        stake = np.sqrt(2 * np.maximum(target - log_capital, 0) / ((n - seen) * np.maximum(variance, 1e-300)))
        np.minimum(stake, MOST_STAKE / (1 - m), out=stake)
        noise = math.sqrt(size) * root @ rng.standard_normal((len(mean), RESAMPLES))
        log_capital += stake * (size * apart - np.concatenate([noise, -noise])) - size * stake**2 * second / 2
        np.maximum(peak, log_capital, out=peak)
    return np.exp(-peak)


def _after_batches(groups: Sequence[_TestGroup], queries: int) -> int | None:
    """The same in the anytime form: from where the bets are now, as more queries come."""
    variates = [group.variate() for group in groups]
    states = [_bets_so_far(group, variate) for group, variate in zip(groups, variates, strict=True)]
    generators = [np.random.default_rng(_SEED) for _ in groups]
    now, most = queries, most_tried(queries)
    while now < most:
        later = min(most, now + max(8, now // 20))
        all_hold, any_fails = np.ones(RESAMPLES, bool), np.zeros(RESAMPLES, bool)
        for number, group in enumerate(groups):
            more = round(later / queries * group.size) - round(now / queries * group.size)
            drawn = generators[number].integers(0, group.size, (more, RESAMPLES))
            states[number] = anytime_columns(group.columns(drawn, variates[number]), states[number])
            hold, fails = group.decided(states[number].p)
            all_hold &= hold
            any_fails |= fails
        now = later
        if float((all_hold | any_fails).mean()) >= DECIDING_SHARE:
            return now
    return None


def _bets_so_far(group: _TestGroup, variate: ControlVariate | None) -> AnytimeBets:
    """Where the bets are after the judged queries, once for each resample."""
    shape = (2 * len(group.x), RESAMPLES)
    start = start_anytime(group.m, np.broadcast_to(group.deltas, shape), group.budget, shape)
    return anytime_columns(group.columns(np.arange(group.size)[:, None], variate), start)
