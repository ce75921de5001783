"""How many judged queries it would take: the least number with which 80 % of resamples of the judged ones decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """The least number of queries, those judged included; None where even 20,000 would not decide.

    Each condition's queries are drawn again with replacement, conditions on the same queries together.
    """
    if any(one.method == "anytime" for one in evidence):
        return _after_batches(evidence, queries, delta)
    low, high = queries, queries
    while True:
        high = min(MOST_NEEDED, max(high + 1, int(1.5 * high)))
        if high <= low:
            return None
        if _decided(evidence, high / queries, delta) >= DECIDED:
            break
        low = high
    while high > _CLOSE * low and high - low > 1:
        middle = (low + high) // 2
        enough = _decided(evidence, middle / queries, delta) >= DECIDED
        low, high = (low, middle) if enough else (middle, high)
    return high


def _decided(evidence: Sequence[Evidence], times: float, delta: float) -> float:
    """The share of resamples, so many times as large as the sample, that decide."""
    all_hold, any_fails = np.ones(RESAMPLES, bool), np.zeros(RESAMPLES, bool)
    share = delta / len(evidence)
    for one in evidence:
        n = max(1, round(times * len(one.x)))
        all_hold &= _p(one, one.x, one.m, n, delta) <= delta
        any_fails |= _p(one, 1 - one.x, 1 - one.m, n, share) <= share
    return float((all_hold | any_fails).mean())


def _p(one: Evidence, x: Floats, m: float, n: int, delta: float) -> Floats:
    columns, shape = _resampled(x, n), (RESAMPLES,)
    if one.method == "binomial":
        total = np.zeros(shape)
        for column in columns:
            total += column
        return binomial_p(total, n, m)
    if one.method == "stratified":
        return stratified_p_columns(columns, m, shape)
    return betting_p_columns(columns, n, m, delta, shape)


def _resampled(x: Floats, n: int) -> Iterator[Floats]:
    """n columns of resamples; the same places for every condition that has as many queries."""
    rng = np.random.default_rng(_SEED)
    for start in range(0, n, _BLOCK):
        yield from x[rng.integers(0, len(x), (min(_BLOCK, n - start), RESAMPLES))]


def _after_batches(evidence: Sequence[Evidence], queries: int, delta: float) -> int | None:
    """The same in the anytime form: from where the bets are now, as more queries come."""
    share = delta / len(evidence)
    holding = [_started(one, one.x, one.m, delta) for one in evidence]
    failing = [_started(one, 1 - one.x, 1 - one.m, share) for one in evidence]
    generators = [np.random.default_rng(_SEED) for _ in evidence]
    now = queries
    while now < MOST_NEEDED:
        later = min(MOST_NEEDED, now + max(8, now // 20))
        all_hold, any_fails = np.ones(RESAMPLES, bool), np.zeros(RESAMPLES, bool)
        for place, one in enumerate(evidence):
            more = round(later / queries * len(one.x)) - round(now / queries * len(one.x))
            drawn = one.x[generators[place].integers(0, len(one.x), (more, RESAMPLES))]
            holding[place] = anytime_columns(drawn, holding[place])
            failing[place] = anytime_columns(1 - drawn, failing[place])
            all_hold &= _reached(holding[place], delta)
            any_fails |= _reached(failing[place], share)
        now = later
        if float((all_hold | any_fails).mean()) >= DECIDED:
            return now
    return None


def _started(one: Evidence, x: Floats, m: float, delta: float) -> Anytime:
    """Where the bets are after the judged queries, once for each resample."""
    state = anytime_capital(x, start_anytime(m, delta, one.budget or len(x)))
    spread: dict[str, Any] = {
        name: np.repeat(value[..., None], RESAMPLES, axis=-1)
        for name, value in state._asdict().items()
        if isinstance(value, np.ndarray)
    }
    return state._replace(**spread)


def _reached(state: Anytime, delta: float) -> Flags:
    return np.asarray(state.p <= delta)
