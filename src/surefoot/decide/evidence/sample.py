"""How the judged queries stand for traffic: drawn by what they could lose, of strata, or at random; their segments."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np

from surefoot.arguments import finite_number
from surefoot.arrays import Flags
from surefoot.data.reading.columns import ids_of
from surefoot.data.reading.files import inner_ending
from surefoot.data.reading.frames import is_columns
from surefoot.data.reading.query_tables import query_table, read_segments
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.evidence_data import StratumData
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.nothing_to_lose import parse_treatment
from surefoot.decide.options import EVERY_SEGMENT, NothingToLoseTreatment
from surefoot.errors import ArgumentError, DataError, did_you_mean, name_list, other_queries_hint, shortened
from surefoot.risk.assessment_parts import MOST_SEGMENTS, Segments

_ROUNDING = 1e-6  # by which shares may miss a sum of 1
_FORMS = "a file of two columns, stratum and share, or a dict {stratum: share}"


class Strata:
    """Judged queries that are not like traffic: the stratum of each, and each stratum's share of all traffic.

    `stratum_of` is a dict {query: stratum} or a file or table of two columns; `shares` is a dict {stratum: share}, or
    a file or table of two columns. Shares sum to 1.

    >>> Strata({"q1": "head", "q2": "tail"}, {"head": 0.7, "tail": 0.3}).shares
    {'head': 0.7, 'tail': 0.3}
    """

    def __init__(self, stratum_of: Any, shares: Any) -> None:
        columns = read_segments(stratum_of)
        if len(columns) != 1:
            raise ArgumentError(
                f"strata need one column with the stratum of each query; found {name_list([*columns]) or 'none'}"
            )
        ((self._column, self.stratum_of),) = columns.items()
        self.shares = read_shares(shares)


def read_shares(source: Any) -> dict[str, float]:
    """Each stratum's share of traffic, from a dict or from a CSV or Parquet file of two columns; they sum to 1.

    >>> read_shares({"head": 0.7, "tail": 0.3})
    {'head': 0.7, 'tail': 0.3}
    """
    where = str(source) if isinstance(source, str | os.PathLike) else "shares"
    if isinstance(source, Mapping):
        rows = [(str(name), value) for name, value in source.items()]
    else:
        names, columns, row_location = query_table(source, "shares", "share", _FORMS)
        if len(columns) != 2:
            raise DataError(f"{where}: expected two columns, stratum and share; found {name_list(names)}")
        rows = list(zip(ids_of(columns[0], "the stratum", row_location).to_list(), columns[1], strict=True))
    shares: dict[str, float] = {}
    for name, value in rows:
        share = finite_number(value)
        if name in shares:
            raise DataError(f"{where}: stratum {shortened(name)} appears twice; give each once")
        if share is None or not 0 < share <= 1:
            raise DataError(
                f"{where}: the share of stratum {shortened(name)} is {shortened(value)}; it must be above "
                "0 and at most 1"
            )
        shares[name] = share
    total = math.fsum(shares.values())
    if not abs(total - 1) <= _ROUNDING:
        raise DataError(f"{where}: the shares of traffic sum to {total:g}; they must sum to 1")
    return shares


def weigh_strata(sample: JudgedQueries, given: Strata) -> tuple[JudgedQueries, list[StratumData]]:
    """The sample with each query's weight, π_h·n/n_h, and for each stratum its share and number of queries."""
    stratum_of, shares = given.stratum_of, given.shares
    without = [query for query in sample.queries if query not in stratum_of]
    if without:
        raise DataError(
            f"{len(without):,} judged queries have no stratum in {shortened(given._column)} "
            f"({name_list(without, 3, shortened)}); every query needs a stratum"
        )
    strata = [stratum_of[query] for query in sample.queries]
    unknown = sorted(set(strata) - set(shares))
    if unknown:
        raise DataError(
            f"no share of traffic is given for {name_list(unknown, 3, shortened)}; there are shares for: "
            f"{name_list([*shares])}"
        )
    counted = Counter(strata)
    counts = {name: counted[name] for name in shares}
    empty = [name for name, count in counts.items() if not count]
    if empty:
        raise DataError(
            f"no judged query belongs to {name_list(empty, 3, shortened)}, which has a share of traffic, so nothing "
            "can be decided about it; judge some of its queries"
        )
    for segment, flags in sample.members.items():
        if len({strata[row] for row in np.flatnonzero(flags).tolist()}) > 1:
            raise ArgumentError(
                f"segment {shortened(segment)} covers several strata, and its share of traffic in each is not known; "
                "remove its conditions, or make it a stratum"
            )
    stratum_weights = {name: shares[name] * len(strata) / counts[name] for name in shares}
    summary: list[StratumData] = [{"stratum": name, "share": shares[name], "queries": counts[name]} for name in shares]
    return replace(sample, stratum_weight=np.array([stratum_weights[name] for name in strata])), summary


