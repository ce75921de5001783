"""Betting on people's judgments of few queries with an automatic judge's of all: the judge is a control variate.

Of queries drawn with known probabilities, people say h and the judge says a, both within [0, 1]. What the judge says of
all traffic is known, and so is its mean ā = E[a] under the draws. a − ā has mean 0 whatever the judge is like, so

    y = h − λ·(a − ā)          has the mean of h, and a smaller variance where the judge agrees with people
    K_i = K_{i−1}·(1 + ν_i·(m − y_i))

is a fair bet against the hypothesis E[h] ≥ m, for any λ and ν that look at the past only. λ is the regression of what
people said on what the judge said, begun as ½ from 20 imagined draws. A judge that says the same of every query has
λ = 0, and the bet is that of `betting`. (The frame is prediction-powered inference: Angelopoulos et al., 2023.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Floats
from surefoot.risk.betting import (
    AnytimeBets,
    ColumnWithRoom,
    Delta,
    anytime_columns,
    check_unit,
    columns_of,
    levels_within,
    start_anytime,
)

IMAGINED_DRAWS = 20.0  # draws before the first, of which people agree with half of what the judge says
MOST_JUDGE_WEIGHT = 1.5  # of the judge, λ
_CONSTANT = 1e-12  # by which the values of a judge that always says the same may differ, by rounding


class JudgeMoments(NamedTuple):
    """What is known of a judge's values over all traffic, under the draws: ā, V_a, a_min and a_max."""

    mean: Floats | float
    variance: Floats | float
    least: Floats | float
    most: Floats | float

    @property
    def mirrored(self) -> JudgeMoments:
        """Those of 1 − a."""
        return JudgeMoments(1 - self.mean, self.variance, 1 - self.most, 1 - self.least)


def judge_moments(a: ArrayLike, chances: ArrayLike) -> JudgeMoments:
    """The moments of a over all traffic, of which each query is drawn with a chance in proportion to `chances`.

    >>> judge_moments([0.0, 1.0, 0.5], [3, 1, 0])
    JudgeMoments(mean=0.25, variance=0.1875, least=0.0, most=1.0)
    """
    chance = np.asarray(chances, np.float64)
    drawn = chance > 0
    values, chance = check_unit(np.asarray(a, np.float64)[drawn]), chance[drawn] / chance[drawn].sum()
    least, most = float(values.min()), float(values.max())
    if most - least <= _CONSTANT:
        return JudgeMoments(least, 0.0, least, least)
    mean = float(chance @ values)
    return JudgeMoments(mean, float(chance @ (values - mean) ** 2), least, most)


class ControlVariate:
    """λ, learned draw by draw, for each level m within (0, 1):

    λ_i = clip( (10·V_a + Σ_{j<i} (h_j − m)(a_j − ā)) / (20·V_a + Σ_{j<i} (a_j − ā)²), 0, 1.5 )
    """

    def __init__(self, m: ArrayLike, judge: JudgeMoments) -> None:
        self.m, self.judge = levels_within(np.asarray(m, np.float64)), judge
        self._together = np.asarray(judge.variance * (IMAGINED_DRAWS / 2) + np.zeros(self.m.shape))
        self._squares = np.asarray(judge.variance * IMAGINED_DRAWS)
        self._varies = np.asarray(judge.variance) > 0  # another learns nothing

    @property
    def weight(self) -> Floats:
        """λ of the next draw."""
        known = self._squares > 0
        share = self._together / np.where(known, self._squares, 1.0)
        return np.where(known, np.clip(share, 0, MOST_JUDGE_WEIGHT), 0.0)

    def columns(self, pairs: Iterable[tuple[Floats, Floats]]) -> Iterator[ColumnWithRoom]:
        """For each draw, given as h and a, y and how far it may exceed m: to 1 + λ·(ā − a_min)."""
        below = self.judge.mean - self.judge.least
        for people, automatic in pairs:
            weight, apart = self.weight, automatic - self.judge.mean
            yield ColumnWithRoom(people - weight * apart, 1 - self.m + weight * below)
            self._learn(people, apart)

    def learn(self, h: Floats, a: Floats) -> Floats:
        """λ after all of these draws at once, for a single level m."""
        apart = a - self.judge.mean
        self._together = self._together + ((h - self.m) * apart).sum() * self._varies
        self._squares = self._squares + (apart * apart).sum() * self._varies
        return self.weight

    def _learn(self, people: Floats, apart: Floats) -> None:
        self._together = self._together + (people - self.m) * apart * self._varies
        self._squares = self._squares + apart * apart * self._varies


def anytime_with_judge(
    h: ArrayLike, a: ArrayLike, judge: JudgeMoments, m: ArrayLike, delta: Delta, budget: int
) -> AnytimeBets:
    """The anytime bets, as `anytime_capital`, after all draws so far; the fixed bets are shares of 1/(1−m+λ(ā−a_min)).

    >>> judge = JudgeMoments(mean=0.1, variance=0.0, least=0.1, most=0.1)
    >>> float(anytime_with_judge(np.zeros(172), np.full(172, 0.1), judge, 0.02, 0.05, 300).p) <= 0.05
    True
    """
    people, automatic = np.broadcast_arrays(check_unit(h), check_unit(a))
    level = np.asarray(m, np.float64)
    level = np.array(np.broadcast_to(level, np.broadcast_shapes(level.shape, people.shape[:-1])))
    columns = ControlVariate(level, judge).columns(zip(columns_of(people), columns_of(automatic), strict=True))
    return anytime_columns(columns, start_anytime(level, delta, budget))
