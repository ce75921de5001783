"""Each query's figures as a table: a row for each system and query."""

from __future__ import annotations

from typing import Any

import polars as pl

from surefoot.data.reading.files import as_text
from surefoot.risk.assessment_data import PerQuery


def per_query_frame(block: PerQuery) -> pl.DataFrame:
    """The figures as a table."""
    frames = []
    for system, columns in block["systems"].items():
        flat: dict[str, Any] = {
            "query": block["queries"],
            "system": [as_text(system)] * len(block["queries"]),
            "baseline": block["baseline"],
        }
        if "counts" in block:
            flat["count"] = block["counts"]
        flat |= {key: values for key, values in columns.items() if key != "alpha"}
        for key, at in columns["alpha"].items():
            flat |= {f"{name}@{key}": values for name, values in at.items()}
        absent = {key: [None] * len(block["queries"]) for key, values in flat.items() if values is None}
        frames.append(pl.DataFrame({**flat, **absent}, strict=False))
    return pl.concat(frames, how="vertical_relaxed")
