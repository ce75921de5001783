"""What a decision looks at: the scores of two systems on judged queries, in the order in which they are bet on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.arrays import Flags, Floats
from surefoot.data.types.scores import Scores
from surefoot.decide.evidence.betting_order import betting_order
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.gate.policy import Rule
from surefoot.decide.options import EVERY
from surefoot.errors import ArgumentError, DataError, did_you_mean, listed, other_queries_hint, shortened
from surefoot.measures.notation import is_binary, named_measure
from surefoot.measures.worst_case import check_bounded
from surefoot.risk.segments import MOST_SEGMENTS

Kinds = Mapping[str, Mapping[str, str]]  # each column's segments by query


@dataclass(frozen=True)
class Sample:
    """Judged queries in betting order; a query that was drawn several times stands there as often.

    `weight` is what each draw was drawn by, `share` the weight of its stratum, π_h·n/n_h; `members` says for each
    segment that the policy names which of the queries are of it.
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

    def then(self, other: Sample) -> Sample:
        """These and, after them, those of a later batch."""
        weight = None if self.weight is None or other.weight is None else np.append(self.weight, other.weight)
        return Sample(
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
    def from_dict(cls, data: Mapping[str, Any]) -> Sample:
        """The sample whose plain data this is."""
        weight, share = (None if data[key] is None else np.array(data[key], np.float64) for key in ("weight", "share"))
        members = {str(name): np.array(flags, bool) for name, flags in data["segments"].items()}
        baseline, candidate = (np.array(data[key], np.float64) for key in ("baseline", "candidate"))
        found = cls(tuple(data["query"]), baseline, candidate, weight, share, members)
        weights = [one for one in (weight, share) if one is not None]
        if any(column.shape != (len(found),) for column in (baseline, candidate, *members.values(), *weights)):
            raise ValueError("columns of different lengths")
        if not found or not all(isinstance(query, str) for query in found.queries):
            raise ValueError("queries that are none")
        if weight is None and len(set(found.queries)) < len(found):
            raise ValueError("a query that appears twice")
        if not all(((scores >= 0) & (scores <= 1)).all() for scores in (baseline, candidate)):
            raise ValueError("a score beyond 0 and 1")
        if not all(((one > 0) & np.isfinite(one)).all() for one in weights):
            raise ValueError("a weight that is none")
        return found


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
    scores: Scores, baseline: str, candidate: str, members: Mapping[str, Flags], kept: Flags | None = None
) -> Sample:
    """Those of the scores' queries that are `kept`, each once; all by default."""
    rows = np.arange(len(scores.queries)) if kept is None else np.flatnonzero(kept)
    order = rows[betting_order([scores.queries[row] for row in rows.tolist()])]
    return Sample(
        tuple(scores.queries[place] for place in order.tolist()),
        scores[baseline][order],
        scores[candidate][order],
        members={name: flags[order] for name, flags in members.items()},
    )


def drawn_sample(scores: Scores, baseline: str, candidate: str, draws: Draws) -> Sample:
    """The queries that were drawn, in the order of drawing, each as often as it was; other judged ones do not count."""
    runs = {run.name: run for run in scores.runs}
    if baseline not in runs or candidate not in runs:
        raise ArgumentError(
            "drawn queries need the runs they were drawn from, to see that these are the same; "
            "give judgments and runs in place of scores"
        )
    draws.check_runs(runs[candidate], runs[baseline], scores.measure)
    rows = draws.places(scores.queries)[draws.sequence]
    return Sample(
        tuple(scores.queries[row] for row in rows.tolist()), scores[baseline][rows], scores[candidate][rows],
        draws.weights[draws.sequence],
    )  # fmt: skip


def resolve_segments(
    rules: Sequence[Rule], kinds: Kinds | None, queries: Sequence[str], *, batch: bool = False
) -> tuple[tuple[Rule, ...], dict[str, Flags]]:
    """The rules with `*` written out as each segment, and which of the queries each segment has.

    A segment goes by its name, or by COLUMN=NAME where several columns have one of that name. Of a `batch` a segment
    may have no query: it had some before, or will have.
    """
    wanted = [rule.segment for rule in rules if rule.segment is not None]
    if not wanted:
        return tuple(rules), {}
    if kinds is None:
        raise ArgumentError(
            f"the policy has conditions on segments ({listed(list(dict.fromkeys(wanted)), 3, shortened)}); say which "
            "queries are of which with segments (--segments FILE)"
        )
    judged = _members(kinds, queries, batch)
    named: dict[str, list[str]] = {}
    for full, (kind, _) in judged.items():
        named.setdefault(kind, []).append(full)
    found: dict[tuple[str | None, str], Rule] = {}
    members: dict[str, Flags] = {}
    # A segment's own table goes before the one for every segment.
    for rule in sorted(rules, key=lambda rule: (rule.segment is not None, rule.segment != EVERY)):
        if rule.segment is None:
            found[None, rule.name] = rule
            continue
        for full in judged if rule.segment == EVERY else [_known(rule.segment, judged, named)]:
            kind, flags = judged[full]
            name = rule.segment if rule.segment != EVERY else kind if len(named[kind]) == 1 else full
            found[full, rule.name] = Rule(rule.name, rule.level, rule.alpha, name)
            members[name] = flags
    used = {rule.segment for rule in found.values()}
    return tuple(found.values()), {name: flags for name, flags in members.items() if name in used}


def _members(kinds: Kinds, queries: Sequence[str], batch: bool) -> dict[str, tuple[str, Flags]]:
    """By COLUMN=NAME, each segment's name and which of the queries are of it; of a batch, segments of none too."""
    found: dict[str, tuple[str, Flags]] = {}
    for column, of in kinds.items():
        named = [of.get(query) for query in queries]
        present = sorted({kind for kind in (of.values() if batch else named) if kind is not None})
        if not present:
            raise ArgumentError(
                f"no query has a segment in {shortened(column)}: {other_queries_hint('segments', of, queries)}"
            )
        if len(present) > MOST_SEGMENTS:
            raise ArgumentError(
                f"{shortened(column)} has {len(present):,} segments, and at most {MOST_SEGMENTS:,} can be told apart"
            )
        array = np.array([kind if kind is not None else "" for kind in named], dtype=object)
        absent = np.array([kind is None for kind in named])
        found |= {f"{column}={kind}": (kind, np.asarray((array == kind) & ~absent, bool)) for kind in present}
    return found


def _known(name: str, members: Mapping[str, Any], plain: Mapping[str, list[str]]) -> str:
    if name in members:
        return name
    of = plain.get(name, [])
    if len(of) == 1:
        return of[0]
    if of:
        raise ArgumentError(f"segment {shortened(name)} stands in several columns; write one of {listed(of)}")
    hint = did_you_mean(name, plain) or "."
    raise ArgumentError(f"no judged query is of segment {shortened(name)}{hint} The segments are: {listed([*plain])}")
