"""Scorers: a score for each query, by which a guard shows the candidate's list (high) or the baseline's (low).

A scorer may be as wrong as it likes: what is proved holds for any. A better one keeps more of the gain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.labels_and_scores import feature_scores
from surefoot.data.types.runs import Qrels
from surefoot.decide.guard.expected_gain import IsotonicGain, RegressionGain
from surefoot.decide.guard.list_pair import ListPair, row_ranks
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.learn.baseline_spec import feature_number
from surefoot.measures.discount import discount
from surefoot.measures.effectiveness import gains
from surefoot.measures.matching import ordinals
from surefoot.measures.notation import Measure

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
        query = _query_numbers(lists.candidate_numbers, len(lists.candidate.queries))[mine.query_of_position()]
        baseline_only_query = _query_numbers(lists.baseline_numbers, len(lists.baseline.queries))[
            theirs.query_at(baseline_only)
        ]
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


def _query_numbers(of_run: Any, queries: int) -> Any:
    """For each of a run's queries its number among the lists'."""
    numbers = np.zeros(queries, dtype=np.int64)
    present = np.flatnonzero(of_run >= 0)
    numbers[of_run[present]] = present
    return numbers
