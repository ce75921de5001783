"""From clicks to labels that say what to prefer. The public names are loaded when they are first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot.clicks.feature_pipeline import FeatureTable as FeatureTable
    from surefoot.clicks.generator import generate_log as generate_log
    from surefoot.clicks.labels import lowest_click_plus_one as lowest_click_plus_one
    from surefoot.clicks.labels import preference_gains as preference_gains
    from surefoot.clicks.writers import write_log as write_log

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "feature_pipeline": ("FeatureTable",),
        "generator": ("generate_log",),
        "labels": ("lowest_click_plus_one", "preference_gains"),
        "writers": ("write_log",),
    },
)
