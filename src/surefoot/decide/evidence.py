"""Each condition as a bounded mean, and what judged queries prove of it.

A condition's figure is offset + scale·E[x] for some x within [0, 1], so that it holds just where E[x] < m:

    risk, share_hurt     x = ℓ                          figure = E[x]
    gain                 x = (1 − δ_q)/2                figure = 1 − 2·E[x]
    U_Risk(α)            x = (1 − f_α(δ_q))/(2 + α)     figure = 1 − (2 + α)·E[x]

Of queries drawn in proportion to V, everything per query is divided by V and the figure multiplied by V̄. In strata
x is multiplied by its query's weight w = π_h·n/n_h and divided by the greatest, the figure multiplied by that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from surefoot.arrays import Floats
from surefoot.decide.policy import Rule
from surefoot.decide.sample import Sample
from surefoot.errors import ArgumentError, shortened
from surefoot.risk.betting import anytime_capital, start_anytime, stratified_p
from surefoot.risk.bounds import largest_above, least_queries, losses, p_value
from surefoot.risk.tradeoff import weigh_losses

Method = Literal["betting", "binomial", "anytime", "stratified"]


class Proof(NamedTuple):
    """p, which is compared with δ, and the bound on the figure that is proved at δ."""

    p: float
    bound: float


@dataclass(frozen=True)
class Evidence:
    """What the judged queries say of one condition: x, in betting order, and how its mean becomes the figure."""

    rule: Rule
    x: Floats
    offset: float
    scale: float
    method: Method
    budget: int | None = None

    @property
    def m(self) -> float:
        """What the mean of x must be below for the condition to hold."""
        return (self.rule.level - self.offset) / self.scale

    @property
    def observed(self) -> float:
        """The figure of the queries that were judged."""
        return self.figure(float(self.x.mean()))

    def figure(self, mean: float) -> float:
        """The figure that a mean of x comes to."""
        return self.offset + self.scale * mean

    def holds(self, delta: float) -> Proof:
        """Of the hypothesis that the condition does not hold: p, and the figure that is proved at δ.

        That is the most that risk may be, the least that gain may be. It lies on the same side of the level as p says:
        the bet aims at one level, and may miss those about it.
        """
        p, bound = self._proof(self.x, self.m, delta)
        return Proof(p, self.figure(bound))

    def fails(self, delta: float) -> Proof:
        """The same of the hypothesis that it holds, by the mirrored test: 1 − x against 1 − m."""
        p, bound = self._proof(1 - self.x, 1 - self.m, delta)
        return Proof(p, self.figure(1 - bound))

    def _proof(self, x: Floats, m: float, delta: float) -> tuple[float, float]:
        """p at m, from the first pass of the search for the bound, and the bound."""
        at_m: list[float] = []

        def p_of(levels: Floats) -> Floats:
            p = self.p(x, np.append(levels, m), delta)
            at_m.append(float(p[-1]))
            return p[:-1]

        bound = largest_above(p_of, float(x.mean()), delta)
        return at_m[0], min(bound, m) if at_m[0] <= delta else max(bound, min(m, 1.0))

    def p(self, x: Floats, m: Floats | np.float64, delta: float) -> Floats:
        """p of E[x] ≥ m by this condition's method, for one sample at one or many levels."""
        if self.method == "stratified":
            return stratified_p(x, m)
        if self.method == "anytime":
            return anytime_capital(x, start_anytime(m, delta, self.budget or len(x))).p
        return p_value(x, m, delta, self.method)

    def least(self, delta: float) -> int | None:
        """The fewest queries that can prove the condition at all; None where none can, or none is known."""
        if self.method == "stratified":
            return None
        return least_queries(self.m, delta, self.method)


def evidence_of(rule: Rule, sample: Sample, mean_weight: float = 1.0, budget: int | None = None) -> Evidence:
    """A condition's x for the sample's queries, or those of its segment."""
    chosen = slice(None) if rule.segment is None else sample.members[rule.segment]
    model, baseline = sample.candidate[chosen], sample.baseline[chosen]
    if not len(model):
        raise ArgumentError(f"no judged query is of segment {shortened(rule.segment)}")
    weight = 1.0 if sample.weight is None else sample.weight[chosen]
    if rule.name in ("risk", "share_hurt"):
        x, offset, scale = losses(model, baseline, rule.name) / weight, 0.0, mean_weight
    else:
        alpha = rule.alpha or 0.0
        x = (1 - weigh_losses(model - baseline, alpha) / weight) / (2 + alpha)
        offset, scale = mean_weight, -(2 + alpha) * mean_weight
    if sample.share is not None and rule.segment is None:
        greatest = float(sample.share.max())
        return Evidence(rule, x * (sample.share / greatest), offset, scale * greatest, "stratified")
    if budget is not None:
        return Evidence(rule, x, offset, scale, "anytime", budget)
    return Evidence(rule, x, offset, scale, _fixed(rule))


def _fixed(rule: Rule) -> Method:
    return "binomial" if rule.name == "share_hurt" else "betting"
