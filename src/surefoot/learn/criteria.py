"""How a model does on a set of queries beside its baselines: the figures of history and of early stopping."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.training_weights import Reduce, georisk_refusal, local_sums
from surefoot.risk.expectation import deviation, expectation, geo_risk_of_means
from surefoot.risk.tradeoff import check_alpha, difference_of, weigh_losses

CRITERIA = ("effectiveness", "u_risk", "t_risk", "geo_risk")
_CANCELLED = 1e-12  # of a sum of squares: what cancellation may leave where all values are equal


@dataclass(frozen=True)
class Criterion:
    """What queries are judged by: effectiveness, or a risk measure at an α, written `u_risk@5`."""

    name: str
    alpha: float = 0.0
    parameter: str = field(default="stop_on", compare=False, repr=False)  # of Ranker, as messages name it

    @classmethod
    def parse(cls, text: str, parameter: str = "stop_on") -> Criterion:
        """Read `effectiveness`, `u_risk@5`, `t_risk@1` or `geo_risk@5`.

        >>> Criterion.parse("geo_risk@5")
        Criterion(name='geo_risk', alpha=5.0)
        """
        name, at, alpha = str(text).partition("@")
        if name not in CRITERIA:
            raise ArgumentError(
                f"{parameter} is {shortened(text)}; it must be one of {', '.join(CRITERIA)}, such as u_risk@5"
            )
        if (name == "effectiveness") == bool(at):
            raise ArgumentError(
                f"{parameter} is {shortened(text)}; effectiveness has no α, and the others need one, such as u_risk@5 "
                "(each loss counts 1 + α times)"
            )
        return cls(name, check_alpha(alpha) if at else 0.0, parameter)

    def __str__(self) -> str:
        """As it parses."""
        return self.name if self.name == "effectiveness" else f"{self.name}@{self.alpha:g}"

    def no_baseline_error(self) -> ArgumentError:
        """The error where there is none to compare with."""
        return ArgumentError(
            f"{self.parameter}={str(self)!r} compares with a baseline; give one, or {self.parameter}='effectiveness'"
        )

    def __call__(
        self,
        values: Floats,
        baselines: Floats | None,
        reduce: Reduce = local_sums,
        weights: Floats | None = None,
    ) -> float:
        """The criterion of a model's M(q) against baselines' (a row each); the greater the better.

        Where the queries are those of one machine among several, `reduce` adds its sums to the others'. `weights`
        have a mean of 1 over the queries of all machines: then means are weighted, and T goes by the influence values
        u = w·(x − mean).
        """
        if self.name == "effectiveness":
            queries, total = reduce(np.array([len(values), _sum(values, weights)]))
            return float(total / queries)
        if baselines is None:
            raise self.no_baseline_error()
        if self.name == "geo_risk":
            if weights is not None:
                raise georisk_refusal(f"{self.parameter}={str(self)!r}")
            column = baselines.sum(axis=0) + values
            queries, total, everything = reduce(np.array([len(values), values.sum(), column.sum()]))
            weighted = weigh_losses(deviation(values, expectation(total, everything, column)), self.alpha)
            return float(geo_risk_of_means(total / queries, reduce(np.array([weighted.sum()]))[0] / queries))
        x = weigh_losses(values - baselines.mean(axis=0), self.alpha)
        if weights is not None:
            return self._weighted(x, weights, reduce)
        sums = reduce(np.array([len(x), x.sum(), x @ x]))
        mean = float(sums[1] / sums[0])
        if self.name == "u_risk":
            return mean
        error = sample_deviation(*sums) / math.sqrt(sums[0])
        return mean / error if error else 0.0

    def _weighted(self, x: Floats, weights: Floats, reduce: Reduce) -> float:
        """U_Risk, or T_Risk, of weighted queries: T = mean / (s_u / √c)."""
        weighted = weights * x
        queries, total, squares = reduce(np.array([len(x), weighted.sum(), weighted @ weighted])).tolist()
        mean = float(total / queries)
        if self.name == "u_risk":
            return mean
        influence = weights * (x - mean)
        spread = float(reduce(np.array([influence @ influence]))[0])
        if queries < 2 or spread <= _CANCELLED * squares:
            return 0.0
        return mean / math.sqrt(spread / (queries - 1) / queries)


def _sum(values: Floats, weights: Floats | None) -> float:
    return float(values.sum() if weights is None else weights @ values)


def history_figures(
    values: Floats, baselines: Floats | None, reduce: Reduce = local_sums, weights: Floats | None = None
) -> dict[str, float]:
    """Effectiveness, and where there are baselines reward, risk, wins and losses against their mean.

    With `weights`, whose mean is 1, means are weighted; wins and losses stay numbers of queries.
    """
    own = None if baselines is None else weights
    difference = np.zeros(0) if baselines is None else difference_of(values, baselines.mean(axis=0))
    sums = reduce(np.array([
        len(values), _sum(values, weights), _sum(np.maximum(difference, 0), own), _sum(np.maximum(-difference, 0), own),
        (difference > 0).sum(), (difference < 0).sum(),
    ]))  # fmt: skip
    queries, total, reward, risk, wins, losses = sums.tolist()
    figures = {"effectiveness": total / queries}
    if baselines is not None:
        figures |= {"reward": reward / queries, "risk": risk / queries, "wins": wins, "losses": losses}
    return figures


def sample_deviation(count: float, total: float, squares: float) -> float:
    """The sample deviation from sums; what cancellation leaves of equal values counts as none."""
    spread = squares - total**2 / count
    return math.sqrt(spread / (count - 1)) if count > 1 and spread > _CANCELLED * squares else 0.0


def is_number(value: Any) -> bool:
    """Whether a value read from JSON is a finite number."""
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 2**63)


def check_history(history: Any, lengths: Mapping[str, int] | None = None) -> None:
    """Raise ValueError unless this is a history: for each set of queries its figures, lists of as many numbers."""
    if not isinstance(history, dict) or set(history) != {"train", "valid"}:
        raise ValueError("its history must have the parts train and valid")
    for which, figures in history.items():
        if not isinstance(figures, dict) or not all(isinstance(values, list) for values in figures.values()):
            raise ValueError(f"its history of {which} must have lists")
        trees = {len(values) for values in figures.values()}
        if len(trees) > 1 or (lengths is not None and trees - {lengths[which]}):
            raise ValueError(f"its history of {which} has the wrong length")
        if not all(is_number(value) for values in figures.values() for value in values):
            raise ValueError(f"its history of {which} has a value that is not a number")
