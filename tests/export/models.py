"""Models to export, and rows on which a wrong conversion shows."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf

NAMES = [
    "bm25(title)",
    "price",
    'a "quoted" <name> & more',
    "{{mustache}}",
    "naïve ✓",
    "x) + (y",
    "line\nbreak",
    "",
    "z",
]
SMALL: dict[str, Any] = {"n_estimators": 40, "random_state": 3}
OF_ENGINE: dict[str, dict[str, Any]] = {
    "lightgbm": {"num_leaves": 12, "min_data_in_leaf": 4, "num_threads": 1, "min_sum_hessian_in_leaf": 0},
    "xgboost": {"max_leaves": 12, "max_depth": 6, "min_child_weight": 0, "nthread": 1, "engine": "xgboost"},
}


def data(missing: bool, seed: int = 5, queries: int = 40) -> sf.RankingData:
    """Features around 0, of both signs and of all sizes, with zeros, and where asked with missing values."""
    random = np.random.default_rng(seed)
    rows = queries * 12
    scale = np.array([1, 100, 1e-3, 1, 1e5, 1, 1e-6, 1, 1])
    X = (random.normal(size=(rows, len(NAMES))) * scale).astype(np.float32)
    X[:, 7] = random.integers(-2, 3, rows)
    X[random.random(X.shape) < 0.15] = 0
    relevance = np.sin(X / scale * 2).sum(1) + (X[:, 0] == 0) + random.normal(size=rows) * 0.3
    if missing:
        gone = random.random(X.shape) < 0.2
        relevance += gone[:, 1] * 1.0 - gone[:, 7]
        X[gone] = np.nan
    y = np.digitize(relevance, np.quantile(relevance, [0.5, 0.75, 0.9]))
    return sf.RankingData(X, y, group=[12] * queries, feature_names=NAMES)


def ranker(engine: str, missing: bool, **more: Any) -> sf.Ranker:
    return sf.Ranker(**(SMALL | OF_ENGINE[engine] | more)).fit(data(missing))


@cache
def thresholds(model: sf.Ranker) -> list[np.ndarray]:
    """Every feature's thresholds, from the learner's own dump, as x ≤ t has them."""
    result: list[list[float]] = [[] for _ in NAMES]
    if model.engine_ == "lightgbm":

        def walk(node: dict[str, Any]) -> None:
            if "split_feature" in node:
                result[node["split_feature"]].append(node["threshold"])
                walk(node["left_child"])
                walk(node["right_child"])

        for tree in model.booster_.dump_model(num_iteration=model.best_iteration_)["tree_info"]:
            walk(tree["tree_structure"])
    else:
        learner = json.loads(bytes(model.booster_.save_raw("json")))["learner"]
        for tree in learner["gradient_booster"]["model"]["trees"]:
            below = np.nextafter(np.array(tree["split_conditions"], np.float32), np.float32(-np.inf))
            for feature, threshold, child in zip(tree["split_indices"], below, tree["left_children"], strict=True):
                if child >= 0:
                    result[feature].append(float(threshold))
    return [np.array(each, np.float64) for each in result]


def delicate(model: sf.Ranker, missing: float, rows: int = 600, seed: int = 1) -> np.ndarray:
    """Ints on thresholds and up to two float32 beside them, and a share of missing values."""
    random = np.random.default_rng(seed)
    result = np.zeros((rows, len(NAMES)), np.float32)
    for feature, known in enumerate(thresholds(model)):
        with np.errstate(over="ignore"):
            single = known.astype(np.float32)
        single = single[np.isfinite(single) & (np.abs(single) < 1e37)]
        if not len(single):
            continue
        values = random.choice(single, rows)
        steps = random.integers(-2, 3, rows)
        for _ in range(2):
            towards = np.where(steps > 0, np.float32(np.inf), np.float32(-np.inf))
            values = np.where(steps != 0, np.nextafter(values, towards), values)
            steps -= np.sign(steps)
        result[:, feature] = values
    result[random.random(result.shape) < missing] = np.nan
    return result


@cache
def rows_of(model: sf.Ranker, missing: bool) -> dict[str, np.ndarray]:
    """Ordinary rows, and rows on thresholds, with and without missing values."""
    kinds = {"ordinary": data(False, seed=9, queries=60).X, "thresholds": delicate(model, 0)}
    if missing:
        kinds |= {"missing": data(True, seed=9, queries=60).X, "both": delicate(model, 0.3)}
    return kinds


def model_of(folder: Path) -> Path:
    """The model in the folder of an export."""
    return next(path for path in folder.iterdir() if path.name in ("model.json", "model.xml", "model.onnx"))
