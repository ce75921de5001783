"""What a writer gives: the model's file, those beside it, and what must be said of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError
from surefoot.export.ensemble import Ensemble, Node

_DEEPEST = 200  # splits above each other; JSON and XML parsers stop at some depth of nesting, Jackson's at 1,000


@dataclass(frozen=True)
class Written:
    """The model as its engine reads it; further files by what follows the model's stem in their names.

    `notes` says what was assumed and what is not exact, `steps` how the model gets into the engine and how a query
    uses it, as Markdown. `usable` are the thresholds that the engine keeps exactly, NaN for the others.
    """

    model: bytes
    usable: Floats
    notes: Sequence[str]
    steps: str
    beside: Mapping[str, bytes] = field(default_factory=dict)


def plain_json(value: Any, indent: int | None = None) -> bytes:
    """JSON as every engine reads it."""
    return (json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False) + "\n").encode()


def nested(nodes: Sequence[Node], leaf: Callable[[Node], Any], split: Callable[[Node, Any, Any], Any]) -> Any:
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
