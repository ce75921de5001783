"""Scorers: a score for each query, by which a guard shows the candidate's list (high) or the baseline's (low).

A scorer may be as wrong as it likes: what is proved holds for any. A better one keeps more of the gain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.labels_and_scores import feature_scores
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.types.runs import Qrels
from surefoot.decide.guard.list_pair import ListPair, row_ranks
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.learn.baseline_spec import feature_number
from surefoot.measures.effectiveness import discount, gains
from surefoot.measures.matching import ordinals
from surefoot.measures.notation import Measure

if TYPE_CHECKING:
    from surefoot.decide.guard.list_pair import ListPair
    from surefoot.learn.simple_rankers import RegressionTrees

SCORERS = ("predicted_gain", "predicted_gain:regression", "predicted_gain:isotonic", "feature:K")


class Scorer(Protocol):
    """What a guard needs of a scorer; `name` is how users name it."""

    name: str

    def fit(self, lists: ListPair, qrels: Qrels, differences: Floats) -> None:
        """Learn from judged queries; `differences` are M_m − M_b of each of the lists' queries."""
        ...

    def scores(self, lists: ListPair) -> Floats:
        """A score for each query."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """What was learned, as plain data."""
        ...

    def restore(self, data: dict[str, Any]) -> None:
        """Take up what `to_dict` gave, which may have come from anywhere."""
        ...


def make_scorer(scorer: str | Callable[[ListPair], Any], measure: Measure, engine: str | None) -> Scorer:
    """The scorer of this name, or of this function; `engine` is the candidate's, None where there are no features."""
    if callable(scorer):
        return FunctionScorer(scorer)
    kind, _, rest = str(scorer).partition(":")
    if kind == "predicted_gain" and rest in ("", "regression", "isotonic"):
        if rest == "regression" and engine is None:
            raise ArgumentError(
                "a regression of gains needs document features, but runs have none; use predicted_gain:isotonic"
            )
        return PredictedGain(measure, engine if rest != "isotonic" else None)
    number = feature_number(str(scorer))
    if number is not None:
        if engine is None:
            raise ArgumentError(
                f"scorer {shortened(scorer)} needs document features, but runs have none; use another scorer"
            )
        return FeatureScorer(number)
    raise ArgumentError(f"scorer is {shortened(scorer)}; it must be one of {', '.join(SCORERS)}, or a function")


class PredictedGain:
    """Σ_d ĝ(d)·(D(r_m) − D(r_b)) / ideal(ĝ): by how much the candidate's list should be better.

    ĝ(d), the gain that a document is expected to have, comes from a small regression on its features, or from an
    isotonic map of the candidate's scores, learned on other queries than those that calibrate.
    """

    def __init__(self, measure: Measure, engine: str | None) -> None:
        self.name = f"predicted_gain:{'isotonic' if engine is None else 'regression'}"
        self.cutoff = measure.depth
        self.form = str(measure.settings.get("dcg", "log2"))
        self.expected: RegressionGain | IsotonicGain = IsotonicGain() if engine is None else RegressionGain(engine)

    def fit(self, lists: ListPair, qrels: Qrels, differences: Floats) -> None:
        """Learn what gain documents have, from those of the judged queries."""
        self.expected.fit(lists, qrels, lambda grades: gains(np.maximum(grades, 0.0), self.form))

    def scores(self, lists: ListPair) -> Floats:
        """The predicted gain of each query."""
        query, expected, candidate, baseline = self._documents(lists)
        count = len(lists.queries)
        moved = expected * (self._discount(candidate) - self._discount(baseline))
        order = np.lexsort((-expected, query))
        rank = ordinals(query[order]) + 1
        ideal = np.bincount(query[order], expected[order] * self._discount(rank), minlength=count)
        gain = np.bincount(query, moved, minlength=count)
        return np.divide(gain, ideal, out=np.zeros(count), where=ideal > 0)

    def _documents(self, lists: ListPair) -> tuple[Any, Floats, Any, Any]:
        """Of each document of either list: its query, expected gain, and both ranks, 0 where it is absent."""
        if lists.data is not None:
            query = np.repeat(np.arange(len(lists.queries)), lists.data.lengths)
            expected = np.maximum(self.expected.predict(lists), 0.0)
            return query, expected, row_ranks(lists.data, lists.scores), row_ranks(lists.data, lists.reference)
        mine, theirs = lists.candidate.ranking, lists.baseline.ranking
        matched, there = mine.match(theirs)
        baseline = np.zeros(len(lists.candidate), dtype=np.int64)
        baseline[matched] = theirs.rank_at(there)
        only = np.ones(len(lists.baseline), dtype=bool)
        only[there] = False
        baseline_only = np.flatnonzero(only)  # what only the baseline shows
        expected = np.maximum(self.expected.predict(lists), 0.0)
        query = lists.query_numbers(lists.candidate)[mine.query_of_position()]
        baseline_only_query = lists.query_numbers(lists.baseline)[theirs.query_at(baseline_only)]
        # Each is taken to be as good as the least of what the candidate shows for its query, or for any.
        least = np.full(len(lists.queries), np.inf)
        np.minimum.at(least, query, expected)
        least[np.isinf(least)] = expected.min() if len(expected) else 0.0
        return (
            np.concatenate([query, baseline_only_query]),
            np.concatenate([expected, least[baseline_only_query]]),
            np.concatenate([mine.ranks(), np.zeros(len(baseline_only), dtype=np.int64)]),
            np.concatenate([baseline, theirs.rank_at(baseline_only)]),
        )

    def _discount(self, rank: Any) -> Floats:
        return np.where(rank > 0, discount(np.maximum(rank, 1), self.cutoff), 0.0)

    def to_dict(self) -> dict[str, Any]:
        """What was learned."""
        return self.expected.to_dict()

    def restore(self, data: dict[str, Any]) -> None:
        """Take up what was learned."""
        self.expected.restore(data)


