"""Where a feature that is not set must go at each split, and whether an engine can send it there."""

from __future__ import annotations

from enum import Enum

import numpy as np

from surefoot.errors import ArgumentError
from surefoot.export.ensemble import Ensemble
from surefoot.export.settings import Asked


class Unset(Enum):
    """What an engine makes of a feature that is not set."""

    by_split = "goes where each split says"
    zero = "counts as 0"
    right = "goes to the right at every split"


_MEANING = {
    "zero": "A feature that a document lacks means 0 to the model (--missing zero).",
    "nan": "A feature that a document lacks means missing to the model, as NaN in its training data (--missing nan).",
    "never": "Every document is taken to have every feature (--missing never); nothing is promised otherwise.",
}


def resolved(trees: Ensemble, asked: Asked, engine: str, unset: Unset, instead: str) -> tuple[Ensemble, str]:
    """The trees with the ways that a feature that is not set must take in this engine, and a sentence that says so.

    What it cannot do is refused; `instead` says what to do then.
    """
    ways = trees.zero_left if asked.missing == "zero" else trees.missing_left
    splits = trees.is_split
    if asked.missing != "never" and unset is not Unset.by_split:
        taken = trees.zero_left if unset is Unset.zero else np.zeros_like(ways)
        wrong = int((taken != ways)[splits].sum())
        if wrong:
            means = "0" if asked.missing == "zero" else "a missing value"
            raise ArgumentError(
                f"in {engine} a feature that is not set {unset.value}, but {wrong:,} of the model's "
                f"{int(splits.sum()):,} splits send {means} elsewhere; {instead}, or say missing='never' if every "
                "document has every feature"
            )
    return trees.with_missing(ways), f"{_MEANING[asked.missing]} In {engine} one that is not set {unset.value}."
