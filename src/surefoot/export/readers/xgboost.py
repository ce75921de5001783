"""XGBoost's model JSON: x < t in float32, NaN sent by default, a base score added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.arguments import finite_number
from surefoot.errors import ArgumentError, shortened
from surefoot.export.ensemble import LEAF, Ensemble, RawTree
from surefoot.export.readers.categories import CategorySplit, without_categories

_PLAIN = ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror")  # these add up leaves, as rank: does
_BELOW_ZERO = float(np.nextafter(np.float32(0), np.float32(-1)))
_NO_MODEL = "this is not a model as XGBoost saves it as JSON"


def read(text: str, names: Sequence[str]) -> Ensemble:
    """The trees of XGBoost's JSON, under the user's names of features."""
    try:
        learner = json.loads(text)["learner"]
        booster, scale = _booster(learner["gradient_booster"])
        trees = booster["model"]["trees"]
        grown = [
            _tree(tree, weight)
            for tree, weight in zip(trees, [1.0] * len(trees) if scale is None else scale, strict=True)
        ]
        base = _base_score(learner)
        features = int(learner["learner_model_param"]["num_feature"])
    except (KeyError, TypeError, IndexError, ValueError, RecursionError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{_NO_MODEL} ({type(error).__name__}: {shortened(str(error))})") from error
    if features != len(names) or not grown:
        raise ArgumentError(f"{_NO_MODEL}: it has {features} features and {len(grown)} trees; {len(names)} are named")
    return Ensemble.from_trees(names, grown, base)


def _booster(booster: dict[str, Any]) -> tuple[dict[str, Any], list[float] | None]:
    """The trees' part of the model, and DART's weight for each tree."""
    if booster["name"] == "dart":
        return booster["gbtree"], [float(weight) for weight in booster["weight_drop"]]
    if booster["name"] != "gbtree":
        raise ArgumentError(
            f"this model is XGBoost's {shortened(booster['name'])}, which has no trees; train with booster='gbtree'"
        )
    return booster, None


def _base_score(learner: dict[str, Any]) -> float:
    """What XGBoost starts from; since version 3.1 it is a list, of one for a ranker."""
    objective = learner["objective"]["name"]
    if not objective.startswith("rank:") and objective not in _PLAIN:
        raise ArgumentError(
            f"this model's objective is {shortened(objective)}, whose score is not the plain sum of its trees; train "
            "with rank:ndcg"
        )
    if int(learner["learner_model_param"].get("num_target", 1)) > 1:
        raise ArgumentError("this model has several scores per document; search engines rank by one score")
    text = learner["learner_model_param"]["base_score"]
    base = finite_number(text.removeprefix("[").removesuffix("]"))
    if base is None:
        raise ArgumentError(f"this model's base_score is {shortened(text)}; a ranker's is one number")
    return float(np.float32(base))


def _tree(tree: dict[str, Any], weight: float) -> RawTree:
    if int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise ArgumentError(
            "the leaves of this model contain several numbers; search engines can add only one number per tree"
        )
    left, right = np.array(tree["left_children"], np.int64), np.array(tree["right_children"], np.int64)
    is_leaf = left == LEAF
    written = np.array(tree["split_conditions"], dtype=np.float32)
    below = np.nextafter(written, np.float32(-np.inf)).astype(np.float64)  # x < t is x ≤ the float32 below t
    leaves = (written * np.float32(weight)).astype(np.float64)
    raw = RawTree(
        np.where(is_leaf, LEAF, np.array(tree["split_indices"], np.int64)),
        np.where(is_leaf, 0.0, below),
        np.array(tree["default_left"], dtype=bool),
        left,
        right,
        np.where(is_leaf, leaves, 0.0),
    )
    return without_categories(raw, _sets(tree)) if any(tree["split_type"]) else raw


def _sets(tree: dict[str, Any]) -> dict[int, CategorySplit]:
    """The categories that go right at each split by categories; others, also those below 0, go left."""
    splits = {}
    for node, start, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        codes = frozenset(map(int, tree["categories"][start : start + size]))
        missing_left = bool(tree["default_left"][node])
        splits[node] = CategorySplit(codes, member_left=False, missing_left=missing_left, below=_BELOW_ZERO)
    if set(splits) != {node for node, kind in enumerate(tree["split_type"]) if kind}:
        raise ArgumentError(f"{_NO_MODEL}: its splits by categories have no categories")
    return splits
