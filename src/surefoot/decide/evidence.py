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
from typing import Literal

import numpy as np

from surefoot.arrays import Floats
from surefoot.decide.policy import Rule
from surefoot.decide.sample import Sample
from surefoot.errors import ArgumentError, shortened
from surefoot.risk.betting import anytime_capital, start_anytime, stratified_p
from surefoot.risk.bounds import largest_above, least_queries, losses, p_value
from surefoot.risk.tradeoff import weigh_losses

Method = Literal["betting", "binomial", "anytime", "stratified"]


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

    def p_holds(self, delta: float) -> float:
        """p of the hypothesis that the condition does not hold; `delta` is what it is compared with."""
        return float(self.p(self.x, np.float64(self.m), delta))

    def p_fails(self, delta: float) -> float:
        """p of the hypothesis that it holds, by the mirrored test: 1 − x against 1 − m."""
        return float(self.p(1 - self.x, np.float64(1 - self.m), delta))

    def p(self, x: Floats, m: Floats | np.float64, delta: float) -> Floats:
        """p of E[x] ≥ m by this condition's method, for one sample at one or many levels."""
        if self.method == "stratified":
            return stratified_p(x, m)
        if self.method == "anytime":
            return anytime_capital(x, start_anytime(m, delta, self.budget or len(x))).p
        return p_value(x, m, delta, self.method)

    def bound(self, delta: float) -> float:
        """The figure that is proved with confidence 1 − δ: the most that risk may be, the least that gain may be.

        It is on the same side of the level as the test: the bet aims at one level, and may miss those about it.
        """
        found = largest_above(lambda m: self.p(self.x, m, delta), float(self.x.mean()), delta)
        holds = self.p_holds(delta) <= delta
        return self.figure(min(found, self.m) if holds else max(found, min(self.m, 1.0)))

    def bound_fails(self, delta: float) -> float:
        """The same from the other side: the least that risk may be, the most that gain may be."""
        found = 1 - largest_above(lambda m: self.p(1 - self.x, m, delta), 1 - float(self.x.mean()), delta)
        if self.p_fails(delta) <= delta:
            found = max(found, self.m)
        return self.figure(found)

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
