"""XGBoost's model JSON, checked before XGBoost sees it, which trusts the indices in it; and the mean of several."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.reading.files import parse_json
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.engines.contract import ModelTextError

OBJECTIVE = "rank:ndcg"  # XGBoost's own that is nearest; plugins of search engines reject a model without one of theirs

_CATEGORIES = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
_TREE = {
    "left_children": int, "right_children": int, "parents": int, "split_indices": int, "split_type": int,
    "default_left": int, "split_conditions": float, "base_weights": float, "loss_changes": float,
    "sum_hessian": float,
}  # fmt: skip
_TYPES = {"q", "c", "i", "int", "float"}
_NO_NODE = 2**31 - 1  # the root's parent
_LARGEST = 3.5e38  # more than any float32
_MOST_CATEGORIES = 2**24  # what float32 holds exactly
_COUNT = re.compile(r"\d{1,10}")
_ZERO = re.compile(r"\[?[-+]?0(\.0*)?(E[-+]?\d+)?\]?", re.IGNORECASE)
_LEAF = -1  # the child of a leaf


def check(text: str) -> int:
    """The number of trees of a model JSON, if all of it is as XGBoost writes it for a ranker of this package."""
    try:
        content = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise ModelTextError("it is not JSON, or was cut off") from error
    learner = _part(content, "learner", dict)
    model = _part(_part(learner, "gradient_booster", dict), "model", dict)
    kinds = (learner["gradient_booster"].get("name"), _part(learner, "objective", dict).get("name"))
    if kinds != ("gbtree", OBJECTIVE):
        raise ModelTextError(f"its booster and objective are {shortened(kinds)}; a ranker's are gbtree and {OBJECTIVE}")
    shape = _part(learner, "learner_model_param", dict)
    if not isinstance(shape.get("base_score"), str) or not _ZERO.fullmatch(shape["base_score"]):
        raise ModelTextError(f"its base_score is {shortened(shape.get('base_score'))}; a ranker's is 0")
    if shape.get("num_class") != "0" or shape.get("num_target", "1") != "1":
        raise ModelTextError("it has several classes or targets")
    features = _count(shape, "num_feature")
    names = learner.get("feature_names", [])
    if not isinstance(names, list) or len(names) not in (0, features) or not all(isinstance(n, str) for n in names):
        raise ModelTextError(f"it has not as many feature names as its {features} features")
    types = learner.get("feature_types", [])
    if not isinstance(types, list) or len(types) not in (0, features) or not set(map(str, types)) <= _TYPES:
        raise ModelTextError("its feature_types are not those of its features")
    trees = _part(model, "trees", list)
    parameters = _part(model, "gbtree_model_param", dict)
    if _count(parameters, "num_trees") != len(trees) or parameters.get("num_parallel_tree") != "1":
        raise ModelTextError(f"num_trees is not {len(trees)}, the number of its trees, one per iteration")
    if model.get("iteration_indptr", list(range(len(trees) + 1))) != list(range(len(trees) + 1)):
        raise ModelTextError("iteration_indptr does not count one tree per iteration")
    if model.get("tree_info") != [0] * len(trees):
        raise ModelTextError("tree_info does not name the one target of each tree")
    for number, tree in enumerate(trees):
        try:
            _check_tree(tree, number, features)
        except ModelTextError as error:
            raise ModelTextError(f"tree {number}: {error}") from None
    return len(trees)


def _check_tree(tree: Any, number: int, features: int) -> None:
    parameters = _part(tree, "tree_param", dict)
    nodes = _count(parameters, "num_nodes")
    if nodes < 1 or tree.get("id") != number or parameters.get("num_deleted", "0") != "0":
        raise ModelTextError("it has no nodes, deleted ones, or another number")
    if _count(parameters, "num_feature") != features or parameters.get("size_leaf_vector") not in ("0", "1"):
        raise ModelTextError("it was grown on other features, or has several values per leaf")
    columns = {name: _column(tree, name, kind, nodes) for name, kind in _TREE.items()}
    left, right, parent = columns["left_children"], columns["right_children"], columns["parents"]
    inner = left != -1
    if ((right != -1) != inner).any():
        raise ModelTextError("a node has one child")
    children = np.concatenate([left[inner], right[inner]])
    if not np.array_equal(np.sort(children), np.arange(1, nodes)):
        raise ModelTextError("its nodes are not each the child of one other")
    above = np.flatnonzero(inner)
    if (children <= np.tile(above, 2)).any() or parent[0] != _NO_NODE:
        raise ModelTextError("a child comes before its parent")
    if not np.array_equal(parent[children], np.tile(above, 2)):
        raise ModelTextError("parents and children do not match")
    split = columns["split_indices"]
    if split.min() < 0 or split.max() >= features:
        raise ModelTextError(f"it splits by a feature beyond its {features}")
    _check_categories(tree, columns["split_type"], inner)
    if not np.isin(columns["default_left"], (0, 1)).all():
        raise ModelTextError("default_left holds something other than 0 and 1")


def _check_categories(tree: dict[str, Any], types: npt.NDArray[Any], inner: npt.NDArray[Any]) -> None:
    """Each split by categories has its own stretch of the list of categories, one after the other."""
    if not np.isin(types, (0, 1)).all() or (types[~inner] != 0).any():
        raise ModelTextError("split_type holds something other than 0 and 1, or a leaf is a split")
    nodes = np.flatnonzero(types)
    parts = {name: _part(tree, name, list) for name in _CATEGORIES} if len(nodes) else {}
    if not parts:
        if any(tree.get(name) for name in _CATEGORIES):
            raise ModelTextError("it has categories, but no split by them")
        return
    for name, values in parts.items():
        if not all(type(value) is int and 0 <= value < _MOST_CATEGORIES for value in values):
            raise ModelTextError(f"{name} holds something that is not a small whole number")
    sizes = parts["categories_sizes"]
    if parts["categories_nodes"] != nodes.tolist() or len(sizes) != len(nodes):
        raise ModelTextError("categories_nodes are not its splits by categories")
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    if parts["categories_segments"] != starts[:-1] or len(parts["categories"]) != starts[-1]:
        raise ModelTextError("categories_segments and categories_sizes do not part the categories")


def _column(tree: dict[str, Any], name: str, kind: type, nodes: int) -> npt.NDArray[Any]:
    values = _part(tree, name, list)
    known = (int,) if kind is int else (int, float)
    if len(values) != nodes:
        raise ModelTextError(f"{name} has {len(values)} values instead of {nodes}")
    for value in values:
        if type(value) not in known or not abs(value) <= _LARGEST:  # also NaN, and whole numbers beyond any float
            raise ModelTextError(f"{name} has the value {shortened(value)}")
        if kind is int and abs(value) > _NO_NODE:
            raise ModelTextError(f"{name} has the value {shortened(value)}")
    return np.array(values, dtype=np.int64 if kind is int else np.float64)


def _part(content: Any, name: str, kind: type) -> Any:
    part = content.get(name) if isinstance(content, dict) else None
    if not isinstance(part, kind):
        raise ModelTextError(f"it lacks {name}, or has another kind of it")
    return part


def _count(content: dict[str, Any], name: str) -> int:
    text = content.get(name)
    if not isinstance(text, str) or not _COUNT.fullmatch(text):
        raise ModelTextError(f"{name} is {shortened(text)}")
    return int(text)


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
