"""What is optimised: the objectives, the sums over all queries they need, and the gradients of a ranking's pairs.

| objective | Δ of a swap that changes M(q) by ΔM |
|---|---|
| `gain` | ΔM |
| `u_risk` | f_α(δ + ΔM) − f_α(δ) (Wang et al., SIGIR 2012); by `rule="eq9"` ΔM, (1 + α)ΔM below the baseline |
| `saro` | as `u_risk`, with α_q = α·(1 − Φ(δ_q / s_x)) instead of α (Dinçer et al., SIGIR 2014) |
| `faro` | (1 + α_q)·ΔM on every query |
| `geo_risk` | c·(GeoRisk after − before), with expectations held (Dinçer et al., SIGIR 2016) |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError, did_you_mean, shortened
from surefoot.learn import lambdas
from surefoot.learn.target import Target
from surefoot.risk.tradeoff import check_alpha, weigh_losses

OBJECTIVES = ("gain", "u_risk", "saro", "faro", "geo_risk")
Singles: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Objective:
    """An objective by name, its α and its rules.

    `rule` is Wang's exact Δ or Dinçer 2016's Eq. 9, for `u_risk` and `saro`; `estimate` says when `saro` and `faro`
    estimate s_x: in "each" iteration, or after the "first" tree only, as the paper does.
    """

    name: str = "gain"
    alpha: float = 0.0
    rule: str = "exact"
    estimate: str = "each"

    def __post_init__(self) -> None:
        """Reject unknown names."""
        for what, value, known in (
            ("objective", self.name, OBJECTIVES),
            ("rule", self.rule, ("exact", "eq9")),
            ("estimate", self.estimate, ("each", "first")),
        ):
            if not isinstance(value, str) or value not in known:
                raise ArgumentError(
                    f"{what} is {shortened(value)}; it must be one of {', '.join(known)}{did_you_mean(value, known)}"
                )
        object.__setattr__(self, "alpha", check_alpha(self.alpha))  # a number, whatever stood for it

    @property
    def kind(self) -> int:
        """Which switch of the kernel it is."""
        if self.name in ("u_risk", "saro"):
            return lambdas.U_RISK if self.rule == "exact" else lambdas.U_RISK_EQ9
        return {"gain": lambdas.GAIN, "faro": lambdas.WEIGHTED, "geo_risk": lambdas.GEO_RISK}[self.name]


class Lambdas:
    """Gradients and hessians of an objective for document scores, iteration after iteration.

    `baselines` are the baselines' M(q), a row each; all but `geo_risk` compare with their mean. `add_up` adds an array
    of sums up over all machines that hold a part of the queries; alone, there is nothing to add.
    """

    def __init__(
        self,
        objective: Objective,
        target: Target,
        baselines: Floats | None = None,
        *,
        sigma: float = 1.0,
        all_ranks: bool = False,
        add_up: Callable[[Floats], Floats] = lambda sums: sums,
    ) -> None:
        if objective.name != "gain" and (baselines is None or not len(baselines)):
            raise ArgumentError(f"objective {objective.name!r} compares with a baseline; give one")
        self.objective = objective
        self.target = target
        self.baselines = np.zeros((1, target.queries)) if baselines is None else np.atleast_2d(baselines)
        self.sigma = sigma
        self.all_ranks = all_ranks
        self.values: Floats = np.zeros(target.queries)
        self._baseline = np.asarray(self.baselines.mean(axis=0))
        self._add_up = add_up
        self._table = lambdas.sigmoid_table(sigma)
        self.iteration = 0
        self.s_x: float | None = None  # kept once estimated, where it is estimated once

    def __call__(self, scores: npt.ArrayLike) -> tuple[Singles, Singles]:
        """Gradient and hessian of each row at these scores, for the next tree; M(q) is kept in `values`."""
        found = self.peek(scores)
        self.iteration += 1
        return found

    def peek(self, scores: npt.ArrayLike) -> tuple[Singles, Singles]:
        """The same, without counting as an iteration."""
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        target = self.target
        order = target.rank(scores, fully=self.all_ranks)
        self.values = target.measure_order(order)
        difference = self.values - self._baseline
        alphas = self._alphas(difference)
        expected, sums_of_all = self._expectations()
        gradient, hessian = np.empty(len(scores), np.float32), np.empty(len(scores), np.float32)
        target.each_part(
            lambdas.lambda_queries, target.offsets, order, scores, target.labels, target.gains,
            target.ideal, target.discounts, target.kind, target.cutoff, self.all_ranks, self.objective.kind,
            self.values, difference, alphas, expected, sums_of_all, self.sigma, *self._table, gradient,
            hessian,
        )  # fmt: skip
        return gradient, hessian

    def _alphas(self, difference: Floats) -> Floats:
        """α of each query: the user's, or for `saro` and `faro` α·(1 − Φ(δ_q / s_x))."""
        alpha = self.objective.alpha
        if self.objective.name not in ("saro", "faro"):
            return np.full(len(difference), alpha)
        s_x = self.s_x
        if s_x is None:
            x = weigh_losses(difference, alpha)
            s_x = _deviation(*self._add_up(np.array([len(x), x.sum(), x @ x])))
            if self.objective.estimate == "first" and self.iteration == 1:
                self.s_x = s_x
        if s_x == 0:
            return np.full(len(difference), alpha / 2)
        return np.asarray(alpha * ndtr(-difference / s_x))

    def _expectations(self) -> tuple[Floats, tuple[float, ...]]:
        """e of the model's row; S, Z/c, GeoRisk, c and 1/c over all queries, and Φ and its density at Z/c."""
        nothing = np.zeros(self.target.queries)
        if self.objective.name != "geo_risk":
            return nothing, (0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 0.0)
        column = self.baselines.sum(axis=0) + self.values
        queries, model, everyone = self._add_up(np.array([len(column), self.values.sum(), column.sum()])).tolist()
        expected = model / everyone * column if everyone > 0 else nothing
        deviation = np.divide(self.values - expected, np.sqrt(expected), out=nothing, where=expected > 0)
        z = float(self._add_up(np.array([weigh_losses(deviation, self.objective.alpha).sum()]))[0])
        mean = z / queries
        phi, density = float(ndtr(mean)), math.exp(-(mean**2) / 2) / math.sqrt(2 * math.pi)
        return expected, (model, mean, math.sqrt(model / queries * phi), queries, 1 / queries, phi, density)


def _deviation(count: float, total: float, squares: float) -> float:
    """The sample deviation from sums; what cancellation leaves of equal values counts as none."""
    spread = squares - total**2 / count
    return math.sqrt(spread / (count - 1)) if count > 1 and spread > 1e-12 * squares else 0.0
