"""Baselines learned on queries held out for them (Dinçer et al., SIGIR 2016, §6.1): two of trees, two linear ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.choose.plan import TREES_PARAMETER
from surefoot.data.types.ranking_data import RankingData
from surefoot.learn.ranker import Ranker
from surefoot.learn.simple_rankers import adarank, feature_selection, regression_trees

BASELINE_MODELS = ("LambdaMART", "GBRT", "AdaRank", "AFS")
_PATIENCE = 50


def learned_baselines(held_out: RankingData, measure: str, parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """LambdaMART, regression trees, AdaRank and automatic feature selection, by name; each has `predict`.

    Two thirds of the queries are learned from; the last third says when the trees have grown enough. `parameters` are
    the trees', and may name their engine.
    """
    order = np.random.default_rng(seed).permutation(len(held_out.queries))
    cut = len(order) - len(order) // 3
    train, valid = (held_out.select(np.sort(part)).with_baselines_only([]) for part in (order[:cut], order[cut:]))
    others = {name: value for name, value in parameters.items() if name != TREES_PARAMETER}
    trees = int(parameters[TREES_PARAMETER])
    ranker = Ranker(
        measure=measure, n_estimators=trees, early_stopping_rounds=_PATIENCE, random_state=seed, history=False,
        **others,
    ).fit(train, valid=valid)  # fmt: skip
    regression = regression_trees(train, valid, trees=trees, early_stopping_rounds=_PATIENCE, seed=seed, **others)
    models = (ranker, regression, adarank(train, measure), feature_selection(train, measure))
    return dict(zip(BASELINE_MODELS, models, strict=True))


def scores_of(models: Mapping[str, Any], data: RankingData) -> dict[str, Floats]:
    """Each model's scores of the documents."""
    plain = data.with_baselines_only([])
    return {name: np.asarray(model.predict(plain), dtype=np.float64) for name, model in models.items()}
