"""How many draws people must judge to prove a level, with an automatic judge and without it.

The judged queries are taken for all of the traffic: draws are made from them again and again, as `judge next` makes
them, and bet on as the gate bets.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.arrays import Floats
from surefoot.decide.options import DECIDING_SHARE, RESAMPLES
from surefoot.risk.batches import CountBet, p_of_batch
from surefoot.risk.control_variate import judge_moments

_MOST_DRAWS = 4_000  # draws that are tried
_CLOSE_ENOUGH = 1.03  # how near the least number is searched for
_SEED = 0


def draws_needed(
    h: Floats, chances: Floats, m: float, delta: float, a: Floats | None = None, *, exact: bool = False
) -> int | None:
    """The least number of draws with which 80 % of resamples prove E[h] < m; None where 4,000 do not.

    `a` are an automatic judge's values of the same queries, each drawn with a chance in proportion to `chances`.
    Without a judge, values of 0 and 1 have an `exact` test.

    >>> people = np.where(np.arange(200) % 10 == 0, 0.5, 0.0)
    >>> draws_needed(people, np.ones(200), 0.1, 0.05, people) < draws_needed(people, np.ones(200), 0.1, 0.05)
    True
    """
    share = chances / chances.sum()
    drawn = np.random.default_rng(_SEED).choice(len(h), (RESAMPLES, _MOST_DRAWS), p=share)
    judge = None if a is None else judge_moments(a, chances)

    def decided(n: int) -> float:
        rows = drawn[:, :n]
        if exact and (judge is None or judge.variance == 0):
            return float((CountBet.start(m, delta, (RESAMPLES,)).after(h[rows]).p <= delta).mean())
        return float((p_of_batch(h[rows], m, delta, None if a is None else a[rows], judge) <= delta).mean())

    low, high = 0, 8
    while decided(high) < DECIDING_SHARE:
        if high == _MOST_DRAWS:
            return None
        low, high = high, min(2 * high, _MOST_DRAWS)
    while high > _CLOSE_ENOUGH * low and high - low > 1:
        middle = (low + high) // 2 if low == 0 else max(low + 1, min(high - 1, round(math.sqrt(low * high))))
        low, high = (low, middle) if decided(middle) >= DECIDING_SHARE else (middle, high)
    return high
