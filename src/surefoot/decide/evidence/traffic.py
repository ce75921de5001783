"""What queries are drawn from: all that two runs answer, what each could lose, and how often it is asked.

An automatic judge, such as a language model, may have judged both lists of all of it before queries were drawn. It is
never trusted: what it says of the drawn queries is set against what it says of all traffic, and people's judgments
decide (`risk.control_variate`). For that its judgments must be fixed before the draw: `judge_next` writes their hash
into the draws, and no others are taken later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict, get_args

import numpy as np

from surefoot.arrays import Codes, Floats, Ints
from surefoot.data.hashes import judgments_hash, text_hash
from surefoot.data.reading.traffic import query_weights, read_traffic
from surefoot.data.types.runs import Qrels, RankedSource, Run
from surefoot.decide.evidence.evidence_data import DrawnTraffic, Sha256, ToProve
from surefoot.errors import ArgumentError, DataError, name_list, shortened
from surefoot.measures.notation import Measure
from surefoot.measures.scoring import score
from surefoot.measures.worst_case import worst_case_loss
from surefoot.report.escapes import to_json


@dataclass(frozen=True)
class AskedQueries:
    """The queries that are asked; `counts` and `by_traffic` are None where all count the same."""

    queries: list[str]
    counts: Floats | None = None
    by_traffic: DrawnTraffic | None = None


@dataclass(frozen=True)
class TrafficToDraw(AskedQueries):
    """The same with W of each, the most that it could lose; drawn by W, and by counts if any."""

    could_lose: Floats = field(kw_only=True)

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
    positions, given = query_weights(read_traffic(traffic), queries)
    asked = [queries[position] for position in positions.tolist()]
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
    return TrafficToDraw(asked.queries, asked.counts, asked.by_traffic, could_lose=could_lose)


def answered_queries(candidate: Run, baseline: Run) -> list[str]:
    """All queries that either run answers."""
    return sorted({*candidate.queries, *baseline.queries})


UnjudgedTreatment = Literal["error", "zero"]


class DrawnJudgeData(TypedDict):
    """The automatic judgments that draws belong to, and what of the traffic that could change they leave out."""

    name: str
    sha256: Sha256
    unjudged: Annotated[int, ("minimum", 0)]  # queries without any judgment; they count as no difference
    holes: Annotated[
        int, ("minimum", 0)
    ]  # documents that a run shows and that have no judgment; they count as not relevant


@dataclass(frozen=True)
class AutomaticJudge:
    """Both systems' scores on every query of the traffic by automatic judgments, and W of each query in `weights`."""

    queries: tuple[str, ...]
    baseline: Floats
    candidate: Floats
    weights: Floats
    data: DrawnJudgeData
    counts: Floats | None = None  # how often each query is asked, where that differs

    @property
    def chances(self) -> Floats:
        """What each query is drawn in proportion to: wW."""
        return self.weights if self.counts is None else self.weights * self.counts

    def of(self, queries: Sequence[str]) -> tuple[Floats, Floats]:
        """The baseline's and the candidate's scores on these queries."""
        at = {query: row for row, query in enumerate(self.queries)}
        rows = np.array([at[query] for query in queries], dtype=np.int64)
        return self.baseline[rows], self.candidate[rows]


def read_automatic(
    source: RankedSource,
    candidate: Run,
    baseline: Run,
    measure: Measure,
    traffic: Sequence[str],
    weights: Floats,
    unjudged: UnjudgedTreatment = "zero",
) -> AutomaticJudge:
    """Score both runs by automatic judgments on all traffic.

    A query without any judgment counts as no difference (`unjudged` "zero") or is refused ("error"); those that
    cannot change (of weight 0) need none.
    """
    if unjudged not in get_args(UnjudgedTreatment):
        raise ArgumentError(f"unjudged is {shortened(unjudged)}; it must be 'error' or 'zero'")
    judgments = Qrels._read(source)
    code, query = shown_documents((candidate, baseline), traffic, measure.depth)
    known = judgments.ranking.find(code) >= 0
    shown, judged = (np.bincount(query[flags], minlength=len(traffic)) for flags in (slice(None), known))
    changes = weights > 0
    lacking = np.flatnonzero(changes & (judged == 0))
    if len(lacking) == int(changes.sum()):
        raise DataError(
            f"the automatic judgments ({shortened(judgments.name)}) have no document that a run shows for a query "
            f"that could change; their first query is {shortened(judgments.queries[0])}, the first of the traffic is "
            f"{shortened(traffic[0])}; are the ids the same?"
        )
    if len(lacking) and unjudged == "error":
        names = [traffic[row] for row in lacking.tolist()]
        raise DataError(
            f"the automatic judgments ({shortened(judgments.name)}) have no judgment for {len(lacking):,} of the "
            f"{int(changes.sum()):,} queries that could change ({name_list(names, 3, shortened)}); let the judge judge "
            "all traffic, or count these queries as no difference (--unjudged zero, unjudged='zero')"
        )
    scores = score(judgments, {"baseline": baseline, "candidate": candidate}, measure)
    row_of = {name: row for row, name in enumerate(scores.queries)}
    rows = np.array([row_of.get(name, -1) for name in traffic], dtype=np.int64)
    both = [np.where(rows >= 0, scores[name][rows], 0.0) for name in ("baseline", "candidate")]
    data: DrawnJudgeData = {
        "name": judgments.name,
        "sha256": judgments_hash(judgments),
        "unjudged": len(lacking),
        "holes": int((shown - judged)[changes & (judged > 0)].sum()),
    }
    return AutomaticJudge(tuple(traffic), both[0], both[1], weights, data)


def shown_documents(runs: Sequence[Run], queries: Sequence[str], depth: float | None) -> tuple[Codes, Ints]:
    """The documents that any of the runs shows for these queries down to a depth, by code, and each one's query."""
    number_of = {query: number for number, query in enumerate(queries)}
    codes, query_numbers = [], []
    for run in runs:
        to_number = np.array([number_of.get(query, -1) for query in run.queries], dtype=np.int64)
        number = to_number[run.ranking.query_of_position()]
        is_shown = number >= 0
        if depth is not None:
            is_shown &= run.ranking.ranks() <= depth
        codes.append(run.ranking.codes_at(np.flatnonzero(is_shown)))
        query_numbers.append(number[is_shown])
    code, first = np.unique(np.concatenate(codes), return_index=True)
    return code, np.concatenate(query_numbers)[first]
