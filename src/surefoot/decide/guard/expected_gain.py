"""The gain that a document is expected to have, ĝ(d): learned from judged documents of other queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.types.runs import Qrels
from surefoot.errors import ArgumentError, DataError, shortened

if TYPE_CHECKING:
    from surefoot.decide.guard.list_pair import ListPair
    from surefoot.learn.simple_rankers import RegressionTrees

_TREES = 60
_LEAST_DOCUMENTS = 30  # documents of a leaf
_SMALL_TREES: dict[str, dict[str, Any]] = {  # by engine, the same trees in its own words
    "lightgbm": {"num_leaves": 8, "learning_rate": 0.07, "feature_fraction": 0.7, "num_threads": 1},
    "xgboost": {
        "max_leaves": 8, "grow_policy": "lossguide", "max_depth": 0, "learning_rate": 0.07, "colsample_bytree": 0.7,
        "nthread": 1,
    },
}  # fmt: skip
_LEAF_SIZE_PARAMETER = {
    "lightgbm": "min_data_in_leaf",
    "xgboost": "min_child_weight",
}  # every document has a hessian of 1
_SCORE_FEATURES = ("candidate's score", "baseline's score")  # features besides the data's own
_MOST_POINTS = 512  # steps of an isotonic map that are kept


class RegressionGain:
    """Small regression trees on a document's features and both systems' scores of it, standardised in its query."""

    def __init__(self, engine: str) -> None:
        self.engine = engine  # the candidate's own, which is installed
        self.trees: RegressionTrees | None = None

    def fit(self, lists: ListPair, qrels: Qrels, gain: Callable[[Floats], Floats]) -> None:
        """Grow the trees."""
        from surefoot.learn.simple_rankers import regression_trees

        data = _with_scores(lists)
        parameters = _SMALL_TREES[self.engine] | {
            _LEAF_SIZE_PARAMETER[self.engine]: max(1, min(_LEAST_DOCUMENTS, len(data) // 20))
        }
        self.trees = regression_trees(data.with_labels(gain(data.y)), trees=_TREES, engine=self.engine, **parameters)

    def predict(self, lists: ListPair) -> Floats:
        """ĝ of each row of the data."""
        if self.trees is None:
            raise ArgumentError("the scorer has not learned anything yet; call fit_scorer first")
        return self.trees.predict(_with_scores(lists))

    def to_dict(self) -> dict[str, Any]:
        """The trees, as their engine's own text."""
        assert self.trees is not None
        text = self.trees.engine.dump(self.trees.booster, self.trees.trees)
        return {
            "engine": self.engine, "mean": self.trees.mean, "trees": self.trees.trees, "names": list(self.trees.names),
            "model": text,
        }  # fmt: skip

    def restore(self, data: dict[str, Any]) -> None:
        """Take the trees up again; their text is not trusted."""
        from surefoot.learn.engines.contract import ModelTextError, engine_of
        from surefoot.learn.simple_rankers import RegressionTrees

        names, trees, mean = data["names"], data["trees"], data["mean"]
        self.engine = data["engine"]
        engine = engine_of(self.engine)
        if not _is_numbers([mean]) or not isinstance(names, list) or not all(isinstance(each, str) for each in names):
            raise DataError("has a scorer whose regression is not complete")
        try:
            booster = engine.load(data["model"])
        except (ModelTextError, TypeError, AttributeError) as error:
            raise DataError(f"has a scorer whose trees cannot be read ({shortened(str(error))})") from error
        if (
            type(trees) is not int
            or engine.count_trees(booster) != trees
            or engine.count_features(booster) != len(names)
        ):
            raise DataError("has a scorer whose trees do not match its settings")
        self.trees = RegressionTrees(engine, booster, float(mean), trees, names)


class IsotonicGain:
    """A map of the candidate's scores that never falls: least squares, as steps (pool adjacent violators)."""

    def __init__(self) -> None:
        self.at: Floats = np.zeros(0)
        self.value: Floats = np.zeros(0)

    def fit(self, lists: ListPair, qrels: Qrels, gain: Callable[[Floats], Floats]) -> None:
        """Fit the map on all documents of judged queries; those without a judgment have no gain."""
        from scipy.optimize import isotonic_regression

        if lists.data is not None:
            scores, grades = lists.scores, lists.data.y
        else:
            ranking = lists.candidate.ranking
            judged_queries = set(qrels.queries)
            is_judged = np.array([query in judged_queries for query in lists.candidate.queries])[
                ranking.query_of_position()
            ]
            positions = np.flatnonzero(is_judged)
            matches = qrels.ranking.find(ranking.codes_at(positions))
            grades = np.where(matches >= 0, qrels.grades[np.maximum(matches, 0)], 0.0)
            scores = ranking.scores[positions]
        if not len(scores):
            raise DataError("the candidate shows nothing for the judged queries, so no gain can be learned")
        at, inverse = np.unique(scores, return_inverse=True)
        weights = np.bincount(inverse).astype(np.float64)
        means = np.bincount(inverse, gain(grades)) / weights
        fitted = isotonic_regression(means, weights=weights).x
        steps = np.flatnonzero(np.concatenate([[True], fitted[1:] > fitted[:-1]]))
        if len(steps) > _MOST_POINTS:
            steps = steps[np.linspace(0, len(steps) - 1, _MOST_POINTS).astype(np.int64)]
        self.at, self.value = at[steps], fitted[steps]

    def predict(self, lists: ListPair) -> Floats:
        """ĝ of each row of the data, or of each result of the candidate's run."""
        if not len(self.at):
            raise ArgumentError("the scorer has not learned anything yet; call fit_scorer first")
        scores = lists.scores if lists.data is not None else lists.candidate.ranking.scores
        return np.asarray(np.interp(scores, self.at, self.value))

    def to_dict(self) -> dict[str, Any]:
        """Where the map rises, and to what."""
        return {"at": self.at.tolist(), "value": self.value.tolist()}

    def restore(self, data: dict[str, Any]) -> None:
        """Take the map up again."""
        at, value = data["at"], data["value"]
        if not _is_numbers(at) or not _is_numbers(value) or len(at) != len(value) or at != sorted(set(at)):
            raise DataError("has a scorer whose isotonic map is not valid")
        self.at, self.value = np.array(at, dtype=np.float64), np.array(value, dtype=np.float64)


def _with_scores(lists: ListPair) -> RankingData:
    """The data with both systems' scores as two more features."""
    data = lists.data
    assert data is not None
    columns = [data.standardised(each).astype(np.float32) for each in (lists.scores, lists.reference)]
    names: Sequence[str] | None = None if data.feature_names is None else [*data.feature_names, *_SCORE_FEATURES]
    return data.with_features(np.ascontiguousarray(np.column_stack([data.X, *columns])), names)


def _is_numbers(values: Any) -> bool:
    return (
        isinstance(values, list)
        and bool(values)
        and all(type(each) in (int, float) and np.isfinite(each) for each in values)
    )
