"""Gradient-boosted regression trees, which predict each document's label by least squares; to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Float32s, Floats
from surefoot.data.types.ranking_data import RankingData
from surefoot.learn.engines.contract import Booster, Engine, engine_of
from surefoot.learn.inputs import matched_features
from surefoot.learn.options import ENGINE
from surefoot.learn.prepared_data import PreparedData
from surefoot.learn.training_weights import refuse_weights


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