_SAMPLE_FORMS = "draws of surefoot judge next (JSON), or a table with the columns query, stratum and share"


Sample: TypeAlias = Draws | Strata | None  # how judged queries were chosen; None: at random


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a gate or a guard is given beside judged queries, as `gate` says it: all that the proof depends on.

    `automatic` and `segments` are as they were given; they are read once the conditions are known.
    """

    sample: Sample
    treatment: NothingToLoseTreatment
    automatic: Any = None
    segments: Any = None
    sampled_from: int | None = None
    budget: int | None = None

    @classmethod
    def read(cls, *, sample: Any = None, unanswered: Any = NothingToLoseTreatment.leave_out, **others: Any) -> Self:
        """With the sample read, which may be a file, and `unanswered` checked."""
        return cls(sample=read_sample(sample), treatment=parse_treatment(unanswered), **others)

    @property
    def strata(self) -> Strata | None:
        """The strata, where the sample is of these."""
        return self.sample if isinstance(self.sample, Strata) else None

    @property
    def leave_out(self) -> bool:
        """Whether queries on which nothing can be lost are left out: where they are no known part of traffic."""
        known = self.sample is not None or self.sampled_from is not None
        return not known and self.treatment is NothingToLoseTreatment.leave_out


def read_sample(source: Any) -> Sample:
    """Draws or strata, or the file of either; None is a plain random sample of the traffic."""
    if source is None or isinstance(source, Draws | Strata):
        return source
    if isinstance(source, str | os.PathLike) and inner_ending(source) == ".json":
        return Draws.read(source)
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "columns") and not is_columns(source):
        raise ArgumentError(f"sample is {shortened(source)}; give Draws, Strata, or a file: {_SAMPLE_FORMS}")
    names, columns, where = query_table(source, "sample", "stratum and share", _SAMPLE_FORMS)
    if len(columns) != 3:
        raise DataError(f"{where(None)}: expected three columns, found {name_list(names)}; give {_SAMPLE_FORMS}")
    queries = ids_of(columns[0], "the query", where).to_list()
    strata = ids_of(columns[1], "the stratum", where).to_list()
    shares: dict[str, Any] = {}
    stratum_of: dict[str, str] = {}
    for row, (query, stratum, share) in enumerate(zip(queries, strata, columns[2], strict=True)):
        if query in stratum_of:
            raise DataError(f"{where(row)}: query {shortened(query)} appears twice; give each query once")
        stratum_of[query] = stratum
        if shares.setdefault(stratum, share) != share:
            raise DataError(
                f"{where(row)}: stratum {shortened(stratum)} has the share {shortened(share)} here and "
                f"{shortened(shares[stratum])} above; a stratum has one share of traffic"
            )
    return Strata({"stratum": stratum_of}, shares)


OTHER = "other"  # what gathers the segments that are too small for conditions of their own


def resolve_segments(
    rules: Sequence[ConditionRule], segments: Segments | None, queries: Sequence[str], other_below: int = 0
) -> tuple[tuple[ConditionRule, ...], dict[str, Flags], dict[str, int]]:
    """The rules with `*` written out as each segment of the file, which of the queries each has, and its size.

    A segment goes by its name, or by COLUMN=NAME where several columns have one of that name. Sizes count all queries
    of the file, judged or not; for `*`, segments with fewer than `other_below` go together as `other`. A segment
    without a judged query stays: what was not looked at is open.
    """
    named = [rule.segment for rule in rules if rule.segment is not None]
    if not named:
        return tuple(rules), {}, {}
    if segments is None:
        raise ArgumentError(
            f"there are conditions on segments ({name_list(list(dict.fromkeys(named)), 3, shortened)}); give a file "
            "that says which segment each query belongs to (--segments FILE)"
        )
    known = {name: own for column in segments.items() for name, own in _segments_of(*column, queries, other_below)}
    if EVERY_SEGMENT in named:
        _refuse_without_segment(queries, known.values())
    by_name: dict[str, list[str]] = {}
    for full_name, (segment, _, _) in known.items():
        by_name.setdefault(segment, []).append(full_name)
    resolved: dict[tuple[str | None, str], ConditionRule] = {}
    members: dict[str, Flags] = {}
    sizes: dict[str, int] = {}
    # A segment's own table goes before the one for every segment.
    for rule in sorted(rules, key=lambda rule: (rule.segment is not None, rule.segment != EVERY_SEGMENT)):
        if rule.segment is None:
            resolved[None, rule.name] = rule
            continue
        every = rule.segment == EVERY_SEGMENT
        for full_name in known if every else [_full_name(rule.segment, known, by_name)]:
            segment, own, gathered = known[full_name]
            if every and gathered:
                continue
            name = rule.segment if not every else segment if len(by_name[segment]) == 1 else full_name
            resolved[full_name, rule.name] = replace(rule, segment=name)
            members[name] = np.array([query in own for query in queries], dtype=bool)
            sizes[name] = len(own)
    used = {rule.segment for rule in resolved.values()}
    return (
        tuple(resolved.values()),
        {name: flags for name, flags in members.items() if name in used},
        {name: size for name, size in sizes.items() if name in used},
    )


def _segments_of(
    column: str, segment_of: Mapping[str, str], queries: Sequence[str], other_below: int
) -> Iterator[tuple[str, tuple[str, frozenset[str], bool]]]:
    """By COLUMN=NAME each segment's name, its queries, and whether it is so small that it counts to `other`."""
    if not any(query in segment_of for query in queries):
        raise ArgumentError(
            f"no query has a segment in {shortened(column)}: {other_queries_hint('segments', segment_of, queries)}"
        )
    members: dict[str, list[str]] = {}
    for query, segment in segment_of.items():
        members.setdefault(segment, []).append(query)
    if len(members) > MOST_SEGMENTS:
        raise ArgumentError(f"{shortened(column)} has {len(members):,} segments; the maximum is {MOST_SEGMENTS:,}")
    small = [segment for segment, own in members.items() if len(own) < other_below]
    if small and OTHER in members:
        raise ArgumentError(
            f"{shortened(column)} has a segment {OTHER!r} already, which small segments would be mixed with; give it "
            "another name, or set other_below to 0"
        )
    for segment in sorted(members):
        yield f"{column}={segment}", (segment, frozenset(members[segment]), segment in small)
    if small:
        gathered = frozenset(query for segment in small for query in members[segment])
        yield f"{column}={OTHER}", (OTHER, gathered, False)


def _refuse_without_segment(queries: Sequence[str], known: Iterable[tuple[str, frozenset[str], bool]]) -> None:
    """Refuse judged queries that no condition on every segment would be about."""
    assigned = frozenset[str]().union(*(own for _, own, _ in known))
    absent = [query for query in queries if query not in assigned]
    if absent:
        raise DataError(
            f"{len(absent):,} judged queries have no segment ({name_list(absent, 3, shortened)}), so a condition on "
            f"every segment ({EVERY_SEGMENT!r}) would pass over them; give each of them one"
        )


def _full_name(name: str, segments: Mapping[str, Any], by_name: Mapping[str, list[str]]) -> str:
    """A segment's COLUMN=NAME."""
    if name in segments:
        return name
    matches = by_name.get(name, [])
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ArgumentError(f"segment {shortened(name)} is in several columns; write one of {name_list(matches)}")
    hint = did_you_mean(name, by_name) or "."
    raise ArgumentError(f"there is no segment {shortened(name)}{hint} The segments are: {name_list([*by_name])}")
