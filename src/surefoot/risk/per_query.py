"""Each query's figures: scores, differences, expectations, and what is significant on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.risk.assessment_data import AssessmentData, PerQuery, QueryAtAlpha, QueryFigures
from surefoot.risk.baselines import differences, population_rows, vectors_of_baselines
from surefoot.risk.expectation import deviations, expected
from surefoot.risk.inference import weighted_t_values
from surefoot.risk.segments import Segments
from surefoot.risk.tradeoff import alpha_key

if TYPE_CHECKING:
    from surefoot.data.types.scores import Scores


def per_query_data(data: AssessmentData, scores: Scores, segments: Segments | None = None) -> PerQuery:
    """The block `per_query` of an assessment's plain data."""
    rows = population_rows(scores, data["population"])
    against = vectors_of_baselines(scores, data["baseline"], rows)
    baseline = next(iter(against.values())) if len(against) == 1 else None
    system_differences = None if baseline is None else next(iter(differences(scores, against).values()))
    weights = scores._relative_weights
    usable = weights is None and bool((scores.values[rows] >= 0).all())
    e, z = (expected(scores.values[rows]), deviations(scores.values[rows])) if usable else (None, None)
    systems: dict[str, QueryFigures] = {}
    for position, system in enumerate(scores.systems):
        system_scores = scores.values[position]
        at = rows.index(position) if position in rows else None
        alpha: dict[str, QueryAtAlpha] = {}
        for value in data["alphas"]:
            t_values = (
                None
                if system_differences is None
                else weighted_t_values(system_differences[position], value, scores._largest(), weights)
            )
            alpha[alpha_key(value)] = {
                "t_r": None if t_values is None else t_values.t_r.tolist(),
                "t_j": None if t_values is None else t_values.t_j.tolist(),
                "significant": None if t_values is None else (np.abs(t_values.t_j) > t_values.critical).tolist(),
            }
        systems[system] = {
            "score": system_scores.tolist(),
            "difference": None if system_differences is None else system_differences[position].tolist(),
            "expected": None if e is None or at is None else e[at].tolist(),
            "z": None if z is None or at is None else z[at].tolist(),
            "alpha": alpha,
        }
    block: PerQuery = {
        "queries": list(scores.queries),
        "baseline": None if baseline is None else baseline.tolist(),
        "systems": systems,
        "segments": {
            column: [segment_of.get(query) for query in scores.queries]
            for column, segment_of in (segments or {}).items()
        },
    }
    if scores._weighting is not None:
        block["counts"] = scores._weighting.weights.tolist()
    return block
