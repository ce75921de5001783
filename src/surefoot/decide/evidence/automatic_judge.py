"""An automatic judge, such as a language model, that judged both lists of all traffic before queries were drawn.

It is never trusted: what it says of the drawn queries is set against what it says of all traffic, and people's
judgments decide (`risk.control_variate`). For that its judgments must be fixed before the draw. `judge_next` writes
their hash into the draws, and no others are taken later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict, get_args

import numpy as np

from surefoot.arrays import Codes, Floats, Ints
from surefoot.data.hashes import judgments_hash
from surefoot.data.types.runs import Qrels, RankedSource, Run
from surefoot.decide.evidence.evidence_data import Sha256
from surefoot.errors import ArgumentError, DataError, name_list, shortened
from surefoot.measures.notation import Measure
from surefoot.measures.scoring import score

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
