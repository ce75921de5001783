"""What a decision looks at: the scores of two systems on judged queries, in the order in which they are bet on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from surefoot.arrays import Flags, Floats, Rows
from surefoot.data.types.scores import Scores
from surefoot.decide.evidence.betting_order import betting_order
from surefoot.decide.evidence.draws import Draws
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.measures.notation import is_binary, named_measure
from surefoot.measures.worst_case import check_bounded


@dataclass(frozen=True)
class JudgedQueries:
    """Judged queries with the scores of both systems; in a sample they stand in betting order.

    A query that was drawn several times appears as often. `weight` is what each draw was drawn by, `share` the weight
    of its stratum, π_h·n/n_h; `members` says for each segment that the policy names which of the queries are of it.
    """

    queries: tuple[str, ...]
    baseline: Floats
    candidate: Floats
    weight: Floats | None = None
    share: Floats | None = None
    members: dict[str, Flags] = field(default_factory=dict)

    def __len__(self) -> int:
        """How many there are, draws counted each time."""
        return len(self.queries)

    def take(self, rows: Rows) -> JudgedQueries:
        """Those at these places, one after the other."""
        return JudgedQueries(
            tuple(self.queries[row] for row in rows.tolist()),
            self.baseline[rows],
            self.candidate[rows],
            None if self.weight is None else self.weight[rows],
            None if self.share is None else self.share[rows],
            {name: flags[rows] for name, flags in self.members.items()},
        )

    def followed_by(self, other: JudgedQueries) -> JudgedQueries:
        """These and, after them, those of a later batch."""
        weight = None if self.weight is None or other.weight is None else np.append(self.weight, other.weight)
        return JudgedQueries(
            self.queries + other.queries,
            np.append(self.baseline, other.baseline),
            np.append(self.candidate, other.candidate),
            weight,
            None,
            {name: np.append(flags, other.members[name]) for name, flags in self.members.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {
            "query": list(self.queries),
            "baseline": self.baseline.tolist(),
            "candidate": self.candidate.tolist(),
            "weight": None if self.weight is None else self.weight.tolist(),
            "share": None if self.share is None else self.share.tolist(),
            "segments": {name: flags.tolist() for name, flags in self.members.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> JudgedQueries:
        """The queries whose plain data this is."""
        weight, share = (None if data[key] is None else np.array(data[key], np.float64) for key in ("weight", "share"))
        members = {str(name): np.array(flags, bool) for name, flags in data["segments"].items()}
        baseline, candidate = (np.array(data[key], np.float64) for key in ("baseline", "candidate"))
        judged = cls(tuple(data["query"]), baseline, candidate, weight, share, members)
        weights = [one for one in (weight, share) if one is not None]
        if any(column.shape != (len(judged),) for column in (baseline, candidate, *members.values(), *weights)):
            raise ValueError("columns of different lengths")
        if not judged or not all(isinstance(query, str) for query in judged.queries):
            raise ValueError("queries that are none")
        if weight is None and len(set(judged.queries)) < len(judged):
            raise ValueError("a query that appears twice")
        if not all(((scores >= 0) & (scores <= 1)).all() for scores in (baseline, candidate)):
            raise ValueError("a score beyond 0 and 1")
        if not all(((one > 0) & np.isfinite(one)).all() for one in weights):
            raise ValueError("a weight that is none")
        return judged


def check_scores(scores: Scores, systems: Sequence[str]) -> None:
    """Refuse a measure without bounds, scores beyond 0 and 1, whose losses no 1 bounds, and judgments of nothing."""
    measure = named_measure(scores.measure)
    if measure is not None:
        check_bounded(measure)
    if scores.no_relevant == len(scores.queries):
        raise DataError(
            "no judged query has a relevant document, so that no list can lose anything; judge what both runs show"
        )
    for system in systems:
        values = scores[system]
        beyond = np.flatnonzero(~((values >= 0) & (values <= 1)))
        if len(beyond):
            at = int(beyond[0])
            raise DataError(
                f"{scores.measure} of {shortened(system)} on query {shortened(scores.queries[at])} is {values[at]:g}; "
                "a bound on losses needs scores from 0 to 1: take such a measure, or scale the scores by their "
                "greatest possible value"
            )
        between = (values != 0) & (values != 1)
        if is_binary(scores.measure) and between.any():
            at = int(between.argmax())
            raise DataError(
                f"{scores.measure} of {shortened(system)} on query {shortened(scores.queries[at])} is {values[at]:g}; "
                f"{scores.measure} is 0 or 1 by definition: these are scores by another measure, name that one"
            )


def plain_sample(
    scores: Scores, baseline: str, candidate: str, members: Mapping[str, Flags], mask: Flags | None = None
) -> JudgedQueries:
    """Those of the scores' queries that the mask selects, each once; all by default."""
    rows = np.arange(len(scores.queries)) if mask is None else np.flatnonzero(mask)
    order = rows[betting_order([scores.queries[row] for row in rows.tolist()])]
    return JudgedQueries(scores.queries, scores[baseline], scores[candidate], members=dict(members)).take(order)


def drawn_sample(scores: Scores, baseline: str, candidate: str, draws: Draws) -> JudgedQueries:
    """The queries that were drawn, in the order of drawing, each as often as it was; other judged ones do not count."""
    runs = {run.name: run for run in scores.runs}
    if baseline not in runs or candidate not in runs:
        raise ArgumentError(
            "drawn queries need the runs they were drawn from, to see that these are the same; "
            "give judgments and runs in place of scores"
        )
    draws.check_runs(runs[candidate], runs[baseline], scores.measure)
    rows = draws.places(scores.queries)[draws.sequence]
    sample = JudgedQueries(scores.queries, scores[baseline], scores[candidate]).take(rows)
    return replace(sample, weight=draws.weights[draws.sequence])
