"""What a run retrieved of what was judged: all that a measure of effectiveness needs to see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Floats, Ints, stretch_starts

if TYPE_CHECKING:
    from surefoot.data.types.runs import Qrels, Run


@dataclass(frozen=True, slots=True)
class Hits:
    """The judged documents of a run by query and ascending rank; unjudged ones count for nothing.

    `query` is the query's index in the judgments, `position` where the document stands in the run's ranking,
    `retrieved` the number of results for each judged query. Measures that look at scores find them in `run`.
    """

    query: Ints
    rank: Ints
    grade: Floats
    position: Ints
    retrieved: Ints
    judgments: Qrels
    run: Run

    @property
    def n_queries(self) -> int:
        """The number of judged queries."""
        return len(self.judgments.queries)

    def relevant(self, rel: float, cutoff: float | None) -> tuple[Ints, Ints]:
        """Query and rank of the retrieved documents with at least that grade, down to the cut-off."""
        mask = self.grade >= rel
        if cutoff is not None:
            mask &= self.rank <= cutoff
        return self.query[mask], self.rank[mask]

    def total_relevant(self, rel: float) -> Floats:
        """The number of documents of at least that grade in each query's judgments."""
        judged_ranking = self.judgments.ranking
        return self.per_query(judged_ranking.query_of_position()[judged_ranking.scores >= rel])

    def per_query(self, query: Ints, values: Floats | None = None) -> Floats:
        """Sums of values (or counts) over each judged query, 0 where there is nothing."""
        return np.bincount(query, values, self.n_queries).astype(np.float64, copy=False)


def match(run: Run, qrels: Qrels) -> Hits:
    """Find the judged documents in a run's rankings."""
    to_judged = judgment_index(run, qrels)
    judged_rows, positions = qrels.ranking.match(run.ranking)
    # Where each position's judgment stands, in the order of the run: a scatter, since sorting positions is far slower.
    judged_at: Ints = np.full(len(run), -1, dtype=np.int64)
    judged_at[positions] = judged_rows
    positions = np.flatnonzero(judged_at >= 0)
    # Positions ascend by query, so it is enough to find where each query's begin among them.
    counts = np.diff(np.searchsorted(positions, run.ranking.offsets))
    query = np.repeat(np.arange(len(counts)), counts)
    shared = to_judged >= 0
    retrieved = np.zeros(len(qrels.queries), dtype=np.int64)
    retrieved[to_judged[shared]] = run.ranking.lengths[shared]
    return Hits(
        query=to_judged[query],
        rank=positions - run.ranking.offsets[query] + 1,
        grade=qrels.grades[judged_at[positions]],
        position=positions,
        retrieved=retrieved,
        judgments=qrels,
        run=run,
    )


def judgment_index(run: Run | Qrels, qrels: Qrels) -> Ints:
    """For each of the run's queries its index in the judgments, −1 where it was not judged."""
    by_code = np.argsort(qrels.query_codes)
    at = np.searchsorted(qrels.query_codes, run.query_codes, sorter=by_code)
    at = by_code[np.minimum(at, len(by_code) - 1)]
    return np.where(qrels.query_codes[at] == run.query_codes, at, -1)


def ordinals(query: Ints) -> Ints:
    """Each entry's number within its query, from 0, for entries grouped by query."""
    if not len(query):
        return query
    starts = stretch_starts(query)
    lengths = np.diff(np.append(starts, len(query)))
    return np.arange(len(query)) - np.repeat(starts, lengths)
