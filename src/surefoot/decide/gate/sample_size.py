"""How many judged queries it would take: the least number with which 80 % of resamples of the judged ones decide."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.arrays import Flags, Floats, Ints
from surefoot.decide.evidence.proof import ConditionEvidence
from surefoot.decide.options import DECIDING_SHARE, MOST_QUERIES_TRIED, RESAMPLES
from surefoot.risk.batches import AIMING_PART, FIXED_PART, BatchBet, CountBet, batches_of
from surefoot.risk.betting import (
    AIMING_PRIOR,
    MANY_QUERIES,
    MOST_STAKE,
    AnytimeBets,
    ColumnWithRoom,
    anytime_columns,
    start_anytime,
    stratified_p_columns,
)
from surefoot.risk.bounds import binomial_p
from surefoot.risk.control_variate import ControlVariate, JudgeMoments

_SEED = 0
_CLOSE_ENOUGH = 1.05  # how near the least number is searched for
_SUMMED_BLOCKS = 200  # of queries whose sums are drawn, as good as normal, where there are many


def queries_needed(
    evidence: Sequence[ConditionEvidence], queries: int, delta: float, *, again: bool = False, parts: int | None = None
) -> int | None:
    """The least number of judged queries; None where the most that is tried would not decide.

    With `again` the bets go on from where they are, with one more batch, and the number counts those that are judged
    already; otherwise it is of a new look at a new sample. Each condition's queries are drawn again with replacement
    (without, from a known traffic), conditions on the same queries together, with what an automatic judge says of them
    (what it says of all traffic stays). δ is shared by `parts` conditions, these by default.
    """
    groups = _groups([one for one in evidence if len(one.x)], delta, parts or len(evidence), again)
    if not groups:
        return max((one.least(delta) or 0 for one in evidence), default=0) or None
    if evidence[0].budget is not None:
        return _after_batches(groups, queries)
    judged, most = queries if again else 0, most_tried(queries)
    if evidence[0].known is not None and evidence[0].rule.segment is None:
        most = min(most, evidence[0].known)
    low, high = 0, min(most - judged, max(8, queries // 8))
    while _deciding_share(groups, high / queries) < DECIDING_SHARE:
        if judged + high >= most:
            return None
        low, high = high, min(most - judged, 2 * high)
    while high > _CLOSE_ENOUGH * low and high - low > 1:
        middle = max(low + 1, min(high - 1, round(math.sqrt(max(1, low) * high))))
        enough = _deciding_share(groups, middle / queries) >= DECIDING_SHARE
        low, high = (low, middle) if enough else (middle, high)
    return judged + high


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
    batches: tuple[int, ...] = ()  # sizes of those that the bets go on from
    known: int | None = None  # queries of the traffic, where they are a random sample of so many
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

    @cached_property
    def so_far(self) -> tuple[BatchBet | CountBet, ControlVariate | None]:
        """The gate's bets after the batches that they go on from, and what learned λ from these."""
        shape, variate = (2 * len(self.x), RESAMPLES), self.variate()
        start = CountBet.start if self.method == "binomial" else BatchBet.start
        bet: Any = start(np.broadcast_to(self.m, shape), np.broadcast_to(self.deltas, shape), known=self.known)
        if self.batches:
            x, a = self.both(self.x)[:, None], None if self.a is None else self.both(self.a)[:, None]
            others = [None] * len(self.batches) if a is None else batches_of(a, self.batches)
            for batch, own in zip(batches_of(x, self.batches), others, strict=True):
                bet = bet.after(batch) if own is None else bet.after(batch, variate, own)
        return bet, variate

    def after(self, more: int) -> Floats:
        """p of each test and resample after one more batch of so many queries."""
        bet, variate = self.so_far
        if self.known is not None:
            more = min(more, self.known - bet.seen)
        if not more:
            return bet.p
        rows = self._resampled(more, bet.seen)
        x = self.both(self.x[:, rows])
        if self.a is None or isinstance(bet, CountBet):
            return bet.after(x).p
        return bet.after(x, copy.copy(variate), self.both(self.a[:, rows])).p

    def _resampled(self, more: int, seen: int) -> Ints:
        """Places of queries, a row for each resample: of what is left of a known traffic each once."""
        rng = np.random.default_rng(_SEED)
        if self.known is None or self.known > MANY_QUERIES:
            return rng.integers(0, self.size, (RESAMPLES, more))
        left = np.resize(rng.permutation(self.size), (RESAMPLES, max(more, self.known - seen)))
        return np.asarray(rng.permuted(left, axis=1)[:, :more])


