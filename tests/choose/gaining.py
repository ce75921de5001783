"""One small sweep that recommends a model, made once for all tests that look at its page."""

from __future__ import annotations

import tempfile
from functools import cache

import surefoot as sf


@cache
def gaining_sweep() -> sf.TradeOffs:
    """Two objectives on 120 generated queries."""
    made = sf.demo.letor(queries=120, documents=10, features=6, seed=1).with_baselines_only([])
    grid = {"n_estimators": 20, "num_leaves": 6, "min_data_in_leaf": 10}
    data = made.with_baseline("today", made.feature(2))
    with tempfile.TemporaryDirectory() as folder:
        return sf.sweep(data, f"{folder}/s", objectives=["u_risk", "saro"], alphas=[1, 5, 10], grid=grid, folds=3)
