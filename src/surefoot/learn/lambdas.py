"""`Lambdas`: gradients and hessians of an objective, from what must be known of all queries before any pair is seen."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from surefoot.arrays import Float32s, Floats
from surefoot.errors import ArgumentError
from surefoot.learn import kernel
from surefoot.learn.criteria import sample_deviation
from surefoot.learn.kernel import Totals
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.objectives import Objective
from surefoot.learn.training_weights import Reduce, georisk_refusal, local_sums
from surefoot.risk.expectation import deviation, expectation, geo_risk_of_means
from surefoot.risk.tradeoff import weigh_losses

_NO_TOTALS = Totals(0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 0.0)


class Lambdas:
    """Gradients and hessians of an objective for document scores, iteration after iteration.

    `baselines` are the baselines' M(q), a row each; all but `geo_risk` compare with their mean. `reduce` adds
    sums up over all machines that hold a part of the queries; on one machine there is nothing to add. `places` are the
    baselines' mean ranks of each document, from 0, which regression compares with where α is above 0. `weights` of
    queries, whose mean over all machines is 1, multiply gradients and hessians, and count in s_x.
    """

    def __init__(
        self,
        objective: Objective,
        measured: MeasuredQueries,
        baselines: Floats | None = None,
        *,
        sigma: float = 1.0,
        all_ranks: bool = False,
        reduce: Reduce = local_sums,
        places: Floats | None = None,
        weights: Floats | None = None,
    ) -> None:
        if weights is not None and objective.kind.needs_totals:
            raise georisk_refusal(f"objective {objective.name!r}")
        if objective.needs_baseline and (baselines is None or not len(baselines)):
            raise ArgumentError(f"objective {objective.name!r} compares with a baseline; give one")
        self.objective = objective
        self.measured = measured
        self.baselines = np.zeros((1, measured.queries)) if baselines is None else np.atleast_2d(baselines)
        self.sigma = sigma
        self.all_ranks = all_ranks
        self.values: Floats = np.zeros(measured.queries)
        self._baseline = np.asarray(self.baselines.mean(axis=0))
        self._reduce = reduce
        self._weights = weights
        self._row_weights = None if weights is None else np.repeat(weights, measured.lengths)
        self._table = kernel.sigmoid_table(sigma)
        self._shares = None if objective.has_pairs else _shares(measured)
        self._places = None if objective.has_pairs or not objective.alpha else places
        self.iteration = 0
        self.s_x: float | None = None  # kept once estimated, where it is estimated once

    def __call__(self, scores: npt.ArrayLike) -> tuple[Float32s, Float32s]:
        """Gradient and hessian of each row at these scores, for the next tree; M(q) is kept in `values`."""
        gradient, hessian = self.peek(scores)
        self.iteration += 1
        return gradient, hessian

    def peek(self, scores: npt.ArrayLike) -> tuple[Float32s, Float32s]:
        """The same, without counting as an iteration."""
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        measured = self.measured
        order = measured.rank(scores, fully=self.all_ranks)
        self.values = measured.measure_order(order)
        if self._shares is not None:
            counts = np.repeat(measured.ideal > 0, measured.lengths)
            weights = counts * self._error_weights(scores, self._shares)
            if self._row_weights is not None:
                weights = weights * self._row_weights
            return (weights * (scores - self._shares)).astype(np.float32), weights.astype(np.float32)
        difference = self.values - self._baseline
        alphas = self._alphas(difference)
        expected, totals = self._expectations()
        gradient, hessian = np.empty(len(scores), np.float32), np.empty(len(scores), np.float32)
        measured.run_in_threads(
            kernel.lambda_queries, measured.offsets, order, scores, measured.labels, measured.gains,
            measured.ideal, measured.discounts, measured.kind, measured.cutoff, self.all_ranks,
            self.objective.kernel_switch(), self.values, difference, alphas, expected, totals, self.sigma,
            *self._table, gradient, hessian,
        )  # fmt: skip
        if self._row_weights is not None:
            gradient, hessian = ((each * self._row_weights).astype(np.float32) for each in (gradient, hessian))
        return gradient, hessian

    def _error_weights(self, scores: Floats, shares: Floats) -> Floats:
        """How much the error of each document counts: 1 + α where the model moved it the wrong way."""
        if self._places is None:
            return np.ones(len(scores))
        moved_down = self.measured.places(scores) - self._places
        return np.where(moved_down * shares > 0, 1 + self.objective.alpha, 1.0)

    def _alphas(self, difference: Floats) -> Floats:
        """α of each query: the user's, or where the objective says so α·(1 − Φ(δ_q / s_x))."""
        alpha = self.objective.alpha
        if not self.objective.kind.alpha_per_query:
            return np.full(len(difference), alpha)
        s_x = self.s_x
        if s_x is None:
            x = weigh_losses(difference, alpha)
            counted = x if self._weights is None else self._weights * x  # the weights add up to the number of queries
            s_x = sample_deviation(*self._reduce(np.array([len(x), counted.sum(), counted @ x])))
            if self.objective.estimate == "first" and self.iteration == 1:
                self.s_x = s_x
        if s_x == 0:
            return np.full(len(difference), alpha / 2)
        return np.asarray(alpha * ndtr(-difference / s_x))

    def _expectations(self) -> tuple[Floats, Totals]:
        """e of the model's row, and GeoRisk's totals over all queries; zeros where the objective needs neither."""
        if not self.objective.kind.needs_totals:
            return np.zeros(self.measured.queries), _NO_TOTALS
        column = self.baselines.sum(axis=0) + self.values
        sums = self._reduce(np.array([len(column), self.values.sum(), column.sum()]))
        queries, model, everything = sums.tolist()
        expected = expectation(model, everything, column)
        weighted = weigh_losses(deviation(self.values, expected), self.objective.alpha)
        mean = float(self._reduce(np.array([weighted.sum()]))[0]) / queries
        return expected, Totals(
            effectiveness=model,
            mean_deviation=mean,
            geo_risk=float(geo_risk_of_means(model / queries, mean)),
            queries=queries,
            per_query=1 / queries,
            phi=float(ndtr(mean)),
            density=math.exp(-(mean**2) / 2) / math.sqrt(2 * math.pi),
        )


def _shares(measured: MeasuredQueries) -> Floats:
    """What each document would add to nDCG at the first rank, less its query's mean, which orders nothing."""
    lengths = measured.lengths
    ideal = np.repeat(measured.ideal, lengths)
    shares = np.divide(measured.gains, ideal, out=np.zeros(len(ideal)), where=ideal > 0)
    return np.asarray(shares - np.repeat(np.add.reduceat(shares, measured.offsets[:-1]) / lengths, lengths))
