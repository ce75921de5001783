"""Rows to check a target with: features where its decisions are most delicate, on thresholds and beside them."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Float32s, Floats
from surefoot.export.ensemble import Ensemble
from surefoot.export.float32_thresholds import LARGEST_FLOAT32, thresholds_at_most
from surefoot.export.settings import ExportSettings

_SEED = 20_120_812  # the same model gives the same rows


def make_check_rows(trees: Ensemble, exact_thresholds: Floats, settings: ExportSettings, count: int) -> Float32s:
    """Rows of features on thresholds, one float32 beside them, between them, 0, and not set (NaN).

    Thresholds that are not exact (NaN) are left out, and so are unset features where every document has every feature.
    """
    random = np.random.default_rng(_SEED)
    rows = np.zeros((count, len(trees.names)), np.float32)
    for feature in range(len(trees.names)):
        of_feature = trees.is_split & (trees.feature == feature) & np.isfinite(exact_thresholds)
        known = thresholds_at_most(trees.threshold[of_feature])
        known = np.unique(known[np.abs(known) < LARGEST_FLOAT32 / 4])
        if not len(known):
            continue
        drawn = known[random.integers(len(known), size=count)]
        other = known[random.integers(len(known), size=count)]
        above, below = (np.nextafter(drawn, np.float32(end)) for end in (np.inf, -np.inf))
        between = ((drawn.astype(np.float64) + other) / 2).astype(np.float32)
        kinds = np.stack([drawn, above, below, between, np.zeros_like(drawn), np.full_like(drawn, np.nan)])
        shares = np.array([3, 3, 2, 4, 1, 0 if settings.missing == "never" else 2])
        rows[:, feature] = kinds[random.choice(len(kinds), size=count, p=shares / shares.sum()), np.arange(count)]
    return rows
