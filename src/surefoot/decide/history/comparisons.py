"""Each decision, and each system of an assessment, as one comparison of a candidate with a baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.proof import evidence_of
from surefoot.decide.gate.decision_data import ReleaseDecision
from surefoot.decide.history.history_data import ComparisonKind
from surefoot.errors import DataError
from surefoot.report.words import baseline_name
from surefoot.risk.assessment_data import Json
from surefoot.risk.tradeoff import difference_of, which_lose_over_20

ScorePairs = dict[str, tuple[float, float]]  # of each query the baseline's score and the candidate's


@dataclass(frozen=True)
class ReleaseComparison:
    """What one file says of one candidate by one measure."""

    kind: ComparisonKind
    measure: str
    baseline: str
    candidate: str
    queries: int
    gain: float | None  # None where queries were drawn for risk: those that can only gain are never drawn
    risk: float
    losses: float
    loss_over_20: float
    by_traffic: bool
    u_risk: dict[str, float] = field(default_factory=dict)
    decision: ReleaseDecision | None = None
    pairs: ScorePairs | None = None  # None where the file does not have them
    texts: dict[str, str] = field(default_factory=dict)
    population: tuple[str, ...] = ()  # where the baseline is their mean, median or max


def of_decision(data: Json) -> Iterator[ReleaseComparison]:
    """The comparison that was decided on."""
    sample = JudgedQueries.from_dict(data["per_query"])
    could_lose_mean = float(data["sample"].get("could_lose_mean", 1.0))

    def figure(name: str, alpha: float | None = None) -> float:
        """A figure as a condition of this name would have observed it."""
        evidence = evidence_of(ConditionRule(name, 0.5, alpha), sample, data["measure"], could_lose_mean)
        return evidence.figure(float(evidence.x.mean()))

    # A query that was drawn several times counts once.
    pairs = dict(
        zip(sample.queries, zip(sample.baseline.tolist(), sample.candidate.tolist(), strict=True), strict=True)
    )
    scores = np.array(list(pairs.values()))
    difference = difference_of(scores[:, 1], scores[:, 0])
    whole = [condition for condition in data["conditions"] if condition["segment"] is None]
    yield ReleaseComparison(
        kind="decision",
        measure=data["measure"],
        baseline=data["baseline"],
        candidate=data["candidate"],
        queries=data["queries"],
        gain=None if data["sample"].get("to_prove") == "risk" else figure("gain"),
        risk=figure("risk"),
        losses=int((difference < 0).sum()),
        loss_over_20=int(which_lose_over_20(difference, scores[:, 0]).sum()),
        by_traffic="by_traffic" in data["sample"] or sample.stratum_weight is not None,
        u_risk={f"{one['alpha']:g}": figure("u_risk", one["alpha"]) for one in whole if one["name"] == "u_risk"},
        decision=data["decision"],
        pairs=pairs,
        texts={one["query"]: one["text"] for one in data["most_hurt"] if one["text"]},
    )


def of_assessment(data: Json) -> Iterator[ReleaseComparison]:
    """A comparison for each measure and each system but the baseline."""
    for part in data.get("measures", [data]):
        systems = {row["system"] for row in part["systems"]}
        given = [part["baseline"]] if isinstance(part["baseline"], str) else part["baseline"]
        by_query = part.get("per_query")
        for row in part["systems"]:
            if row["is_baseline"]:
                continue
            yield ReleaseComparison(
                kind="assessment",
                measure=part["measure"],
                baseline=baseline_name(part),
                candidate=row["system"],
                queries=part["queries"],
                gain=row["gain"],
                risk=row["risk"],
                losses=row["losses"],
                loss_over_20=row["loss_over_20"],
                by_traffic="traffic" in part,
                u_risk={alpha: figures["u_risk"] for alpha, figures in row["alpha"].items()},
                pairs=_pairs(by_query, row["system"]),
                population=() if set(given) <= systems else tuple(part["population"]),
            )


def _pairs(by_query: Any, system: str) -> ScorePairs | None:
    """Of each query both scores; None where there are none, and against several baselines, which have no one score."""
    if by_query is None or by_query["baseline"] is None:
        return None
    scores = by_query["systems"][system]["score"]
    if not len(scores) == len(by_query["baseline"]) == len(by_query["queries"]):
        raise DataError("the columns of per_query have different lengths")
    return dict(zip(by_query["queries"], zip(by_query["baseline"], scores, strict=True), strict=True))


def is_hurt(baseline: float, candidate: float) -> bool:
    """Whether a query is worse off with the candidate."""
    return bool(_difference(baseline, candidate)[0] < 0)


def is_hurt_over_20(baseline: float, candidate: float) -> bool:
    """Whether it loses more than 20 % of the baseline's score."""
    return bool(which_lose_over_20(_difference(baseline, candidate), np.array([baseline]))[0])


def _difference(baseline: float, candidate: float) -> Floats:
    return difference_of(np.array([candidate]), np.array([baseline]))
