"""An assessment within segments of the queries (head and tail, languages, intents): which kinds of queries suffer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from surefoot.errors import ArgumentError, other_queries_hint, shortened
from surefoot.risk.assessment_data import AssessmentData, SegmentColumn, SegmentData
from surefoot.risk.multiplicity import apply_holm

if TYPE_CHECKING:
    from surefoot.data.types.scores import Scores

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
