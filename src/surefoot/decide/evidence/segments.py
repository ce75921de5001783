"""Conditions on segments: which queries each segment has, and `*` written out as each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.arrays import Flags
from surefoot.decide.evidence.conditions import Rule
from surefoot.decide.options import EVERY
from surefoot.errors import ArgumentError, did_you_mean, listed, other_queries_hint, shortened
from surefoot.risk.segments import MOST_SEGMENTS

Kinds = Mapping[str, Mapping[str, str]]  # each column's segments by query


def resolve_segments(
    rules: Sequence[Rule], kinds: Kinds | None, queries: Sequence[str], *, batch: bool = False
) -> tuple[tuple[Rule, ...], dict[str, Flags]]:
    """The rules with `*` written out as each segment, and which of the queries each segment has.

    A segment goes by its name, or by COLUMN=NAME where several columns have one of that name. Of a `batch` a segment
    may have no query: it had some before, or will have.
    """
    named = [rule.segment for rule in rules if rule.segment is not None]
    if not named:
        return tuple(rules), {}
    if kinds is None:
        raise ArgumentError(
            f"the policy has conditions on segments ({listed(list(dict.fromkeys(named)), 3, shortened)}); say which "
            "queries are of which with segments (--segments FILE)"
        )
    segments = _members(kinds, queries, batch)
    by_name: dict[str, list[str]] = {}
    for full_name, (kind, _) in segments.items():
        by_name.setdefault(kind, []).append(full_name)
    resolved: dict[tuple[str | None, str], Rule] = {}
    members: dict[str, Flags] = {}
    # A segment's own table goes before the one for every segment.
    for rule in sorted(rules, key=lambda rule: (rule.segment is not None, rule.segment != EVERY)):
        if rule.segment is None:
            resolved[None, rule.name] = rule
            continue
        for full_name in segments if rule.segment == EVERY else [_full_name(rule.segment, segments, by_name)]:
            kind, flags = segments[full_name]
            name = rule.segment if rule.segment != EVERY else kind if len(by_name[kind]) == 1 else full_name
            resolved[full_name, rule.name] = replace(rule, segment=name)
            members[name] = flags
    used = {rule.segment for rule in resolved.values()}
    return tuple(resolved.values()), {name: flags for name, flags in members.items() if name in used}


def _members(kinds: Kinds, queries: Sequence[str], batch: bool) -> dict[str, tuple[str, Flags]]:
    """By COLUMN=NAME, each segment's name and which of the queries are of it; of a batch, segments of none too."""
    members: dict[str, tuple[str, Flags]] = {}
    for column, kind_of in kinds.items():
        own_kinds = [kind_of.get(query) for query in queries]
        present = sorted({kind for kind in (kind_of.values() if batch else own_kinds) if kind is not None})
        if not present:
            raise ArgumentError(
                f"no query has a segment in {shortened(column)}: {other_queries_hint('segments', kind_of, queries)}"
            )
        if len(present) > MOST_SEGMENTS:
            raise ArgumentError(
                f"{shortened(column)} has {len(present):,} segments, and at most {MOST_SEGMENTS:,} can be told apart"
            )
        array = np.array([kind if kind is not None else "" for kind in own_kinds], dtype=object)
        absent = np.array([kind is None for kind in own_kinds])
        members |= {f"{column}={kind}": (kind, np.asarray((array == kind) & ~absent, bool)) for kind in present}
    return members


def _full_name(name: str, segments: Mapping[str, Any], by_name: Mapping[str, list[str]]) -> str:
    """A segment's COLUMN=NAME."""
    if name in segments:
        return name
    matches = by_name.get(name, [])
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ArgumentError(f"segment {shortened(name)} is in several columns; write one of {listed(matches)}")
    hint = did_you_mean(name, by_name) or "."
    raise ArgumentError(f"no judged query is of segment {shortened(name)}{hint} The segments are: {listed([*by_name])}")
