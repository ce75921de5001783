"""What queries are drawn from: all that two runs answer, what each could lose, and how often it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.hashes import text_hash
from surefoot.data.reading.traffic import query_weights, read_traffic
from surefoot.data.types.runs import Run
from surefoot.decide.evidence.evidence_data import DrawnTraffic, ToProve
from surefoot.measures.notation import Measure
from surefoot.measures.worst_case import worst_case_loss
from surefoot.report.plain_json import to_json


@dataclass(frozen=True)
class AskedQueries:
    """The queries that are asked; `counts` and `by_traffic` are None where all count the same."""

    queries: list[str]
    counts: Floats | None = None
    by_traffic: DrawnTraffic | None = None


@dataclass(frozen=True)
class TrafficToDraw:
    """The queries that are asked, with W of each, the most that it could lose; drawn by W, and by counts if any."""

    queries: list[str]
    could_lose: Floats
    counts: Floats | None
    by_traffic: DrawnTraffic | None

    @property
    def all_counts(self) -> dict[str, float] | None:
        """How often each query is asked, where that differs."""
        return None if self.counts is None else dict(zip(self.queries, self.counts.tolist(), strict=True))

    @property
    def could_lose_mean(self) -> float:
        """W̄ = ΣwW/Σw."""
        if self.counts is None:
            return float(self.could_lose.sum()) / len(self.queries)
        return float(self.could_lose @ self.counts) / float(self.counts.sum())


def asked_queries(queries: Sequence[str], traffic: Any) -> AskedQueries:
    """Those of the queries that are asked, by traffic that `read_traffic` takes; all without traffic."""
    if traffic is None:
        return AskedQueries(list(queries))
    given = query_weights(read_traffic(traffic), queries)
    asked = [queries[position] for position in given.positions.tolist()]
    if given.equal and not given.left_out:
        return AskedQueries(asked)
    rows = sorted(zip(asked, given.weights.tolist(), strict=True))
    drawn_traffic: DrawnTraffic = {
        "sha256": text_hash(to_json(rows)), "total": float(given.weights.sum()), "left_out": given.left_out,
    }  # fmt: skip
    return AskedQueries(asked, given.weights, drawn_traffic)


def traffic_to_draw(
    candidate: Run, baseline: Run, measure: Measure, to_prove: ToProve, traffic: Any = None
) -> TrafficToDraw:
    """All asked queries that either run answers, and W of each; for gain the greater of W both ways."""
    asked = asked_queries(answered_queries(candidate, baseline), traffic)
    could_lose = worst_case_loss(candidate, baseline, measure, queries=asked.queries)
    if to_prove == "gain":
        could_lose = np.maximum(could_lose, worst_case_loss(baseline, candidate, measure, queries=asked.queries))
    return TrafficToDraw(asked.queries, could_lose, asked.counts, asked.by_traffic)


def answered_queries(candidate: Run, baseline: Run) -> list[str]:
    """All queries that either run answers."""
    return sorted({*candidate.queries, *baseline.queries})
