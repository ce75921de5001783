"""What an assessment has beside its systems' figures.

The same within segments of the queries (head and tail, languages, intents); what traffic adds; each query's figures;
who made the judgments, and what an automatic judge filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError, other_queries_hint, shortened
from surefoot.risk.assessment_data import (
    AssessmentData,
    AutomaticHolesData,
    EachOnce,
    PerQuery,
    QueryAtAlpha,
    QueryFigures,
    SegmentColumn,
    SegmentData,
    SystemHolesData,
    TrafficData,
    TrafficShares,
)
from surefoot.risk.baselines import differences, population_rows, vectors_of_baselines
from surefoot.risk.expectation import deviations, expected
from surefoot.risk.inference import weighted_t_values, weighted_test
from surefoot.risk.outcomes import apply_holm
from surefoot.risk.tradeoff import alpha_key, which_lose_over_20
from surefoot.risk.vectors import blocks, weighted_mean
from surefoot.significance import SIGNIFICANCE

if TYPE_CHECKING:
    from surefoot.data.reading.traffic import TrafficWeights
    from surefoot.data.types.scores import FilledHoles, Scores

# The most frequent queries that together have half of the traffic, those with the next 30 %, and the rest.
TRAFFIC_SEGMENTS = {"head": 0.5, "torso": 0.8, "tail": 1.0}
MOST_SEGMENTS = 1000  # segments of a column; with more, a column holds ids rather than kinds

Segments: TypeAlias = Mapping[str, Mapping[str, str]]
Assess: TypeAlias = "Callable[[Scores], AssessmentData]"


def segment_data(scores: Scores, segments: Segments, assess: Assess) -> list[SegmentColumn]:
    """For each column of segments, what `assess` says of the queries of each segment, the largest first.

    `segments` has for each column's name the segment of queries. p_holm is corrected for all systems and segments of a
    column together, and the outcomes follow it.
    """
    return [_segment_column(scores, name, segment_of, assess) for name, segment_of in segments.items()]


def _segment_column(scores: Scores, name: str, segment_of: Mapping[str, str], assess: Assess) -> SegmentColumn:
    rows: dict[str, list[int]] = {}
    for row, query in enumerate(scores.queries):
        if query in segment_of:
            rows.setdefault(segment_of[query], []).append(row)
    if not rows:
        raise ArgumentError(
            f"no query has a segment in {shortened(name)}: {other_queries_hint('segments', segment_of, scores.queries)}"
        )
    if len(rows) > MOST_SEGMENTS:
        raise ArgumentError(
            f"{shortened(name)} has {len(rows):,} segments; the maximum is {MOST_SEGMENTS:,}. Does this column "
            "contain segments?"
        )
    weights = scores._relative_weights
    sizes = {
        segment: float(len(part)) if weights is None else float(weights[part].sum()) for segment, part in rows.items()
    }
    largest_first = sorted(rows.items(), key=lambda item: (-sizes[item[0]], item[0]))
    parts: list[SegmentData] = []
    for segment, part_rows in largest_first:
        part = assess(scores._only(part_rows))
        parts.append({"segment": segment, "queries": len(part_rows), "systems": part["systems"]})
        if weights is not None and "traffic" in part:
            parts[-1]["effective_queries"] = part["traffic"]["effective_queries"]
            parts[-1]["traffic_share"] = float(weights[part_rows].sum()) / len(weights)
    tests = [entry["alpha"] for part in parts for entry in part["systems"]]
    for key in tests[0]:
        apply_holm([test[key] for test in tests])
    assigned = sum(map(len, rows.values()))
    return {"column": name, "unassigned": len(scores.queries) - assigned, "segments": parts}


def traffic_data(weighting: TrafficWeights) -> TrafficData:
    """The block `traffic` of an assessment's plain data."""
    return {
        "queries": len(weighting.weights),
        "effective_queries": weighting.effective,
        "largest_share": float(weighting.weights.max() / weighting.weights.sum()),
        "left_out": weighting.left_out,
        "traffic_share": weighting.share,
        "equal": weighting.equal,
    }


def traffic_shares(
    scores: Floats, baselines: Mapping[str, Floats], differences: Mapping[str, Floats], weights: Floats
) -> tuple[TrafficShares, EachOnce]:
    """The part of the traffic that a system helps and hurts, by relative weights, and its figures without them."""
    each = [_shares(differences[name], base, weights) for name, base in baselines.items()]
    wins, losses, ties, over_20, reward, risk = np.mean(each, axis=0).tolist()
    mean = float(np.asarray(scores).mean())
    return (
        {"wins": wins, "losses": losses, "ties": ties, "loss_over_20": over_20},
        {"gain": reward - risk, "mean": mean, "reward": reward, "risk": risk},
    )


def _shares(difference: Floats, baseline: Floats, weights: Floats) -> list[float]:
    sums = np.zeros(6)
    for part, base, w in zip(blocks(difference), blocks(baseline), blocks(weights), strict=True):
        sums += (
            (w * (part > 0)).sum(), (w * (part < 0)).sum(), (w * (part == 0)).sum(),
            (w * which_lose_over_20(part, base)).sum(),
            np.maximum(part, 0).sum(), -np.minimum(part, 0).sum(),
        )  # fmt: skip
    means = sums / len(weights)
    return [*np.minimum(means[:4], 1.0).tolist(), *means[4:].tolist()]  # a share is not above 1, whatever rounding says


def traffic_segments(queries: Sequence[str], weights: Floats) -> dict[str, str]:
    """Which queries are asked often, sometimes and rarely: head, torso and tail, with 50, 30 and 20 % of the traffic.

    Queries go from the most to the least frequent, equal ones by their id. Each belongs to the segment in which its
    traffic begins, so the head is never empty.

    >>> traffic_segments(["a", "b", "c", "d"], np.array([10.0, 50.0, 20.0, 20.0]))
    {'b': 'head', 'c': 'torso', 'd': 'torso', 'a': 'tail'}
    """
    order = sorted(range(len(queries)), key=lambda at: (-weights[at], queries[at]))
    sorted_weights = weights[order]
    before = (np.cumsum(sorted_weights) - sorted_weights) / sorted_weights.sum()
    # Rounding must not move a query that begins right at a border.
    number = np.searchsorted(np.array(list(TRAFFIC_SEGMENTS.values())[:-1]) - 1e-12, before, side="right")
    names = list(TRAFFIC_SEGMENTS)
    return {queries[at]: names[segment] for at, segment in zip(order, number.tolist(), strict=True)}


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
