"""From clicks to labels that say what to prefer.

A layout (`layouts/`) says in Ibis expressions how lines become two tables, lists and clicks; what follows knows no
layout. The same expressions run on DuckDB and on Spark (`backends.py`). `feature_pipeline.py` stores each stage as a
folder of Parquet that appears complete, and cuts the log into shards by user: one shard at a time is in memory.
Counting what came before (`features.py`) is one idiom: a union of what happened, each at the moment when it was
known, and a sum over the times strictly before. No join can blow up, so a user with 100,000 events costs what 100,000
events cost. Spark computes that by window functions; on one machine `shards/` sorts arrays, below Ibis, since windows
over texts took four fifths of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot.clicks.feature_pipeline import FeatureTable as FeatureTable
    from surefoot.clicks.labels import lowest_click_plus_one as lowest_click_plus_one
    from surefoot.clicks.labels import preference_gains as preference_gains

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "feature_pipeline": ("FeatureTable",),
        "labels": ("lowest_click_plus_one", "preference_gains"),
    },
)
