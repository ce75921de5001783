"""What a decision looks at: the scores of two systems on judged queries, in the order in which they are bet on.

That order is random, the same for the same queries, and each sample's own. By the hash of its id alone a query would
come early in every sample or in none; whoever samples the same traffic again and again would then bet on the same first
queries each time, and ship falsely far more often than promised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from surefoot.arrays import Flags, Floats, Ints
from surefoot.data.hashes import judgments_hash, queries_hash
from surefoot.data.types.runs import Qrels, RankedSource
from surefoot.data.types.scores import Scores, unknown_system
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.evidence_data import PerQueryData
from surefoot.decide.evidence.traffic import AutomaticJudge, shown_documents
from surefoot.decide.options import NO_FILL_REASON
from surefoot.errors import ArgumentError, DataError, name_list, shortened
from surefoot.measures.notation import Measure, is_binary, named_measure
from surefoot.measures.worst_case import check_bounded
from surefoot.risk.baselines import baseline_choices

_COLUMNS = ("baseline", "candidate", "drawn_by", "stratum_weight", "automatic_baseline", "automatic_candidate")


@dataclass(frozen=True)
class JudgedQueries:
    """Judged queries with the scores of both systems; in a sample they stand in betting order.

    A query that was drawn several times appears as often. `drawn_by` is W of each draw, the most that its query could
    lose, which x is divided by (by traffic, queries are drawn by w·W); `stratum_weight` is the weight of its stratum,
    π_h·n/n_h; `members` says for each segment that the policy names which of the queries are of it;
    `automatic_baseline` and `automatic_candidate` are the scores by an automatic judge.
    """

    queries: tuple[str, ...]
    baseline: Floats
    candidate: Floats
    drawn_by: Floats | None = None
    stratum_weight: Floats | None = None
    members: dict[str, Flags] = field(default_factory=dict)
    automatic_baseline: Floats | None = None
    automatic_candidate: Floats | None = None

    def __len__(self) -> int:
        """How many there are, draws counted each time."""
        return len(self.queries)

    def take(self, rows: Ints) -> JudgedQueries:
        """Those at these places, one after the other."""
        columns = ((name, getattr(self, name)) for name in _COLUMNS)
        taken: dict[str, Any] = {name: None if column is None else column[rows] for name, column in columns}
        return JudgedQueries(
            tuple(self.queries[row] for row in rows.tolist()),
            members={name: flags[rows] for name, flags in self.members.items()},
            **taken,
        )

    def as_in(self, earlier: JudgedQueries) -> JudgedQueries:
        """The same queries; those of an earlier batch with the scores that they have there."""
        row_of = {query: row for row, query in enumerate(earlier.queries)}
        rows = np.array([row_of.get(query, -1) for query in self.queries])
        baseline, candidate = (
            np.where(rows < 0, now, before[rows])
            for now, before in ((self.baseline, earlier.baseline), (self.candidate, earlier.candidate))
        )
        return replace(self, baseline=baseline, candidate=candidate)

    def followed_by(self, other: JudgedQueries) -> JudgedQueries:
        """These and, after them, those of a later batch; strata have one batch."""
        both = ((name, getattr(self, name), getattr(other, name)) for name in _COLUMNS if name != "stratum_weight")
        columns: dict[str, Any] = {
            name: None if own is None or later is None else np.append(own, later) for name, own, later in both
        }
        return JudgedQueries(
            self.queries + other.queries,
            members={name: np.append(flags, other.members[name]) for name, flags in self.members.items()},
            **columns,
        )

    def to_dict(self) -> PerQueryData:
        """Plain data that JSON can hold."""
        return {
            "query": list(self.queries),
            "baseline": self.baseline.tolist(),
            "candidate": self.candidate.tolist(),
            "weight": _listed(self.drawn_by),
            "share": _listed(self.stratum_weight),
            "segments": {name: flags.tolist() for name, flags in self.members.items()},
            "automatic_baseline": _listed(self.automatic_baseline),
            "automatic_candidate": _listed(self.automatic_candidate),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> JudgedQueries:
        """The queries whose plain data this is."""
        drawn_by, stratum_weight, automatic_baseline, automatic_candidate = (
            None if data.get(key) is None else np.array(data[key], np.float64)
            for key in ("weight", "share", "automatic_baseline", "automatic_candidate")
        )
        members = {str(name): np.array(flags, bool) for name, flags in data["segments"].items()}
        baseline, candidate = (np.array(data[key], np.float64) for key in ("baseline", "candidate"))
        judged = cls(
            tuple(data["query"]), baseline, candidate, drawn_by, stratum_weight, members,
            automatic_baseline, automatic_candidate,
        )  # fmt: skip
        weightings = [column for column in (drawn_by, stratum_weight) if column is not None]
        automatic = [column for column in (automatic_baseline, automatic_candidate) if column is not None]
        if len(automatic) == 1:
            raise ValueError("only one system has automatic scores")
        columns = (baseline, candidate, *members.values(), *weightings, *automatic)
        if any(column.shape != (len(judged),) for column in columns):
            raise ValueError("columns have different lengths")
        if not judged or not all(isinstance(query, str) for query in judged.queries):
            raise ValueError("there is no query, or a query is not text")
        if drawn_by is None and len(set(judged.queries)) < len(judged):
            raise ValueError("a query appears twice")
        if not all(((scores >= 0) & (scores <= 1)).all() for scores in (baseline, candidate, *automatic)):
            raise ValueError("a score is below 0 or above 1")
        if not all(((column > 0) & np.isfinite(column)).all() for column in weightings):
            raise ValueError("a weight is not valid")
        return judged


def _listed(column: Floats | None) -> list[float] | None:
    return None if column is None else column.tolist()


def check_scores(scores: Scores, systems: Sequence[str]) -> None:
    """Refuse a measure without bounds, scores beyond 0 and 1, whose losses no 1 bounds, and judgments of nothing."""
    if scores.filled is not None:
        raise ArgumentError(NO_FILL_REASON)
    if scores._weighting is not None:
        raise ArgumentError(
            "these scores have weights by traffic, for which a plain sample proves nothing; give scores without "
            "weights, and draws that were made by traffic (judge_next(…, traffic=…))"
        )
    if scores.qrels is not None:
        refuse_machine_judgments(scores.qrels)
    measure = named_measure(scores.measure)
    if measure is not None:
        check_bounded(measure)
    if scores.no_relevant == len(scores.queries):
        raise DataError(
            "no judged query has a relevant document, so no ranking can lose anything; judge the documents that both "
            "runs show"
        )
    for system in systems:
        values = scores[system]
        beyond = np.flatnonzero(~((values >= 0) & (values <= 1)))
        if len(beyond):
            at = int(beyond[0])
            raise DataError(
                f"{scores.measure} of {shortened(system)} on query {shortened(scores.queries[at])} is {values[at]:g}; "
                "a bound on losses needs scores from 0 to 1; use such a measure, or divide the scores by their "
                "largest possible value"
            )
        between = (values != 0) & (values != 1)
        if is_binary(scores.measure) and between.any():
            at = int(between.argmax())
            raise DataError(
                f"{scores.measure} of {shortened(system)} on query {shortened(scores.queries[at])} is {values[at]:g}; "
                f"{scores.measure} can only be 0 or 1, so these scores come from another measure; give the name of "
                "that measure"
            )


def refuse_machine_judgments(qrels: Qrels) -> None:
    """Refuse judgments that people did not make, where their file says so: nothing is proved by them."""
    made_by = None if qrels.origin is None else qrels.origin.made_by
    if made_by in ("machine", "people and machine"):
        raise DataError(
            f"a machine made {'these' if made_by == 'machine' else 'some of these'} judgments "
            f"({shortened(qrels.name)}), and nothing is proved by putting them in place of people's. Let people judge "
            "queries drawn with surefoot judge next --automatic, and give the machine's judgments to the gate as "
            "--automatic (automatic=)"
        )


def plain_sample(
    scores: Scores, baseline: str, candidate: str, members: Mapping[str, Flags], mask: Flags | None = None
) -> JudgedQueries:
    """Those of the scores' queries that the mask selects, each once; all by default."""
    rows = np.arange(len(scores.queries)) if mask is None else np.flatnonzero(mask)
    order = rows[betting_order([scores.queries[row] for row in rows.tolist()])]
    return JudgedQueries(scores.queries, scores[baseline], scores[candidate], members=dict(members)).take(order)


