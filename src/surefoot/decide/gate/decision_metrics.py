"""A decision as flat metrics, which MLflow and DVC keep track of.

A name is `measure/candidate/figure`; of a condition `measure/candidate/conditions/risk/figure`, of U_Risk with its α,
`…/conditions/u_risk/alpha_5/figure`, of a segment's `…/segments/segment/conditions/risk/figure`.
"""

from __future__ import annotations

from typing import Any

from surefoot.report.metrics import decision_metrics, flat_metrics
from surefoot.risk.assessment_data import Json

_DECISIONS = ("ship", "stop", "undecided")
_FIGURES = ("observed", "bound", "bound_fails", "level", "p_holds", "p_fails", "queries")


def to_metrics(data: Json) -> dict[str, float]:
    """Every figure of a decision under a name of its own."""
    figures: dict[str, Any] = {
        "decision": decision_metrics(data["decision"], _DECISIONS),
        "conditions": _conditions(data, None),
        **{name: data[name] for name in ("queries", "hurt", "delta", "queries_needed")},
    }
    segments = dict.fromkeys(one["segment"] for one in data["conditions"] if one["segment"] is not None)
    if segments:
        figures["segments"] = {name: {"conditions": _conditions(data, name)} for name in segments}
    return flat_metrics({data["measure"]: {data["candidate"]: figures}})


def _conditions(data: Json, segment: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in data["conditions"]:
        if one["segment"] != segment:
            continue
        figures = {name: one[name] for name in _FIGURES} | {"holds": int(one["status"] == "holds")}
        if one["alpha"] is None:
            found[one["name"]] = figures
        else:
            found.setdefault(one["name"], {})[f"alpha_{one['alpha']:g}"] = figures
    return found
