"""Where a verdict turns as losses weigh more: up to which α its reward prevails, from which α on its risk does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from surefoot.risk.inference import hall_t, two_sided_p
from surefoot.risk.multiplicity import verdicts
from surefoot.risk.plain_data import Turn, Verdict
from surefoot.risk.vectors import Vector, blocks

MOST_ALPHA = 20.0  # beyond it nobody asks
STEPS = 80  # of the search; a verdict that turns twice within a step is seen once or not at all
CLOSE = 1e-3  # how near an α at which a verdict turns is found


def turning_points(differences: Sequence[Vector], testable: list[bool]) -> list[list[Turn] | None]:
    """Each system's verdicts by the adjusted p after Holm's correction, as α goes from 0 to 20.

    A system's list begins with its verdict at α = 0, and goes on with each α at which another one starts to hold, to
    0.001; None for systems that cannot be tested. Sums made once give the test at every α, so that this costs
    little whatever the number of queries.
    """
    rows = [row for row, fine in enumerate(testable) if fine]
    found: list[list[Turn] | None] = [None] * len(testable)
    if rows:
        verdicts = _Verdicts([differences[row] for row in rows])
        for position, row in enumerate(rows):
            found[row] = verdicts.turns(position)
    return found


class _Verdicts:
    """Verdicts of several systems at any α, from sums of powers of their gains and losses."""

    def __init__(self, differences: Sequence[Vector]) -> None:
        unit = max(float(max(part.max(), -part.min())) for row in differences for part in blocks(row))
        self._queries = len(differences[0])
        sums = [_power_sums(row, unit) for row in differences]
        self._gains, self._losses = np.array(sums).transpose(1, 2, 0) / self._queries
        self._alphas = np.linspace(0, MOST_ALPHA, STEPS + 1).tolist()
        self._at = {alpha: self._tested(alpha) for alpha in self._alphas}

    def turns(self, position: int) -> list[Turn]:
        """One system's verdict at α = 0, and where others start."""
        turns: list[Turn] = [{"alpha": 0.0, "verdict": self._at[0.0][position]}]
        for low, high in pairwise(self._alphas):
            if self._at[high][position] != self._at[low][position]:
                turns.append({"alpha": self._start(position, low, high), "verdict": self._at[high][position]})
        return turns

    def _start(self, position: int, low: float, high: float) -> float:
        """Where, between two α, the verdict of the higher one starts to hold."""
        wanted = self._at[high][position]
        while high - low > CLOSE:
            middle = (low + high) / 2
            low, high = (low, middle) if self._tested(middle)[position] == wanted else (middle, high)
        return high

    def _tested(self, alpha: float) -> list[Verdict]:
        """Every system's verdict at α: Hall's t from the moments of x_q, which are polynomials in 1 + α."""
        c, weight = self._queries, 1 + alpha
        mean, second, third = (self._gains[i] + weight ** (i + 1) * self._losses[i] for i in range(3))
        variance = np.maximum(second - mean**2, np.finfo(np.float64).tiny)
        skewness = (third - 3 * mean * second + 2 * mean**3) / variance**1.5
        t = hall_t(mean / np.sqrt(variance * c / (c - 1)), skewness, c)
        return [verdict for _, verdict in verdicts(t.tolist(), two_sided_p(t, c).tolist())]


def _power_sums(differences: Vector, unit: float) -> list[list[float]]:
    """Σδ, Σδ² and Σδ³ over the gains, and over the losses, with δ in a unit that keeps powers from vanishing."""
    sums = np.zeros((2, 3))
    for part in blocks(differences):
        for place, side in enumerate((np.maximum(part, 0) / unit, np.minimum(part, 0) / unit)):
            sums[place] += side.sum(), side @ side, np.square(side) @ side
    return [row.tolist() for row in sums]
