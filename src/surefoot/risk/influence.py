"""What each query adds to a mean by weights: u_q = w̃_q·(x_q − x̄_w), by whose moments weighted queries are tested."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from surefoot.arrays import Floats
from surefoot.risk.tradeoff import weigh_losses
from surefoot.risk.vectors import blocks, dot

_TINY = np.finfo(np.float64).tiny
_ROUNDING = 1e-13  # of Σw̃²x²; a Σu² below that is none

_CANCELLED = 1e-3  # of Σw̃²x²; where Σu² is less, the difference of such sums has lost digits


Figure: TypeAlias = Any  # a number, or an array of one at each of several α


class Influence(NamedTuple):
    """Of queries with relative weights w̃: the mean x̄_w, the extremes of x, and sums of powers of u and w̃.

    x is in a unit that keeps powers from vanishing.
    """

    queries: int
    mean: Figure
    lowest: Figure
    highest: Figure
    u2: Figure  # Σu²
    u3: Figure
    wu: Figure  # Σw̃u
    wu2: Figure
    w2u: Figure
    w2: float
    w3: float
    jackknife: Figure  # the variance of the mean by leaving one query out
    unit: float

    @property
    def deviation(self) -> Figure:
        """s_u, with the divisor c − 1."""
        return np.sqrt(np.maximum(self.u2, _TINY) / (self.queries - 1))

    @property
    def effective(self) -> float:
        """c_eff = (Σw̃)²/Σw̃²."""
        return self.queries**2 / self.w2

    @property
    def skewness(self) -> Figure:
        """γ of u."""
        root = np.sqrt(np.maximum(self.u2, _TINY) / self.queries)
        return self.u3 / self.queries / root / root / root  # the cube of a small root would be 0

    def with_another(self, value: Figure, weight: float = 1.0) -> Influence:
        """With one more query, by default of the mean weight, which is 1: its mean, deviation and skewness."""
        apart = value - self.mean
        step = weight * apart / (self.queries + weight)  # by which the mean moves
        rest = weight * (apart - step)
        return self._replace(
            queries=self.queries + 1,
            mean=self.mean + step,
            u2=self.u2 - step * (2 * self.wu - step * self.w2) + rest**2,
            u3=self.u3 - step * (3 * self.wu2 - step * (3 * self.w2u - step * self.w3)) + rest**3,
        )

    def means_and_errors(self) -> list[tuple[Figure, Figure]]:
        """x̄_w and SE = √(Σu²·c/(c − 1))/Σw̃; the same with the lowest, and with the highest x once more at weight ω.

        ω = Σw̃²/Σw̃ is that of the query which a random request meets: a typical request's query.
        """
        weight = self.w2 / self.queries
        more = [(self.with_another(end, weight), self.queries + weight) for end in (self.lowest, self.highest)]
        each = [(self, self.queries), *more]
        return [(one.mean, one.deviation * (math.sqrt(one.queries) / total)) for one, total in each]


BaselineSums: TypeAlias = "Mapping[str, Sequence[InfluenceSums]] | None"


def influence_sums(differences_by_baseline: Mapping[str, Sequence[Floats]], weights: Floats | None) -> BaselineSums:
    """The sums of each system against each baseline, or None without weights."""
    if weights is None:
        return None
    factors = _factors(weights)
    return {
        name: [InfluenceSums.of(np.asarray(row), weights, factors) for row in rows]
        for name, rows in differences_by_baseline.items()
    }


def influence_of(differences: Floats, alpha: float, weights: Floats) -> Influence:
    """The influence at one α, a block of queries at a time, so that all of it stays in the processor's cache."""
    c, ends = len(weights), weigh_losses(np.array([differences.min(), differences.max()]), alpha)
    unit = float(np.abs(ends).max()) or 1.0
    pairs = [
        (weigh_losses(part, alpha) / unit, w) for part, w in zip(blocks(differences), blocks(weights), strict=True)
    ]
    mean = sum(dot(w, x) for x, w in pairs) / c
    lowest, highest = (ends / unit).tolist()
    sums = np.zeros(9)
    for x, w in pairs:
        u, square = w * (x - mean), w * w
        u_square = u * u
        moved = u * _left_out(w, c) / w
        sums += (
            u_square.sum(), dot(u_square, u), dot(w, u), dot(w, u_square), dot(square, u), square.sum(),
            dot(square, w), moved.sum(), dot(moved, moved),
        )  # fmt: skip
    u2, u3, wu, wu2, w2u, w2, w3, moved_sum, moved_squares = sums.tolist()
    return Influence(
        c, mean, lowest, highest, u2, u3, wu, wu2, w2u, w2, w3, _jackknife(c, moved_sum, moved_squares), unit
    )  # fmt: skip


