"""|Δ|: what an objective makes of swaps that change M(q) by ΔM (the table is `learn/objectives.py`).

Everything of lists is computed in as many bits as the device has; pairs of documents in those of the scores.
"""

from __future__ import annotations

from typing import Any

from surefoot.learn.objectives import Objective
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.sums import QuerySums

_SMALL_STEP = 0.1  # of Φ's argument, up to which five terms of Taylor are exact in float32


class SwapValues:
    """|Δ| for ΔM, from what is known of each list before any pair is seen.

    `values` are M(q) of the lists (models, lists), `baselines` those of the baselines (baselines, 1, lists); `counted`
    marks the lists that count. `dtype` is that of the ΔM that it takes.

    Of each list it keeps `before`, δ or for GeoRisk M − e; `weighed`, f_α of it, or of z; and `scale`, 1/√e. All have
    two axes of size 1 at the end, for the pairs.
    """

    def __init__(
        self, objective: Objective, values: Tensor, baselines: Tensor, counted: Tensor, sums: QuerySums, dtype: Any
    ) -> None:
        kind = objective.kind
        self.switch = (objective.rule == "eq9" and kind.eq9_switch) or str(kind.switch)
        # Eq. 9 jumps, so rounding must not decide the side that a swap ends on.
        self.dtype = values.dtype if self.switch == "U_RISK_EQ9" else dtype
        self.alpha: Any = objective.alpha
        if self.switch == "GAIN":
            return
        before = values - (baselines[0] if len(baselines) == 1 else baselines.mean(0))
        if kind.alpha_per_query:
            alpha = torch.full_like(before, objective.alpha)
            s_x = sums.deviation(weigh(before, alpha), counted)[..., None]
            per_query = objective.alpha * torch.special.ndtr(-before / torch.where(s_x > 0, s_x, 1))
            alpha = torch.where(s_x > 0, per_query, objective.alpha / 2)
            self.alpha = self._for_pairs(alpha)
            weighed = weigh(before, alpha)
        elif kind.needs_totals:
            expected, totals = sums.totals(values, baselines, objective.alpha, counted)
            before = values - expected
            scale = torch.where(expected > 0, expected, 1).rsqrt() * (expected > 0)
            weighed = weigh(before * scale, objective.alpha)
            self.scale = self._for_pairs(scale)
            self.totals = tuple(total[..., None, None, None].to(self.dtype) for total in totals)
        else:
            weighed = weigh(before, objective.alpha)
        self.before, self.weighed = self._for_pairs(before), self._for_pairs(weighed)

    def _for_pairs(self, values: Tensor) -> Tensor:
        return values[..., None, None].to(self.dtype)

    def of_changes(self, change: Tensor) -> Tensor:
        """|Δ| of each ΔM."""
        if self.switch == "GAIN":
            return change.abs()
        if self.switch == "WEIGHTED":
            return (1 + self.alpha) * change.abs()
        if self.switch == "U_RISK":
            return (weigh(self.before + change, self.alpha) - self.weighed).abs()
        if self.switch == "U_RISK_EQ9":
            near = -1e-12 if change.dtype == torch.float64 else -1e-6
            return torch.where(self.before + change >= near, change, (1 + self.alpha) * change).abs()
        return self._geo_risk(change).abs()

    def _geo_risk(self, change: Tensor) -> Tensor:
        """c·(√((S + ΔM)/c · Φ(Z'/c)) − GeoRisk), as a quotient in which nothing cancels."""
        queries, mean, deviation, phi, density = self.totals
        step = (weigh((self.before + change) * self.scale, self.alpha) - self.weighed) / queries
        phi_change = torch.special.ndtr(deviation + step) - phi
        if change.dtype != torch.float64:
            phi_change = torch.where(step.abs() > _SMALL_STEP, phi_change, density * _taylor(deviation, step))
        mean_change = torch.maximum(change / queries, -mean)
        before = mean * phi
        rise = mean_change * (phi + phi_change) + mean * phi_change
        roots = (before + rise).clamp(min=0).sqrt() + before.sqrt()
        return queries * rise / torch.where(roots > 0, roots, 1)


def weigh(differences: Tensor, alpha: Tensor | float) -> Tensor:
    """f_α(x): x where it is positive, (1 + α)·x elsewhere; as α ≥ 0, the lesser of the two."""
    return torch.minimum(differences, (1 + alpha) * differences)


def _taylor(x: Tensor, h: Tensor) -> Tensor:
    """(Φ(x + h) − Φ(x)) over the density at x, for small h: Σ (−1)^n·He_n(x)·h^(n+1)/(n+1)!, five terms."""
    square = x * x
    hermite = [1.0, x, square - 1, x * (square - 3), (square - 6) * square + 3]
    total = hermite[4] * h / 5
    for order in (3, 2, 1, 0):
        total = h / (order + 1) * (hermite[order] - total)
    return total
