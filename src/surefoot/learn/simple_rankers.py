"""Rankers to compare with: gradient-boosted regression trees on labels, and linear ones, AdaRank and feature selection.

Features of linear rankers are standardised within each query first, so that weights mean the same for all and
collections that are not normalised can be learned from. A query's documents are then ranked by w·x.

AdaRank (Xu and Li, SIGIR 2007) boosts single features: each round takes the feature that does best on queries weighted
by how badly the model so far ranks them. Automatic feature selection (Metzler, CIKM 2007) adds, round after round,
the feature and the weight that raise the measure most, until none does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Float32s, Floats
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError
from surefoot.learn.engines.contract import Booster, Engine, engine_of
from surefoot.learn.inputs import matched_features
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.options import ENGINE, MEASURE
from surefoot.learn.prepared_data import PreparedData
from surefoot.learn.training_weights import refuse_weights
from surefoot.measures.notation import Measure
from surefoot.progress import steps

_TRIED_WEIGHTS = np.array(
    [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0]
)  # weights tried beside those there
_LEAST_GAIN = 1e-6  # a rise of the measure that is worth a feature


@dataclass(frozen=True)
class RegressionTrees:
    """Trees whose sum, with the mean label, predicts a document's label; the first `trees` of them count."""

    engine: Engine
    booster: Booster
    mean: float
    trees: int
    names: Sequence[str]

    def predict(self, data: RankingData) -> Floats:
        """A score for each document."""
        return self.engine.predict(self.booster, matched_features(data, self.names, "the data"), self.trees) + self.mean


def regression_trees(
    train: RankingData,
    valid: RankingData | None = None,
    *,
    trees: int = 100,
    early_stopping_rounds: int | None = None,
    seed: int = 0,
    engine: str = ENGINE,
    **parameters: Any,
) -> RegressionTrees:
    """Boost trees on the labels; with validation data, those up to the least squared error there count.

    Growing stops after `early_stopping_rounds` trees that do not lower that error. The parameters are the engine's.
    """
    refuse_weights("regression trees", train, valid)
    trees = integer("trees", trees, 1)
    patience = None if early_stopping_rounds is None else integer("early_stopping_rounds", early_stopping_rounds, 1)
    data = PreparedData(train.with_baselines_only([]), None if valid is None else valid.with_baselines_only([]))
    learner = engine_of(engine)
    checked = learner.check(parameters, train.n_features)
    mean = float(train.y.mean())
    flat = np.ones(len(train), np.float32)
    best = (np.inf, trees)

    def gradients(scores: Floats) -> tuple[Float32s, Float32s]:
        return (scores + (mean - train.y)).astype(np.float32), flat

    def after_tree(grown: int, others: Sequence[Floats]) -> bool:
        nonlocal best
        if data.valid is None:
            return False
        error = float(np.mean((others[-1] + (mean - data.valid.y)) ** 2))
        best = min(best, (error, grown))
        return patience is not None and grown - best[1] >= patience

    booster = data.bins(learner, checked, seed).grow(trees, checked, gradients, after_tree, None, seed)
    return RegressionTrees(learner, booster, mean, min(best[1], learner.count_trees(booster)), data.names)


@dataclass(frozen=True)
class LinearRanker:
    """Weights of standardised features, in the order in which these were taken, and the measure after each of them."""

    weights: Floats
    chosen: tuple[int, ...]
    history: tuple[float, ...]

    def predict(self, data: RankingData) -> Floats:
        """A score for each document."""
        if data.n_features != len(self.weights):
            raise ArgumentError(
                f"the data has {data.n_features} features, but this model was trained on {len(self.weights)}"
            )
        return np.asarray(_columns(data) @ self.weights)


def adarank(data: RankingData, measure: str | Measure = MEASURE, *, rounds: int = 100) -> LinearRanker:
    """AdaRank: `rounds` times a feature, some of them again and again.

    With P the weights of queries and M the measure in [0, 1], a round takes the feature of the greatest Σ P·M and
    adds it with ½·ln(Σ P(1 + M) / Σ P(1 − M)); then P ∝ exp(−M) of the model so far. No feature is taken twice in
    a row. The model is that of the round after which the measure was greatest.
    """
    refuse_weights("linear rankers", data)
    rounds = integer("rounds", rounds, 1)
    X, measured = _columns(data), MeasuredQueries.from_data(data, measure)
    single = np.stack([measured.values(column) for column in steps(list(X.T), "Features alone")])
    weights = np.zeros(X.shape[1])
    best = LinearRanker(weights.copy(), (), ())
    chosen: list[int] = []
    history: list[float] = []
    query_weights = np.full(measured.queries, 1 / measured.queries)
    for _ in steps(range(rounds), "AdaRank"):
        worth = single @ query_weights
        if chosen:  # more of the same would change no ranking, and then be best again
            worth[chosen[-1]] = -np.inf
        feature = int(np.argmax(worth))
        good = float(query_weights @ single[feature])
        if good >= 1:  # perfect on every query that counts: nothing is left to learn
            good = 1 - 1e-12
        weights[feature] += math.log((1 + good) / (1 - good)) / 2
        values = measured.values(X @ weights)
        chosen.append(feature)
        history.append(float(values.mean()))
        if not best.history or history[-1] > max(best.history):
            best = LinearRanker(weights.copy(), tuple(chosen), tuple(history))
        query_weights = np.exp(-values)
        query_weights /= query_weights.sum()
    return best


def feature_selection(data: RankingData, measure: str | Measure = MEASURE, *, features: int = 10) -> LinearRanker:
    """Automatic feature selection: up to `features` features, each with the weight that raises the measure most.

    Weights are tried on a grid of both signs; the others stay as they are while one is looked for.
    """
    refuse_weights("linear rankers", data)
    features = integer("features", features, 1)
    X, measured = _columns(data), MeasuredQueries.from_data(data, measure)
    weights = np.zeros(X.shape[1])
    scores = np.zeros(len(data))
    chosen: list[int] = []
    history: list[float] = []
    value = float(measured.values(scores).mean())
    for _ in steps(range(min(features, X.shape[1])), "Selecting features"):
        scale = np.abs(weights).max() if chosen else 1.0
        tried = np.concatenate([_TRIED_WEIGHTS, -_TRIED_WEIGHTS]) * scale if chosen else np.array([1.0, -1.0])
        best_value, feature, weight = max(
            (float(measured.values(scores + step * X[:, free]).mean()), -free, step)
            for free in range(X.shape[1])
            if free not in chosen
            for step in tried.tolist()
        )
        if best_value <= value + _LEAST_GAIN:
            break
        value, feature = best_value, -feature
        weights[feature] = weight
        scores += weight * X[:, feature]
        chosen.append(feature)
        history.append(value)
    return LinearRanker(weights, tuple(chosen), tuple(history))


def _columns(data: RankingData) -> Floats:
    """The standardised features, a column each, one after the other in memory."""
    columns = (data.standardised(data.X[:, feature]) for feature in range(data.n_features))
    return np.stack(list(columns)).T
