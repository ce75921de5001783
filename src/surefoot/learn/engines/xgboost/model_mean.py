"""The weighted mean of models in XGBoost's own JSON: all their trees, with every leaf multiplied by its weight."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.errors import ArgumentError

_LEAF = -1  # the child of a leaf


def mean_text(texts: Sequence[str], weights: Sequence[float]) -> str:
    """One model JSON whose scores are the sum of the models' scores, each multiplied by its weight.

    The base score of every ranker is 0, and so is the mean's.
    """
    models = [json.loads(text) for text in texts]
    learner = models[0]["learner"]
    for other in models[1:]:
        for key in ("feature_names", "feature_types"):
            if other["learner"].get(key) != learner.get(key):
                raise ArgumentError(
                    "the models have different features; only models with the same features have a mean"
                )
    parts = [model["learner"]["gradient_booster"]["model"] for model in models]
    trees = [_scale(tree, weight) for part, weight in zip(parts, weights, strict=True) for tree in part["trees"]]
    for number, tree in enumerate(trees):
        tree["id"] = number
    parts[0] |= {"trees": trees, "tree_info": [0] * len(trees), "iteration_indptr": list(range(len(trees) + 1))}
    parts[0]["gbtree_model_param"]["num_trees"] = str(len(trees))
    return json.dumps(models[0])


def _scale(tree: dict[str, Any], weight: float) -> dict[str, Any]:
    """A split's condition is its threshold, which stays; a leaf's is its value. Base weights explain scores."""
    conditions = [
        _scaled(value, weight) if child == _LEAF else value
        for value, child in zip(tree["split_conditions"], tree["left_children"], strict=True)
    ]
    return tree | {
        "split_conditions": conditions,
        "base_weights": [_scaled(value, weight) for value in tree["base_weights"]],
    }


def _scaled(value: float, weight: float) -> float:
    """The product in float32, in which XGBoost keeps leaves."""
    return float(np.float32(value * weight))