def unjudged_documents(scores: Scores, baseline: str, candidate: str, draws: Draws) -> int | None:
    """How many documents that either list shows for a drawn query people did not judge; None without judgments."""
    runs = {run.name: run for run in scores.runs}
    if scores.qrels is None:
        return None
    depth = Measure.parse(draws.measure).depth
    code, _ = shown_documents((runs[candidate], runs[baseline]), draws.queries, depth)
    return int((scores.qrels.ranking.find(code) < 0).sum())


def people_judgments(qrels: Qrels | None, queries: Iterable[str]) -> int:
    """How many documents of these queries people judged; 0 where judgments are not at hand."""
    if qrels is None:
        return 0
    drawn = set(queries)
    is_drawn = np.array([query in drawn for query in qrels.queries])
    return int(qrels.ranking.lengths[is_drawn].sum())


def drawn_sample(
    scores: Scores,
    baseline: str,
    candidate: str,
    draws: Draws,
    automatic: RankedSource | None = None,
) -> tuple[JudgedQueries, AutomaticJudge | None]:
    """The queries that were drawn, in the order of drawing, each as often as it was; other judged ones do not count.

    With automatic judgments also what these say of the same queries, and the judge that made them.
    """
    runs = {run.name: run for run in scores.runs}
    if baseline not in runs or candidate not in runs:
        raise ArgumentError(
            "with drawn queries, the gate must check that the runs are the same as when they were drawn; "
            "give judgments and runs instead of scores"
        )
    draws._check_runs(runs[candidate], runs[baseline], scores.measure)
    people, judged_by = scores.qrels, draws.automatic
    if people is not None and judged_by is not None and judgments_hash(people) == judged_by["sha256"]:
        raise DataError(
            f"the judgments ({shortened(people.name)}) are the automatic judge's own; nothing is proved by putting "
            "them in place of people's. Give what people judged"
        )
    rows = draws._places(scores.queries)[draws.sequence]
    sample = JudgedQueries(scores.queries, scores[baseline], scores[candidate]).take(rows)
    sample = replace(sample, drawn_by=draws.could_lose[draws.sequence])
    if automatic is None:
        return sample, None
    judge = draws._read_judge(automatic, runs[candidate], runs[baseline])
    by_judge = judge.of(sample.queries)
    return replace(sample, automatic_baseline=by_judge[0], automatic_candidate=by_judge[1]), judge


