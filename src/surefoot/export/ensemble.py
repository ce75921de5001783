"""Trees of any learner, with what each split does to every float32 feature and to a missing one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Flags, Float32s, Floats, Ints
from surefoot.errors import ArgumentError

LEAF = -1  # as a node's feature and children


class TreeNode(NamedTuple):
    """A split, or a leaf: then all but its number, its depth and its value say nothing."""

    number: int
    depth: int
    feature: int
    threshold: float
    missing_left: bool
    left: int
    right: int
    value: float

    @property
    def is_leaf(self) -> bool:
        """Whether it has a value and no children."""
        return self.feature == LEAF


class RawTree(NamedTuple):
    """A tree as a reader gives it: the root is node 0, leaves have LEAF as children, nodes are in any order."""

    feature: Ints
    threshold: Floats
    missing_left: Flags
    left: Ints
    right: Ints
    value: Floats


@dataclass(frozen=True)
class Ensemble:
    """Trees whose leaves, and a constant, add up to a score.

    A split sends a document left where its feature is at most the threshold, and a missing feature (NaN) left where
    `missing_left` says so. Nodes of all trees follow one after the other, tree i's at `offsets[i]:offsets[i + 1]`, each
    before its children, which are counted from the tree's first node. Of a leaf only the value says something.
    """

    names: tuple[str, ...]
    offsets: Ints
    feature: Ints
    threshold: Floats
    missing_left: Flags
    left: Ints
    right: Ints
    value: Floats
    depth: Ints
    constant: float = 0.0

    @classmethod
    def from_trees(cls, names: Sequence[str], trees: Sequence[RawTree], constant: float = 0.0) -> Ensemble:
        """The trees, their nodes in an order in which each comes before its children."""
        ordered = [tree if _is_ordered(tree) else _parents_first(tree) for tree in trees]
        feature, threshold, missing_left, left, right, value = map(np.concatenate, zip(*ordered, strict=True))
        if feature.max() >= len(names) or feature.min() < LEAF:
            raise ArgumentError(f"the trees use a feature that is not among the {len(names)} named features")
        if not np.isfinite(value).all() or np.abs(value).max() > LARGEST_FLOAT32 or np.isnan(threshold).any():
            raise ArgumentError(
                "the trees have a leaf or a threshold that is too large for float32; no search engine could use them"
            )
        offsets = np.cumsum([0, *(len(tree.left) for tree in ordered)])
        depth = np.concatenate([_depths(tree) for tree in ordered])
        return cls(tuple(names), offsets, feature, threshold, missing_left, left, right, value, depth, constant)

    def __len__(self) -> int:
        """How many trees there are; the constant is none."""
        return len(self.offsets) - 1

    @property
    def is_split(self) -> Flags:
        """Which nodes are splits."""
        return np.asarray(self.feature != LEAF)

    @property
    def zero_left(self) -> Flags:
        """Which splits send a feature of 0 to the left."""
        return np.asarray(self.threshold >= 0)

    def with_thresholds(self, thresholds: npt.NDArray[np.floating]) -> Ensemble:
        """The same trees with other thresholds."""
        return replace(self, threshold=thresholds.astype(np.float64))

    def with_missing(self, missing_left: Flags) -> Ensemble:
        """The same trees with other ways for missing features."""
        return replace(self, missing_left=missing_left)

    def in_float32(self) -> Ensemble:
        """The same trees with leaves and constant in float32."""
        return replace(
            self, value=self.value.astype(np.float32).astype(np.float64), constant=float(np.float32(self.constant))
        )

    def trees(self) -> Iterator[list[TreeNode]]:
        """Each tree's nodes; a constant other than 0 is a last tree of one leaf.

        Sums in float32 lose least where the constant comes last.
        """
        columns = (self.depth, self.feature, self.threshold, self.missing_left, self.left, self.right, self.value)
        for start, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            parts = (column[start:end].tolist() for column in columns)
            yield list(starmap(TreeNode, zip(range(end - start), *parts, strict=True)))
        if self.constant:
            yield [TreeNode(0, 0, LEAF, 0.0, False, LEAF, LEAF, self.constant)]

    def raised_above_zero(self) -> Ensemble:
        """With as much of a constant that no document's score is below 0, neither in float32 nor in doubles.

        Rounding never reverses an order, so the least sum is that of the least leaves, added as a target adds them.
        """
        leaves = np.where(self.is_split, np.inf, self.value)
        least = np.minimum.reduceat(leaves, self.offsets[:-1])
        single = np.float32(0)
        for leaf in least.astype(np.float32):
            single += leaf
        needed = max(-float(single), -float(np.add.accumulate(least)[-1]))
        constant = np.float32(min(needed, float(LARGEST_FLOAT32)))
        if float(constant) < needed:  # two floats of different widths would be compared in the narrower
            constant = np.nextafter(constant, np.float32(np.inf))
        return replace(self, constant=max(self.constant, float(constant)))


def _is_ordered(tree: RawTree) -> bool:
    """Whether every node but the root is the child of one node, which stands before it."""
    splits = np.flatnonzero(tree.left != LEAF)
    children = np.concatenate([tree.left[splits], tree.right[splits]])
    nodes = len(tree.left)
    return np.array_equal(np.sort(children), np.arange(1, nodes)) and bool((children > np.tile(splits, 2)).all())


def _parents_first(tree: RawTree) -> RawTree:
    """The nodes that can be reached from the root, parents first; a learner that prunes leaves others behind."""
    order = [0]
    left, right = [], []
    for node in order:  # grows as it is walked through
        children = (int(tree.left[node]), int(tree.right[node]))
        if children == (LEAF, LEAF):
            left.append(LEAF)
            right.append(LEAF)
            continue
        left.append(len(order))
        right.append(len(order) + 1)
        order += children
        if len(order) > len(tree.left) or not all(0 <= child < len(tree.left) for child in children):
            raise ArgumentError("a tree's nodes do not form a tree")
    nodes = np.array(order)
    feature, threshold, missing_left, _, _, value = (column[nodes] for column in tree)
    return RawTree(feature, threshold, missing_left, np.array(left), np.array(right), value)


def _depths(tree: RawTree) -> Ints:
    depths = [0] * len(tree.left)
    for node, (left, right) in enumerate(zip(tree.left.tolist(), tree.right.tolist(), strict=True)):
        if left != LEAF:
            depths[left] = depths[right] = depths[node] + 1
    return np.array(depths)


# Targets compare in float32, as features are float32: there x ≤ t in doubles is x ≤ T with T the largest float32 that
# is not above t, and x < T⁺ with T⁺ the float32 after T.
LARGEST_FLOAT32 = np.finfo(np.float32).max
_SLACK = np.float32(1e-6)


def thresholds_at_most(thresholds: npt.ArrayLike) -> Float32s:
    """The largest float32 that is not above each threshold, for targets that test x ≤ T.

    A split between numbers and NaN has a threshold beyond float32, such as 1e300; no JSON number would be as large in
    float32, so it becomes the largest float32, which every feature is at most.

    >>> thresholds_at_most([0.1, 0.5, 1e300]).tolist()
    [0.09999999403953552, 0.5, 3.4028234663852886e+38]
    """
    exact = np.asarray(thresholds, np.float64)
    with np.errstate(over="ignore"):
        nearest = exact.astype(np.float32)
    below = np.where(nearest > exact, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    return np.clip(below, -LARGEST_FLOAT32, LARGEST_FLOAT32)


def thresholds_less_than(thresholds: npt.ArrayLike) -> Float32s:
    """The float32 after `thresholds_at_most`, for targets that test x < T.

    Nothing follows the largest float32: there a feature of just that value would go the other way.

    >>> thresholds_less_than([0.1, 0.5]).tolist()
    [0.10000000149011612, 0.5000000596046448]
    """
    with np.errstate(over="ignore"):
        return np.minimum(np.nextafter(thresholds_at_most(thresholds), np.float32(np.inf)), LARGEST_FLOAT32)


def before_slack(thresholds: npt.ArrayLike) -> tuple[Float32s, Float32s]:
    """For Solr, which tests x ≤ u + 1e-6 in float32: the u to write, and the sum that Solr makes of it.

    The sum is `thresholds_at_most` wherever some float32 u gives it. Where none does (T is so near to 0, or to a
    negative power of two, that float32 numbers are closer together at T than at u), it is the largest
    sum below T that one gives: a feature of 0 then still goes where it should, since u = -1e-6 gives 0; only features
    between the sum and T go the other way, in a gap of less than 2.3e-13 for |T| < 2e-6, and of less than |T| / 2^22
    beyond.

    >>> written, sums = before_slack([0.1, 100.0])
    >>> bool((written + np.float32(1e-6) == thresholds_at_most([0.1, 100.0])).all())
    True
    """
    intended = thresholds_at_most(thresholds)
    with np.errstate(over="ignore"):
        written = intended - _SLACK
        # u ↦ u + 1e-6 never falls, and the guess is a step or two off: climb as long as the sum stays at most T.
        for _ in range(4):
            written = np.where(written + _SLACK > intended, np.nextafter(written, np.float32(-np.inf)), written)
        for _ in range(4):
            higher = np.nextafter(written, np.float32(np.inf))
            written = np.where(higher + _SLACK <= intended, higher, written)
        written = np.clip(written, -LARGEST_FLOAT32, LARGEST_FLOAT32)
        return written, written + _SLACK
