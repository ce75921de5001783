"""One number per query from a feature of its documents, which decides whether the query is re-ranked at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.baseline_spec import feature_number


def _entropy(values: Floats, starts: Ints, lengths: Ints) -> Floats:
    """Shannon's entropy, in nats, of the values as shares of their sum; that of equal shares where all are 0."""
    if values.min() < 0:
        raise ArgumentError(f"the entropy of a feature needs values of at least 0; found {values.min():g}")
    total = np.add.reduceat(values, starts)
    share = np.where(np.repeat(total, lengths) > 0, values, 1.0)
    share = share / np.repeat(np.add.reduceat(share, starts), lengths)
    terms = np.where(share > 0, share * np.log(np.where(share > 0, share, 1.0)), 0.0)
    return np.asarray(-np.add.reduceat(terms, starts))


_AGGREGATES: dict[str, Callable[..., Floats]] = {
    "max": lambda values, starts, lengths: np.maximum.reduceat(values, starts),
    "min": lambda values, starts, lengths: np.minimum.reduceat(values, starts),
    "mean": lambda values, starts, lengths: np.add.reduceat(values, starts) / lengths,
    "entropy": _entropy,
}


@dataclass(frozen=True)
class Aggregate:
    """The greatest, least or mean value of a feature among a query's documents, or the entropy of the values.

    >>> data = RankingData([[1.0], [3.0], [2.0]], [1, 0, 2], qid=["a", "a", "b"])
    >>> Aggregate.parse("max:1")(data)
    array([3., 2.])
    """

    kind: str
    feature: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `max:25`."""
        kind = str(text).partition(":")[0]
        number = feature_number(str(text), kind)
        if kind not in _AGGREGATES or number is None:
            raise ArgumentError(
                f"selective is {shortened(text)}; write one of {', '.join(_AGGREGATES)}, then a colon and the number "
                "of a "
                "feature, such as max:25"
            )
        return cls(kind, number)

    def __str__(self) -> str:
        """As it parses."""
        return f"{self.kind}:{self.feature}"

    def __call__(self, data: RankingData) -> Floats:
        """A number for each query."""
        values = data.feature(self.feature).astype(np.float64)
        if not np.isfinite(values).all():
            raise ArgumentError(f"feature {self.feature} has missing values, so it has no {self.kind} for each query")
        return _AGGREGATES[self.kind](values, data.offsets[:-1], data.lengths)

    def add_to(self, data: RankingData) -> RankingData:
        """The data with the number as one more feature, the same for all documents of a query."""
        column = np.repeat(self(data), data.lengths)
        names = None if data.feature_names is None else [*data.feature_names, str(self)]
        return data.with_features(np.column_stack([data.X, column]).astype(np.float32), names)
