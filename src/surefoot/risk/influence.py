"""What each query adds to a mean by weights: u_q = w̃_q·(x_q − x̄_w), by whose moments weighted queries are tested."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from surefoot.arrays import Floats
from surefoot.risk.tradeoff import weigh_losses
from surefoot.risk.vectors import Vector, blocks, dot

_CANCELLED = 1e-3  # of Σw̃²x²; where Σu² is less, the difference of such sums has lost digits


class Influence(NamedTuple):
    """Of queries with relative weights w̃: the mean x̄_w, the extremes of x, and sums of powers of u and w̃."""

    queries: int
    mean: float
    lowest: float
    highest: float
    u2: float  # Σu²
    u3: float
    wu: float  # Σw̃u
    wu2: float
    w2u: float
    w2: float
    w3: float
    jackknife: float  # the variance of the mean by leaving one query out

    @property
    def deviation(self) -> float:
        """s_u, with the divisor c − 1."""
        return math.sqrt(self.u2 / (self.queries - 1))

    @property
    def effective(self) -> float:
        """c_eff = (Σw̃)²/Σw̃²."""
        return self.queries**2 / self.w2

    @property
    def skewness(self) -> float:
        """γ of u."""
        return float(self.u3 / self.queries / (self.u2 / self.queries) ** 1.5)

    def with_another(self, value: float) -> Influence:
        """With one more query of the mean weight, which is 1: its mean, deviation and skewness."""
        c, apart = self.queries + 1, value - self.mean
        step = apart / c  # by which the mean moves
        rest = apart - step
        return self._replace(
            queries=c,
            mean=self.mean + step,
            u2=self.u2 - step * (2 * self.wu - step * self.w2) + rest**2,
            u3=self.u3 - step * (3 * self.wu2 - step * (3 * self.w2u - step * self.w3)) + rest**3,
        )


BaselineSums: TypeAlias = "Mapping[str, Sequence[InfluenceSums]] | None"


def influence_sums(differences_by_baseline: Mapping[str, Sequence[Vector]], weights: Floats | None) -> BaselineSums:
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
    pairs = [(weigh_losses(part, alpha), w) for part, w in zip(blocks(differences), blocks(weights), strict=True)]
    c = len(weights)
    mean = sum(dot(w, x) for x, w in pairs) / c
    lowest, highest = min(float(x.min()) for x, _ in pairs), max(float(x.max()) for x, _ in pairs)
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
        c, mean, lowest, highest, u2, u3, wu, wu2, w2u, w2, w3, _jackknife(c, moved_sum, moved_squares)
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

    def sums_at(self, weight: float | Floats) -> dict[tuple[str, int], float | Floats]:
        """Σ w̃ⁿxᵏ and the like, in the unit, where losses weigh so much."""
        return {
            (factor, k): gain + weight**k * loss
            for (factor, k), gain, loss in zip(_PRODUCTS, self.gains.tolist(), self.losses.tolist(), strict=True)
        }

    def at(self, alpha: float) -> Influence:
        """The influence at α."""
        s, c = self.sums_at(1 + alpha), len(self.weights)
        w2, w3, b, b2 = self.totals.tolist()
        m = float(s["w", 1]) / c
        u2 = float(s["w2", 2] - 2 * m * s["w2", 1] + m * m * w2)
        if not u2 > _CANCELLED * float(s["w2", 2]):
            return influence_of(self.differences, alpha, self.weights)
        unit = self.unit
        u3 = float(s["w3", 3] - m * (3 * s["w3", 2] - m * (3 * s["w3", 1] - m * w3)))
        moved = float(s["b", 1] - m * b) * unit, float(s["b2", 2] - m * (2 * s["b2", 1] - m * b2)) * unit**2
        return Influence(
            c, m * unit, min(self.lowest, (1 + alpha) * self.lowest) * unit,
            min(self.highest, (1 + alpha) * self.highest) * unit, u2 * unit**2, u3 * unit**3,
            float(s["w2", 1] - m * w2) * unit, float(s["w3", 2] - m * (2 * s["w3", 1] - m * w3)) * unit**2,
            float(s["w3", 1] - m * w3) * unit, w2, w3, _jackknife(c, *moved),
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


def _jackknife(c: int, moved_sum: float, moved_squares: float) -> float:
    return (c - 1) / c * max(0.0, moved_squares - moved_sum**2 / c)