class FeatureScorer:
    """A query's own feature: the greatest value of a document feature in it, in the direction that `fit` finds."""

    def __init__(self, number: int) -> None:
        self.name = f"feature:{number}"
        self.number = number
        self.sign = 0

    def fit(self, lists: ListPair, qrels: Qrels, differences: Floats) -> None:
        """Which way to go: the sign of the covariance of ranks between the feature and the gain."""
        value, gain = (_centred_ranks(each) for each in (self._values(lists), differences))
        self.sign = -1 if value @ gain < 0 else 1

    def scores(self, lists: ListPair) -> Floats:
        """The feature, turned so that higher is better."""
        return self.sign * self._values(lists)

    def _values(self, lists: ListPair) -> Floats:
        assert lists.data is not None
        column = feature_scores(lists.data, self.number)
        values = np.maximum.reduceat(column, lists.data.offsets[:-1])
        if not np.isfinite(values).all():
            raise DataError(f"feature {self.number} is missing or not finite in at least one query; use another scorer")
        return np.asarray(values)

    def to_dict(self) -> dict[str, Any]:
        """The direction."""
        return {"sign": self.sign}

    def restore(self, data: dict[str, Any]) -> None:
        """Take up the direction."""
        if data.get("sign") not in (-1, 1) or type(data["sign"]) is not int:
            raise DataError(f"has a scorer whose sign is {shortened(data.get('sign'))}")
        self.sign = data["sign"]


@dataclass
class FunctionScorer:
    """The user's own function of `ListPair`, which gives a finite number for each query."""

    function: Callable[[ListPair], Any]
    name: str = "own function"

    def fit(self, lists: ListPair, qrels: Qrels, differences: Floats) -> None:
        """Nothing to learn here."""

    def scores(self, lists: ListPair) -> Floats:
        """What the function gives, checked."""
        scores = np.asarray(self.function(lists), dtype=np.float64)
        if scores.shape != (len(lists.queries),) or not np.isfinite(scores).all():
            raise ArgumentError(
                f"the scorer gave shape {scores.shape} for {len(lists.queries):,} queries, or something that is not "
                "finite; it must give one finite number for each of lists.queries"
            )
        return scores

    def to_dict(self) -> dict[str, Any]:
        """A function cannot be written down."""
        raise ArgumentError(
            "a scorer of your own is a function, which cannot be saved without running code when it is loaded; use "
            f"one of {', '.join(SCORERS)} to save the guard, or keep it in memory"
        )

    def restore(self, data: dict[str, Any]) -> None:
        """Never saved."""


def _centred_ranks(values: Floats) -> Floats:
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)
    return np.asarray(ranks - ranks.mean())


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
