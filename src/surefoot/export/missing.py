"""Where a feature that is not set must go at each split, and whether a target can send it there."""

from __future__ import annotations

import numpy as np

from surefoot.errors import ArgumentError
from surefoot.export.ensemble import Ensemble
from surefoot.export.settings import ExportSettings
from surefoot.export.targets.table import UnsetTreatment

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
