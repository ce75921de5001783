"""A study of re-rankers as flat metrics, which MLflow and DVC keep track of.

A name is `measure/models/model/valid/figure` (or `test`); the shown order's is `measure/shown/valid`, that of the model
to serve `measure/recommended/figure`, on test lists.
"""

from __future__ import annotations

from typing import Any

from surefoot.learn.measured_queries import EVALUATION_PARTS
from surefoot.report.metrics import decision_metrics, flat_metrics
from surefoot.risk.assessment_data import Json

_CHOICES = ("take", "keep", "unclear")


def to_metrics(data: Json) -> dict[str, float]:
    """Every figure of the models under a name of its own."""
    figures: dict[str, Any] = {}
    if (choice := data.get("recommendation")) is not None:
        figures["choice"] = decision_metrics(choice["choice"], _CHOICES)
        figures["recommended"] = choice
    figures["models"] = {row["name"]: {part: row[part] for part in EVALUATION_PARTS} for row in data["rows"]}
    figures["shown"], figures["lists"] = data["shown"], data["lists"]
    return flat_metrics({data["measure"]: figures})
