"""What a writer gives: the model's file, the files beside it, and what must be said of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError
from surefoot.export.ensemble import Ensemble, TreeNode
from surefoot.export.settings import ExportSettings
from surefoot.export.targets.table import UnsetTreatment

_DEEPEST = 200  # splits above each other; JSON and XML parsers stop at some depth of nesting, Jackson's at 1,000


@dataclass(frozen=True, kw_only=True)
class ExportedModel:
    """The model as its target reads it; the files beside it by what follows the model's stem in their names.

    `notes` says what was assumed and what is not exact, `guide` how to load the model into the target and how a query
    uses it, as Markdown. `exact_thresholds` are those that the target keeps exactly, NaN for the others.
    """

    content: bytes
    exact_thresholds: Floats
    notes: Sequence[str]
    guide: str
    companions: Mapping[str, bytes] = field(default_factory=dict)


def plain_json(value: Any, indent: int | None = None) -> bytes:
    """JSON as every target reads it."""
    return (json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False) + "\n").encode()


def nest_tree(
    nodes: Sequence[TreeNode], leaf: Callable[[TreeNode], Any], split: Callable[[TreeNode, Any, Any], Any]
) -> Any:
    """A tree with children inside their parents, built from the leaves up."""
    built: list[Any] = [None] * len(nodes)
    for node in reversed(nodes):
        built[node.number] = leaf(node) if node.is_leaf else split(node, built[node.left], built[node.right])
    return built[0]


def check_depth(trees: Ensemble) -> None:
    """Refuse trees so deep that parsers of nested formats would stop."""
    deepest = int(trees.depth.max())
    if deepest > _DEEPEST:
        raise ArgumentError(
            f"a tree has {deepest:,} splits above each other; this format nests them, and parsers stop at some depth: "
            f"train with max_depth={_DEEPEST} or less, or export to elastic or onnx"
        )


_MEANING = {
    "zero": "A feature that a document lacks means 0 to the model (--missing zero).",
    "nan": "A feature that a document lacks means missing to the model, as NaN in its training data (--missing nan).",
    "never": "Every document is taken to have every feature (--missing never); nothing is promised otherwise.",
}


def route_missing(
    trees: Ensemble, settings: ExportSettings, unset: UnsetTreatment | None = None
) -> tuple[Ensemble, str]:
    """The trees with the way that an unset feature must take at each split, and a sentence that says so.

    Where the target sends one elsewhere, that is an error which says what to do. `unset` is what the target does with
    it, where that depends on more than its version.
    """
    unset = settings.unset if unset is None else unset
    ways = trees.zero_left if settings.missing == "zero" else trees.missing_left
    splits = trees.is_split
    if settings.missing != "never" and unset is not UnsetTreatment.by_split:
        taken = trees.zero_left if unset is UnsetTreatment.zero else np.zeros_like(ways)
        wrong = int((taken != ways)[splits].sum())
        if wrong:
            means = "0" if settings.missing == "zero" else "a missing value"
            raise ArgumentError(
                f"in {settings.title}, a feature that is not set {unset.value}, but {wrong:,} of the "
                f"{int(splits.sum()):,} splits of the model treat {means} differently; {settings.target.advice}, or "
                "use missing='never' if every document has every feature"
            )
    note = f"{_MEANING[settings.missing]} In {settings.title}, a feature that is not set {unset.value}."
    return trees.with_missing(ways), note