def betting_order(queries: Sequence[str]) -> Ints:
    """Positions of queries in ascending SHA-256 of set ‖ id, where set is the hash of all their ids together.

    The order of the files changes nothing; one query more, less or renamed gives another order.

    >>> few, more = ["tea", "milk", "coffee"], ["tea", "milk", "coffee", "cocoa"]
    >>> [few[place] for place in betting_order(few)], [more[place] for place in betting_order(more)]
    (['coffee', 'tea', 'milk'], ['cocoa', 'milk', 'coffee', 'tea'])
    """
    together = hashlib.sha256(queries_hash(queries).encode())

    def key(row: int) -> tuple[bytes, str]:
        own = together.copy()
        own.update(queries[row].encode("utf-8", "surrogatepass"))
        return own.digest(), queries[row]

    return np.array(sorted(range(len(queries)), key=key), dtype=np.int64)


def systems_of(systems: Sequence[str], candidate: str | None, baseline: str | None) -> tuple[str, str]:
    """The candidate and the baseline by name; of two systems the candidate is the one that is not the baseline."""
    if baseline is None:
        raise ArgumentError(f"choose the baseline, which is the system that is live today: {baseline_choices(systems)}")
    for name in (baseline, candidate):
        if name is not None and name not in systems:
            raise ArgumentError(unknown_system(name, systems))
    if candidate is None:
        others = [name for name in systems if name != baseline]
        if len(others) != 1:
            raise ArgumentError(
                f"choose the candidate with --candidate (candidate=): there are {len(others)} systems besides the "
                "baseline" + (f": {name_list(others, 8)}" if others else "")
            )
        (candidate,) = others
    if candidate == baseline:
        raise ArgumentError(f"candidate and baseline are both {shortened(baseline)}; choose two different systems")
    return candidate, baseline