@dataclass(frozen=True)
class InfluenceSums:
    """Sums over the gains and over the losses of one system, from which its influence at every α follows.

    x is δ or (1 + α)·δ, so Σ w̃ⁿxᵏ = gains + (1 + α)ᵏ·losses. δ is in units of the greatest, so that no power vanishes.
    """

    differences: Floats
    weights: Floats
    unit: float
    gains: Floats  # of the products in `_PRODUCTS`
    losses: Floats
    totals: Floats  # Σw̃², Σw̃³, Σb, Σb²
    lowest: float  # δ in the unit
    highest: float

    @classmethod
    def of(
        cls, differences: Floats, weights: Floats, factors: Mapping[str, Sequence[Floats]] | None = None
    ) -> InfluenceSums:
        """Of differences δ_q and relative weights, whose `factors` may be made once for several systems."""
        factors = _factors(weights) if factors is None else factors
        lowest, highest = float(differences.min()), float(differences.max())
        unit = max(highest, -lowest) or 1.0
        sides = np.zeros((2, len(_PRODUCTS)))
        totals = np.array([sum(float(part.sum()) for part in factors[name]) for name in ("w2", "w3", "b", "b2")])
        for number, part in enumerate(blocks(differences)):
            own = {name: parts[number] for name, parts in factors.items()}
            gains = np.maximum(part, 0) / unit
            for row, side in enumerate((gains, part / unit - gains)):
                square = side * side
                powers = {1: side, 2: square, 3: square * side}
                sides[row] += [dot(own[factor], powers[k]) for factor, k in _PRODUCTS]
        return cls(differences, weights, unit, sides[0], sides[1], totals, lowest / unit, highest / unit)

    def at(self, alpha: float) -> Influence:
        """The influence at α."""
        found = self.of_weight(1 + alpha)
        if found.u2 > _CANCELLED * (found.u2 + found.mean * (2 * found.wu + found.mean * found.w2)):
            return found
        return influence_of(self.differences, alpha, self.weights)

    def of_weight(self, weight: Figure) -> Influence:
        """The influence where losses weigh so much, which has lost digits where Σu² is far below Σw̃²x²."""
        s = {
            (factor, k): gain + weight**k * loss
            for (factor, k), gain, loss in zip(_PRODUCTS, self.gains.tolist(), self.losses.tolist(), strict=True)
        }
        w2, w3, b, b2 = self.totals.tolist()
        c = len(self.weights)
        m = s["w", 1] / c
        return Influence(
            c, m, np.minimum(self.lowest, weight * self.lowest), np.minimum(self.highest, weight * self.highest),
            np.maximum(s["w2", 2] - m * (2 * s["w2", 1] - m * w2), _ROUNDING * s["w2", 2]),
            s["w3", 3] - m * (3 * s["w3", 2] - m * (3 * s["w3", 1] - m * w3)),
            s["w2", 1] - m * w2, s["w3", 2] - m * (2 * s["w3", 1] - m * w3), s["w3", 1] - m * w3, w2, w3,
            _jackknife(c, s["b", 1] - m * b, s["b2", 2] - m * (2 * s["b2", 1] - m * b2)), self.unit,
        )  # fmt: skip


# Σ of a factor times a power of x; b = w̃/(c − w̃), since the mean without a query is x̄_w − b·(x − x̄_w).
_PRODUCTS = (
    ("w", 1), ("w2", 1), ("w2", 2), ("w3", 1), ("w3", 2), ("w3", 3), ("b", 1), ("b2", 1), ("b2", 2),
)  # fmt: skip


def _factors(weights: Floats) -> dict[str, list[Floats]]:
    """What powers of x are multiplied by, block by block."""
    c = len(weights)
    made: dict[str, list[Floats]] = {"w": [], "w2": [], "w3": [], "b": [], "b2": []}
    for w in blocks(weights):
        w2, b = w * w, _left_out(w, c)
        for name, values in zip(made, (w, w2, w2 * w, b, b * b), strict=True):
            made[name].append(values)
    return made


def _left_out(w: Floats, c: int) -> Floats:
    return w / np.maximum(c - w, np.finfo(np.float64).eps)


def _jackknife(c: int, moved_sum: Figure, moved_squares: Figure) -> Figure:
    return (c - 1) / c * np.maximum(0.0, moved_squares - moved_sum**2 / c)
