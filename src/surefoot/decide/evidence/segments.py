"""Conditions on segments: which queries each segment has, and `*` written out as each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.arrays import Flags
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.options import EVERY_SEGMENT
from surefoot.errors import ArgumentError, did_you_mean, name_list, other_queries_hint, shortened
from surefoot.risk.segments import MOST_SEGMENTS, Segments


def resolve_segments(
    rules: Sequence[ConditionRule], segments: Segments | None, queries: Sequence[str], *, batch: bool = False
) -> tuple[tuple[ConditionRule, ...], dict[str, Flags]]:
    """The rules with `*` written out as each segment, and which of the queries each segment has.

    A segment goes by its name, or by COLUMN=NAME where several columns have one of that name. Of a `batch` a segment
    may have no query: it had some before, or will have.
    """
    named = [rule.segment for rule in rules if rule.segment is not None]
    if not named:
        return tuple(rules), {}
    if segments is None:
        raise ArgumentError(
            f"there are conditions on segments ({name_list(list(dict.fromkeys(named)), 3, shortened)}); give a file "
            "that says which segment each query belongs to (--segments FILE)"
        )
    members_of = _members(segments, queries, batch)
    by_name: dict[str, list[str]] = {}
    for full_name, (segment, _) in members_of.items():
        by_name.setdefault(segment, []).append(full_name)
    resolved: dict[tuple[str | None, str], ConditionRule] = {}
    members: dict[str, Flags] = {}
    # A segment's own table goes before the one for every segment.
    for rule in sorted(rules, key=lambda rule: (rule.segment is not None, rule.segment != EVERY_SEGMENT)):
        if rule.segment is None:
            resolved[None, rule.name] = rule
            continue
        for full_name in (
            members_of if rule.segment == EVERY_SEGMENT else [_full_name(rule.segment, members_of, by_name)]
        ):
            segment, flags = members_of[full_name]
            name = (
                rule.segment if rule.segment != EVERY_SEGMENT else segment if len(by_name[segment]) == 1 else full_name
            )
            resolved[full_name, rule.name] = replace(rule, segment=name)
            members[name] = flags
    used = {rule.segment for rule in resolved.values()}
    return tuple(resolved.values()), {name: flags for name, flags in members.items() if name in used}


def _members(segments: Segments, queries: Sequence[str], batch: bool) -> dict[str, tuple[str, Flags]]:
    """By COLUMN=NAME, each segment's name and which of the queries are of it; of a batch, segments of none too."""
    members: dict[str, tuple[str, Flags]] = {}
    for column, segment_of in segments.items():
        own_segments = [segment_of.get(query) for query in queries]
        present = sorted(
            {segment for segment in (segment_of.values() if batch else own_segments) if segment is not None}
        )
        if not present:
            raise ArgumentError(
                f"no query has a segment in {shortened(column)}: {other_queries_hint('segments', segment_of, queries)}"
            )
        if len(present) > MOST_SEGMENTS:
            raise ArgumentError(f"{shortened(column)} has {len(present):,} segments; the maximum is {MOST_SEGMENTS:,}")
        array = np.array([segment if segment is not None else "" for segment in own_segments], dtype=object)
        absent = np.array([segment is None for segment in own_segments])
        members |= {
            f"{column}={segment}": (segment, np.asarray((array == segment) & ~absent, bool)) for segment in present
        }
    return members


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
    raise ArgumentError(
        f"no judged query belongs to segment {shortened(name)}{hint} The segments are: {name_list([*by_name])}"
    )
