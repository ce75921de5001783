"""The features of a list that is about to be shown, from what its session, its user and everybody did before."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from surefoot.clicks.events import ShownRequest
from surefoot.clicks.features import KINDS, POSITIONS_TOLD_APART
from surefoot.clicks.served.behaviour import Behaviour, counts_before
from surefoot.clicks.served.everybody import LISTS, QueryHistory, entropy, owner_name, rounded_number
from surefoot.clicks.served.key_times import Tally
from surefoot.clicks.served.session_events import SessionEvents

FeatureColumns = dict[str, list[float]]


@dataclass(frozen=True)
class Everybody:
    """What is known of the request's query, and of each of its documents."""

    query: QueryHistory
    documents: Mapping[str, Tally]


def behaviour_features(scope: str, request: ShownRequest, time: int, parts: Sequence[Behaviour]) -> FeatureColumns:
    """How often each result was shown, clicked, satisfied and skipped before, and how much happened in all."""
    by_key: dict[str, list[list[float]]] = {"document": [], "pair": []}
    for document in request.documents:
        results = [result for part in parts for result in part.of_document(document)]
        by_key["document"].append(counts_before(results, time))
        by_key["pair"].append(counts_before([result for result in results if result.query == request.query], time))
    if request.domains is not None:
        of_domain = {
            domain: counts_before([result for part in parts for result in part.of_domain(domain)], time)
            for domain in set(request.domains)
        }
        by_key["domain"] = [of_domain[domain] for domain in request.domains]
    columns: FeatureColumns = {
        f"{scope}_{key}_{kind}": [counts[place] for counts in rows]
        for key, rows in by_key.items()
        for place, kind in enumerate(KINDS)
    }
    size = len(request.documents)
    for name in ("lists", "clicks"):
        for what, value in (("", None), ("query_", request.query)):
            count = sum(getattr(part, name).before(value, time) for part in parts)
            columns[f"{scope}_{what}{name}"] = [count] * size
    return columns


def session_features(request: ShownRequest, session: SessionEvents) -> FeatureColumns:
    """What is known of the list as a whole within its session."""
    facts, lists = session.facts, session.lists
    earlier = bisect_left(lists, request.time, key=lambda shown: shown.time)
    former = lists[earlier - 1] if earlier else None
    place = bisect_left(session.click_places, request.time, key=lambda click: click.time)
    values = {
        "last_click_position": 0.0,
        "last_click_age": math.nan,
        "session_age": rounded_number((request.time - lists[0].time) * facts.seconds) if earlier else 0.0,
        "previous_query": float(former is not None and former.query == request.query),
    }
    if place:  # of clicks at one time the lowest counts
        last = max(
            (click.time, min(click.position, POSITIONS_TOLD_APART - 1)) for click in session.click_places[:place]
        )
        values["last_click_position"] = last[1]
        values["last_click_age"] = rounded_number((request.time - last[0]) * facts.seconds)
    if facts.terms:
        new, old = set(request.terms or ()), set((former.terms or ()) if former else ())
        known = former is not None and bool(new | old)
        values["term_overlap"] = rounded_number(len(new & old) / len(new | old)) if known else 0.0
    return {name: [value] * len(request.documents) for name, value in values.items()}


def everybody_features(request: ShownRequest, time: int, everybody: Everybody, joined: str | None) -> FeatureColumns:
    """What everybody did before; `joined` is the session whose clicks are the user's, though not stored so."""
    size, query = len(request.documents), everybody.query
    of_query = query.clicked.before(time)
    columns: FeatureColumns = {
        "query_lists": [query.lists.before(LISTS, time)] * size,
        "query_clicks": [of_query.total] * size,
        "query_entropy": [entropy(of_query.total, of_query.sizes)] * size,
        **{
            name: [times.before(document, time) for document in request.documents]
            for name, times in (("pair_clicked", query.pairs), ("pair_satisfied", query.satisfied))
        },
        "document_clicked": [],
        "document_entropy": [],
    }
    known = []
    for document in request.documents:
        tally = everybody.documents[document]
        clicked = tally.before(time)
        sizes = clicked.sizes
        if joined is not None:
            sizes = clicked.sizes_with_one_for_two(owner_name(request.user, ""), owner_name(None, joined))
        columns["document_clicked"].append(clicked.total)
        columns["document_entropy"].append(entropy(clicked.total, sizes))
        if clicked.total:
            known.append(columns["document_entropy"][-1])
    columns["least_entropy"] = [min(known, default=math.nan)] * size
    return columns
