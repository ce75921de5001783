"""Where an assessment's segments come from: files and tables, and the queries' own traffic."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from surefoot.data.reading.query_tables import read_segments
from surefoot.data.types.scores import Scores
from surefoot.errors import ArgumentError, shortened
from surefoot.report.options import BY_TRAFFIC
from surefoot.risk.assessment_parts import Segments, traffic_segments


def segments_of(segments: Any, scores: Scores) -> Segments:
    """The columns of segments, of all sources that are given."""
    several = isinstance(segments, list | tuple) and all(
        isinstance(one, str | os.PathLike | Mapping) or hasattr(one, "columns") for one in segments
    )
    columns: dict[str, Mapping[str, str]] = {}
    for source in segments if several else [segments]:
        made = (
            {"traffic": _traffic_segments(scores)}
            if isinstance(source, str) and source == BY_TRAFFIC
            else read_segments(source)
        )
        if twice := sorted(columns.keys() & made.keys()):
            raise ArgumentError(f"two columns of segments are named {shortened(twice[0])}; rename one of them")
        columns |= made
    return columns


def _traffic_segments(scores: Scores) -> dict[str, str]:
    if (weighting := scores._weighting) is None:
        raise ArgumentError(
            'the segments "by-traffic" need to know how often each query is asked; give the traffic too (traffic= in '
            "Python, --traffic FILE on the command line)"
        )
    if weighting.equal:
        raise ArgumentError('all queries are asked equally often, so the segments "by-traffic" would mean nothing')
    return traffic_segments(scores.queries, weighting.weights)