def _groups(evidence: Sequence[ConditionEvidence], delta: float, parts: int, again: bool) -> list[_TestGroup]:
    gathered: dict[tuple[str | None, str, bool], list[ConditionEvidence]] = {}
    for one in evidence:
        gathered.setdefault((one.rule.segment, one.method, one.judge is None), []).append(one)
    return [
        _TestGroup(
            method,
            own[0].budget or 1,
            np.stack([condition_evidence.x for condition_evidence in own]),
            np.array([condition_evidence.m for condition_evidence in own]),
            delta,
            delta / parts,
            own[0].batches if again else (),
            own[0].known,
            *_judges(own),
        )
        for (_, method, _), own in gathered.items()
    ]


def _judges(evidence: Sequence[ConditionEvidence]) -> tuple[Floats, JudgeMoments] | tuple[None, None]:
    judges = [one.judge for one in evidence if one.judge is not None]
    if not judges:
        return None, None
    return np.stack([judge.a for judge in judges]), JudgeMoments(*np.array([judge.moments for judge in judges]).T)


def _deciding_share(groups: Sequence[_TestGroup], times: float) -> float:
    """The share of resamples that decide after so many times as many queries as are judged."""
    all_hold, any_fails = np.ones(RESAMPLES, bool), np.zeros(RESAMPLES, bool)
    for group in groups:
        hold, fails = group.decided(_p(group, max(1, round(times * group.size))))
        all_hold &= hold
        any_fails |= fails
    return float((all_hold | any_fails).mean())


def _p(group: _TestGroup, more: int) -> Floats:
    if group.method == "stratified":
        rng, shape = np.random.default_rng(_SEED), (2 * len(group.x), RESAMPLES)
        columns = (group.both(group.x[:, rng.integers(0, group.size, RESAMPLES)]) for _ in range(more))
        return stratified_p_columns(columns, group.m, shape)
    if more > MANY_QUERIES and group.judge is None:
        return _p_of_sums(group, more)
    return group.after(more)


def _p_of_sums(group: _TestGroup, more: int) -> Floats:
    """The same of sums over blocks of many queries, drawn as normal; a block has one stake, as beyond 20,000 queries.

    The log of 1 + ν·(m − x) is taken to its second power: stakes are small where queries are many. What is on fixed
    stakes stays as it is.
    """
    rng = np.random.default_rng(_SEED)
    mean, root = group.moments
    bet, _ = group.so_far
    if isinstance(bet, CountBet):
        drawn = more * mean[:, None] + math.sqrt(more) * root @ rng.standard_normal((len(mean), RESAMPLES))
        total = np.clip(np.round(drawn), 0, more)
        share = AIMING_PART * np.minimum(1, bet.delta * bet.capital)
        return np.minimum(bet.p, bet.delta * binomial_p(np.concatenate([total, more - total]), more, group.m) / share)
    m, kept = group.m, FIXED_PART * bet.fixed_capital
    target = np.log(np.maximum(bet.wanted - kept, 1e-300) / AIMING_PART)
    apart = m - group.both(mean)[:, None]
    spread = np.tile((root**2).sum(axis=1), 2)[:, None]
    second = spread + apart**2
    log_capital, peak = bet.log_aiming, np.log(bet.peak)
    size = more / _SUMMED_BLOCKS
    for block in range(_SUMMED_BLOCKS):
        seen = bet.seen + block * size
        variance = (AIMING_PRIOR * m * (1 - m) / 2 + seen * spread) / (AIMING_PRIOR + seen)
        left = more - block * size
        stake = np.sqrt(2 * np.maximum(target - log_capital, 0) / (left * np.maximum(variance, 1e-300)))
        np.minimum(stake, MOST_STAKE / (1 - m), out=stake)
        noise = math.sqrt(size) * root @ rng.standard_normal((len(mean), RESAMPLES))
        log_capital = (
            log_capital + stake * (size * apart - np.concatenate([noise, -noise])) - size * stake**2 * second / 2
        )
        peak = np.maximum(peak, np.log(AIMING_PART * np.exp(log_capital) + kept))
    return np.minimum(1, np.exp(-peak))


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
