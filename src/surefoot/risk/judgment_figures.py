"""What an assessment rests on: who made the judgments, and what an automatic judge filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.risk.assessment_data import AssessmentData, AutomaticHolesData, SystemHolesData
from surefoot.risk.inference import weighted_test
from surefoot.risk.vectors import weighted_mean
from surefoot.significance import SIGNIFICANCE

if TYPE_CHECKING:
    from surefoot.data.types.scores import FilledHoles, Scores


def add_judgments(data: AssessmentData, scores: Scores, baselines: list[str]) -> None:
    """Add who made the judgments, and what holes were filled, where it is known."""
    origin = None if scores.qrels is None else scores.qrels.origin
    if origin is not None:
        data["judgments"] = {
            "made_by": origin.made_by, "judges": list(origin.judges), "rated_by_several": origin.rated_by_several,
            "differ": origin.differ,
        }  # fmt: skip
    if scores.filled is not None:
        data["automatic"] = _filled(scores, scores.filled, baselines)


def _filled(scores: Scores, holes: FilledHoles, baselines: list[str]) -> AutomaticHolesData:
    change = scores.values - holes.without
    rows = [scores.systems.index(name) for name in baselines if name in scores.systems]
    expected = change[rows].mean(axis=0) if rows else change.mean(axis=0)
    weights, scale = scores._relative_weights, float(np.abs(change).max())
    systems: list[SystemHolesData] = []
    for row, name in enumerate(scores.systems):
        varies = len(expected) > 1 and bool(np.ptp(change[row] - expected) > 0)
        systems.append(
            {
                "system": name, "holes": holes.holes[name], "judged": holes.filled[name],
                "mean_without": weighted_mean(holes.without[row], weights),
                "mean_with": weighted_mean(scores.values[row], weights),
                "p_value": weighted_test(change[row] - expected, 0.0, scale, weights).p
                if varies and row not in rows
                else None,
            }
        )  # fmt: skip
    raised = [
        one["system"]
        for row, one in enumerate(systems)
        if one["p_value"] is not None
        and one["p_value"] < SIGNIFICANCE
        and weighted_mean(change[row] - expected, weights) > 0
    ]
    return {"judge": holes.judge, "systems": systems, "favours": raised}
