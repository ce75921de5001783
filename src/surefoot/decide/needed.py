"""How many judged queries it would take: the least number with which 80 % of resamples of the judged ones decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Flags, Floats
from surefoot.decide.defaults import DECIDED, MOST_NEEDED, RESAMPLES
from surefoot.decide.evidence import Evidence
from surefoot.risk.betting import (
    Anytime,
    anytime_capital,
    anytime_columns,
    betting_p_columns,
    start_anytime,
    stratified_p_columns,
)
from surefoot.risk.bounds import binomial_p

_SEED = 0
_CLOSE = 1.05  # how near the least number is searched for
_BLOCK = 64  # queries drawn at a time


def queries_needed(evidence: Sequence[Evidence], queries: int, delta: float) -> int | None:
    """The least number of queries, those judged included; None where the most that is tried would not decide.

    Each condition's queries are drawn again with replacement, conditions on the same queries together. The more
    queries, the more resamples decide: the number is searched for between those that are judged and the most.
    """
    groups = _groups(evidence, delta)
    if evidence[0].budget is not None:
        return _after_batches(groups, queries)
    low, high = queries, most_tried(queries)
    if _decided(groups, high / queries) < DECIDED:
        return None
    while high > _CLOSE * low and high - low > 1:
        middle = max(low + 1, min(high - 1, round(math.sqrt(low * high))))
        enough = _decided(groups, middle / queries) >= DECIDED
        low, high = (low, middle) if enough else (middle, high)
    return high


def most_tried(queries: int) -> int:
    """The greatest number that is tried."""
    return max(MOST_NEEDED, 2 * queries)


@dataclass(frozen=True)
class _Group:
    """Conditions of one method on the same queries: x and 1 − x, with the m and δ of each, a row for each test."""

    method: str
    budget: int
    x: Floats
    m: Floats
    delta: Floats
    conditions: int

    def decided(self, p: Floats) -> tuple[Flags, Flags]:
        """In which resamples all conditions hold, and in which one fails."""
        reached = p <= self.delta
        hold, fail = reached[: self.conditions].all(axis=0), reached[self.conditions :].any(axis=0)
        return np.asarray(hold), np.asarray(fail)


def _groups(evidence: Sequence[Evidence], delta: float) -> list[_Group]:
    gathered: dict[tuple[str | None, str], list[Evidence]] = {}
    for one in evidence:
        gathered.setdefault((one.rule.segment, one.method), []).append(one)
    found = []
    for (_, method), own in gathered.items():
        x, m = np.stack([one.x for one in own]), np.array([[one.m] for one in own])
        levels = np.repeat([[delta], [delta / len(evidence)]], len(own), axis=0)
        both, limits = np.concatenate([x, 1 - x]), np.concatenate([m, 1 - m])
        found.append(_Group(method, own[0].budget or 1, both, limits, levels, len(own)))
    return found


def _decided(groups: Sequence[_Group], times: float) -> float:
    """The share of resamples, so many times as large as the sample, that decide."""
    all_hold, any_fails = np.ones(RESAMPLES, bool), np.zeros(RESAMPLES, bool)
    for group in groups:
        hold, fails = group.decided(_p(group, max(1, round(times * group.x.shape[-1]))))
        all_hold &= hold
        any_fails |= fails
    return float((all_hold | any_fails).mean())


def _p(group: _Group, n: int) -> Floats:
    columns, shape = _resampled(group.x, n), (len(group.x), RESAMPLES)
    if group.method == "binomial":
        total = np.zeros(shape)
        for column in columns:
            total += column
        return binomial_p(total, n, group.m)
    if group.method == "stratified":
        return stratified_p_columns(columns, group.m, shape)
    return betting_p_columns(columns, n, group.m, group.delta, shape)


def _resampled(x: Floats, n: int) -> Iterator[Floats]:
    """n columns of resamples; the same places for every condition that has as many queries."""
    rng = np.random.default_rng(_SEED)
    for start in range(0, n, _BLOCK):
        places = rng.integers(0, x.shape[-1], (min(_BLOCK, n - start), RESAMPLES))
        yield from np.ascontiguousarray(np.moveaxis(x[:, places], 1, 0))


def _after_batches(groups: Sequence[_Group], queries: int) -> int | None:
    """The same in the anytime form: from where the bets are now, as more queries come."""
    states = [_started(group) for group in groups]
    generators = [np.random.default_rng(_SEED) for _ in groups]
    now, most = queries, most_tried(queries)
    while now < most:
        later = min(most, now + max(8, now // 20))
        all_hold, any_fails = np.ones(RESAMPLES, bool), np.zeros(RESAMPLES, bool)
        for place, group in enumerate(groups):
            size = group.x.shape[-1]
            more = round(later / queries * size) - round(now / queries * size)
            drawn = group.x[:, generators[place].integers(0, size, (more, RESAMPLES))]
            states[place] = anytime_columns(np.moveaxis(drawn, 1, 0), states[place])
            hold, fails = group.decided(states[place].p)
            all_hold &= hold
            any_fails |= fails
        now = later
        if float((all_hold | any_fails).mean()) >= DECIDED:
            return now
    return None


def _started(group: _Group) -> Anytime:
    """Where the bets are after the judged queries, once for each resample."""
    state = anytime_capital(group.x, start_anytime(group.m[:, 0], group.delta[:, 0], group.budget))
    spread: dict[str, Any] = {
        name: np.repeat(value[..., None], RESAMPLES, axis=-1)
        for name, value in state._asdict().items()
        if isinstance(value, np.ndarray)
    }
    return state._replace(**spread)
