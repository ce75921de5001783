"""LightGBM's model text: x ≤ t in doubles, NaN read as 0 or sent by default, |x| ≤ 1e-35 read as 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.errors import ArgumentError
from surefoot.export.ensemble import LEAF, Ensemble, RawTree
from surefoot.export.readers.categories import CategorySplit, without_categories

_CATEGORICAL, _DEFAULT_LEFT = 1, 2  # bits of decision_type; the two above say what is missing
_NONE, _ZERO, _NAN = range(3)
_TINY = float(np.float32(1e-35))


def read(text: str, names: Sequence[str]) -> Ensemble:
    """The trees of a model text whose structure was checked, under the user's names of features."""
    head, _, body = text.partition("\n\n")
    if "average_output" in head.split("\n"):
        raise ArgumentError(
            "this model is a random forest, whose score is the mean of its trees; search engines add trees up: train "
            "with boosting='gbdt'"
        )
    blocks = body.partition("end of trees")[0].split("Tree=")[1:]
    return Ensemble.from_trees(names, [_tree(dict(_pairs(block))) for block in blocks])


def _pairs(block: str) -> list[tuple[str, str]]:
    lines = (line.partition("=") for line in block.split("\n")[1:] if line)
    return [(key, value) for key, _, value in lines]


def _tree(fields: dict[str, str]) -> RawTree:
    if fields.get("is_linear", "0") != "0":
        raise ArgumentError(
            "this model has linear leaves (linear_tree), which no search engine computes; train without linear_tree"
        )
    values = _reals(fields, "leaf_value")
    leaves = np.full(len(values), LEAF)
    zeros, all_false = np.zeros(len(values)), np.zeros(len(values), bool)
    if len(values) == 1:  # nothing could be split: one leaf, without nodes
        return RawTree(leaves, zeros, all_false, leaves, leaves, values)
    decision = _integers(fields, "decision_type")
    missing = decision >> 2
    by_category = (decision & _CATEGORICAL) > 0
    if (missing == _ZERO).any():
        raise ArgumentError(
            "this model treats 0 as a missing value (zero_as_missing), so a split may send 0 to another side than "
            "values close to 0. No search engine can do this; train without zero_as_missing"
        )
    threshold = _reals(fields, "threshold")
    left = np.where(missing == _NAN, (decision & _DEFAULT_LEFT) > 0, threshold >= 0)
    nodes = len(threshold)
    tree = RawTree(
        np.concatenate([_integers(fields, "split_feature"), leaves]),
        np.concatenate([_as_compared(threshold), zeros]),
        np.concatenate([left, all_false]),
        np.concatenate([_children(_integers(fields, "left_child"), nodes), leaves]),
        np.concatenate([_children(_integers(fields, "right_child"), nodes), leaves]),
        np.concatenate([np.zeros(nodes), values]),
    )
    return (
        without_categories(tree, _sets(fields, threshold, np.flatnonzero(by_category))) if by_category.any() else tree
    )


def _sets(fields: dict[str, str], threshold: Floats, nodes: Ints) -> dict[int, CategorySplit]:
    """The categories that go left at each of these nodes, bits of words; missing values and negative ones go right."""
    bounds, words = _integers(fields, "cat_boundaries"), _integers(fields, "cat_threshold")
    splits = {}
    for node in nodes.tolist():
        start, end = bounds[int(threshold[node]) :][:2]
        codes = {
            32 * place + bit for place, word in enumerate(words[start:end]) for bit in range(32) if word >> bit & 1
        }
        splits[node] = CategorySplit(frozenset(codes), member_left=True, missing_left=False, below=-1.0)
    return splits


def _as_compared(threshold: Floats) -> Floats:
    """Thresholds that make plain numbers go where LightGBM sends them, which reads those near 0 as 0."""
    near = np.abs(threshold) <= _TINY
    return np.where(near, np.where(threshold >= 0, _TINY, np.nextafter(-_TINY, -np.inf)), threshold)


def _children(numbers: Ints, nodes: int) -> Ints:
    """Children as nodes; LightGBM writes leaf k as -k - 1."""
    return np.where(numbers < 0, nodes - numbers - 1, numbers)


def _integers(fields: dict[str, str], key: str) -> Ints:
    return np.array(fields[key].split(" "), dtype=np.int64)


def _reals(fields: dict[str, str], key: str) -> Floats:
    return np.array(fields[key].split(" "), dtype=np.float64)
