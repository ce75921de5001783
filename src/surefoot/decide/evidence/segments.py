"""Conditions on segments: which queries each segment has, and `*` written out as each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.arrays import Flags
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.options import EVERY_SEGMENT
from surefoot.errors import ArgumentError, DataError, did_you_mean, name_list, other_queries_hint, shortened
from surefoot.risk.assessment_parts import MOST_SEGMENTS, Segments

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
