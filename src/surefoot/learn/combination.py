"""A model together with its baseline: blended, or used for some queries alone; and a feature of whole queries.

`surefoot select` saves such models. The trees are the engine's own; what is here is plain data beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Floats, Ints
from surefoot.data.reading.matrix import without_queries
from surefoot.data.types.labels_and_scores import blend_scores, feature_scores
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, name_list, shortened
from surefoot.learn.baseline_spec import feature_number
from surefoot.learn.criteria import is_number
from surefoot.learn.inputs import matched_features

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker


@dataclass(frozen=True)
class Combination:
    """How a model's scores and a baseline's become one ranking.

    With `weight` w it is the blend (1 − w)·z_b + w·z_m of scores standardised within each query. With `aggregate` (such
    as "mean:25") and `threshold`, the model ranks the queries whose aggregate is at most that, the baseline the others.
    `source`, where it is such as "feature:25", says what the baseline is for data that does not name it.
    """

    baseline: str
    source: str | None = None
    weight: float | None = None
    aggregate: str | None = None
    threshold: float | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read plain data, and trust none of it."""
        try:
            new = cls(**data)
        except TypeError as error:
            raise ArgumentError(f"the keys of a combination are wrong ({error})") from error
        texts = (new.baseline, *(text for text in (new.source, new.aggregate) if text is not None))
        if not all(isinstance(text, str) for text in texts):
            raise ArgumentError("the baseline, source and aggregate of a combination must be texts")
        is_blend = is_number(new.weight) and new.weight is not None and 0 <= new.weight <= 1
        is_selective = new.aggregate is not None and is_number(new.threshold)
        others = (new.aggregate, new.threshold) if is_blend else (new.weight,)
        if is_blend == is_selective or any(other is not None for other in others):
            raise ArgumentError("a combination needs a weight from 0 to 1, or an aggregate and its threshold")
        if new.aggregate is not None:
            Aggregate.parse(new.aggregate)
        return new

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @property
    def words(self) -> str:
        """What it is."""
        if self.weight is not None:
            return f"blended with its baseline {shortened(self.baseline)} (weight {self.weight:g})"
        return (
            f"used if {self.aggregate} of a query is at most {self.threshold:g}, and its baseline "
            f"{shortened(self.baseline)} otherwise"
        )

    def scores(self, model: Floats, data: RankingData) -> Floats:
        """The documents' scores, from the model's."""
        baseline = self._baseline_scores(data)
        if self.weight is not None:
            return blend_scores(model, baseline, data.lengths, self.weight)
        assert self.aggregate is not None
        assert self.threshold is not None
        is_low = Aggregate.parse(self.aggregate)(data) <= self.threshold
        return np.where(np.repeat(is_low, data.lengths), model, baseline)

    def _baseline_scores(self, data: RankingData) -> Floats:
        if self.baseline in data.baselines:
            return data.baselines[self.baseline]
        number = None if self.source is None else feature_number(self.source)
        if number is not None:
            return feature_scores(data, number)
        known = name_list(list(data.baselines), 5, shortened) or "none"
        raise ArgumentError(
            f"this model is {self.words}, but the data does not have that baseline (it has {known}); name it, for "
            f"example with -b {self.baseline}=feature:25"
        )


def refuse_combination(ranker: Ranker, what: str) -> None:
    """Reject what only trees can do, in one message for all places."""
    if ranker.combination_ is not None:
        words = Combination.from_dict(ranker.combination_).words
        raise ArgumentError(f"this model is {words}; {what}")


def with_aggregate(ranker: Ranker, X: Any, qid: Any, group: npt.ArrayLike | None) -> Any:
    """The data of a model whose last feature is a number per query, with that feature computed from the others.

    Whatever a column for it holds is replaced: a LETOR file that lacks the last feature is read as if it were 0. A
    matrix of all features without queries is taken as it is.
    """
    if not isinstance(X, RankingData):
        queries = without_queries(X)[1] if qid is None and group is None else qid
        if queries is None and group is None:
            return X
        features = without_queries(X)[0]
        X = RankingData(features, np.zeros(len(features)), qid=queries, group=group)
    trained, aggregate = list(ranker.feature_names_in_), Aggregate.parse(str(ranker.query_feature_))
    has_column = trained[-1] in X.feature_names if X.feature_names else X.n_features == len(trained)
    names = trained if has_column else trained[:-1]
    matrix = matched_features(X, names, "X", ranker.categories_)[:, : len(trained) - 1]
    data = X.with_features(np.ascontiguousarray(matrix), None)
    data = aggregate.add_to(data)
    return data.with_features(data.X, None if X.feature_names is None else trained)


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
