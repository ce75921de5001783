"""A sweep's result as flat metrics, which MLflow and DVC keep track of.

A name is `measure/candidates/candidate/valid/figure` (or `test`), at an α `…/u_risk/alpha_5`; a baseline's is
`measure/baselines/baseline/valid/mean`, the recommended model's `measure/recommended/test/figure`.
"""

from __future__ import annotations

from typing import Any

from surefoot.learn.measured_queries import EVALUATION_PARTS
from surefoot.report.metrics import decision_metrics, flat_metrics
from surefoot.risk.assessment_data import Json

_CHOICES = ("take", "keep", "unclear")


def to_metrics(data: Json) -> dict[str, float]:
    """Every figure of a sweep's candidates under a name of its own."""
    figures: dict[str, Any] = {}
    if (choice := data.get("recommendation")) is not None:
        figures["choice"] = decision_metrics(choice["choice"], _CHOICES)
        figures["recommended"] = {part: choice[part] for part in EVALUATION_PARTS if part in choice}
    figures["candidates"] = {row["name"]: {part: _part(row[part]) for part in EVALUATION_PARTS} for row in data["rows"]}
    figures["baselines"] = {row["name"]: {part: row[part] for part in EVALUATION_PARTS} for row in data["baselines"]}
    figures["queries"] = data["queries"]
    return flat_metrics({data["measure"]: figures})


def _part(figures: Json) -> Json:
    """A candidate's figures on one part of the data: bins are for charts alone."""
    plain = {name: value for name, value in figures.items() if name != "bins"}
    return plain | {"u_risk": {f"alpha_{alpha}": value for alpha, value in figures["u_risk"].items()}}
