"""`Lambdas`: gradients and hessians of an objective, from what must be known of all queries before any pair is seen."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError
from surefoot.learn import kernel
from surefoot.learn.criteria import deviation_of
from surefoot.learn.engines.contract import Singles
from surefoot.learn.kernel import Totals
from surefoot.learn.objectives import Objective
from surefoot.learn.options import REGRESSION
from surefoot.learn.reduce import AddUp, alone
from surefoot.learn.target import Target
from surefoot.risk.expectation import combine, deviation, expectation
from surefoot.risk.tradeoff import weigh_losses

_NO_TOTALS = Totals(0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 0.0)


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
        add_up: AddUp = alone,
    ) -> None:
        if objective.needs_baseline and (baselines is None or not len(baselines)):
            raise ArgumentError(f"objective {objective.name!r} compares with a baseline; give one")
        self.objective = objective
        self.target = target
        self.baselines = np.zeros((1, target.queries)) if baselines is None else np.atleast_2d(baselines)
        self.sigma = sigma
        self.all_ranks = all_ranks
        self.values: Floats = np.zeros(target.queries)
        self._baseline = np.asarray(self.baselines.mean(axis=0))
        self._add_up = add_up
        self._table = kernel.sigmoid_table(sigma)
        self._shares = _shares(target) if objective.name == REGRESSION else None
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
        if self._shares is not None:
            counts = np.repeat(target.ideal > 0, target.lengths)
            return np.where(counts, scores - self._shares, 0).astype(np.float32), counts.astype(np.float32)
        difference = self.values - self._baseline
        alphas = self._alphas(difference)
        expected, totals = self._expectations()
        gradient, hessian = np.empty(len(scores), np.float32), np.empty(len(scores), np.float32)
        target.each_part(
            kernel.lambda_queries, target.offsets, order, scores, target.labels, target.gains,
            target.ideal, target.discounts, target.kind, target.cutoff, self.all_ranks, self.objective.kind,
            self.values, difference, alphas, expected, totals, self.sigma, *self._table, gradient,
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
            s_x = deviation_of(*self._add_up(np.array([len(x), x.sum(), x @ x])))
            if self.objective.estimate == "first" and self.iteration == 1:
                self.s_x = s_x
        if s_x == 0:
            return np.full(len(difference), alpha / 2)
        return np.asarray(alpha * ndtr(-difference / s_x))

    def _expectations(self) -> tuple[Floats, Totals]:
        """e of the model's row, and what is known of all queries; nothing of either but for GeoRisk."""
        if self.objective.name != "geo_risk":
            return np.zeros(self.target.queries), _NO_TOTALS
        column = self.baselines.sum(axis=0) + self.values
        sums = self._add_up(np.array([len(column), self.values.sum(), column.sum()]))
        queries, model, everything = sums.tolist()
        expected = expectation(model, everything, column)
        weighted = weigh_losses(deviation(self.values, expected), self.objective.alpha)
        mean = float(self._add_up(np.array([weighted.sum()]))[0]) / queries
        return expected, Totals(
            effectiveness=model,
            mean_deviation=mean,
            geo_risk=float(combine(model / queries, mean)),
            queries=queries,
            per_query=1 / queries,
            phi=float(ndtr(mean)),
            density=math.exp(-(mean**2) / 2) / math.sqrt(2 * math.pi),
        )


def _shares(target: Target) -> Floats:
    """What each document would add to NDCG at the first rank, less its query's mean, which orders nothing."""
    lengths = target.lengths
    ideal = np.repeat(target.ideal, lengths)
    shares = np.divide(target.gains, ideal, out=np.zeros(len(ideal)), where=ideal > 0)
    return np.asarray(shares - np.repeat(np.add.reduceat(shares, target.offsets[:-1]) / lengths, lengths))
