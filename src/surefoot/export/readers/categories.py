"""Splits by sets of categories as splits by thresholds on the categories' codes, which every target can do.

A set of codes is some stretches of numbers. A chain of splits, one at each end of a stretch, sends every number where
the learner's split sends it; what is below that split is there once for each stretch and each gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.errors import ArgumentError
from surefoot.export.ensemble import LEAF, RawTree

_MOST_NODES = 1 << 20  # of one tree


@dataclass(frozen=True)
class CategorySplit:
    """A split by a set of codes; a number counts as the code below it, and numbers up to `below` as none.

    `member_left` says which way the codes of the set go, `missing_left` which way a missing value goes.
    """

    codes: frozenset[int]
    member_left: bool
    missing_left: bool
    below: float

    def bounds(self) -> list[float]:
        """The largest numbers of each gap and each stretch, in turns, without the last gap, which has no end."""
        ordered = sorted(self.codes)
        starts = [code for code in ordered if code - 1 not in self.codes]
        ends = [code + 1 for code in ordered if code + 1 not in self.codes]
        return [self.below if edge == 0 else _before(edge) for pair in zip(starts, ends, strict=True) for edge in pair]


def without_categories(tree: RawTree, splits: Mapping[int, CategorySplit]) -> RawTree:
    """The tree with a chain of thresholds in the place of each of these splits, by their nodes."""
    rows: list[list[float]] = []  # feature, threshold, missing_left, left, right, value
    to_do: list[tuple[int, int, int]] = [(0, -1, 0)]  # a node of the old tree, its new parent, and 3 or 4 for the side
    while to_do:
        node, parent, side = to_do.pop()
        if parent >= 0:
            rows[parent][side] = len(rows)
        feature, left, right = int(tree.feature[node]), int(tree.left[node]), int(tree.right[node])
        split = splits.get(node)
        if split is None:
            threshold, missing = float(tree.threshold[node]), float(tree.missing_left[node])
            rows.append([feature, threshold, missing, LEAF, LEAF, float(tree.value[node])])
            if left != LEAF:
                to_do += [(left, len(rows) - 1, 3), (right, len(rows) - 1, 4)]
        else:
            member, other = (left, right) if split.member_left else (right, left)
            missing_is_member = split.missing_left == split.member_left
            first = len(rows)
            bounds = split.bounds()
            for number, bound in enumerate(bounds):
                goes_left = number == (1 if missing_is_member else 0)
                rows.append([feature, bound, float(goes_left), LEAF, first + number + 1, 0.0])
                to_do.append((member if number % 2 else other, first + number, 3))
            to_do.append((other, len(rows) - 1, 4))
        if len(rows) > _MOST_NODES:
            raise ArgumentError(
                "a tree splits by so many sets of categories that thresholds on their codes would take over a million "
                "nodes; join rare categories, or lower num_leaves (XGBoost: max_depth), and train again"
            )
    columns = np.array(rows, dtype=np.float64).T
    feature, left, right = (columns[place].astype(np.int64) for place in (0, 3, 4))
    return RawTree(feature, columns[1], columns[2] > 0, left, right, columns[5])


def _before(number: int) -> float:
    """The float32 before a whole number."""
    return float(np.nextafter(np.float32(number), np.float32(-np.inf)))
