"""Impressions and features once more, by plain loops over events: what the Ibis expressions are held against."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Shown:
    session: str
    user: str | None
    day: int | None
    time: int
    query: str
    terms: list[str]
    documents: list[str]
    domains: list[str | None]
    serp: str | None = None
    name: str = ""
    clicks: list[tuple[int, str, int | None, int]] = field(default_factory=list)  # time, document, dwell, grade


@dataclass
class Click:
    session: str
    time: int
    document: str
    serp: str | None = None
    dwell: int | None = None
    grade: int = 0
    reason: str | None = None


def attribute(lists: list[Shown], clicks: list[Click], thresholds: tuple[float, ...], *, linked: bool) -> None:
    """Number the lists, give every click its dwell and grade, and put it on its list."""
    for session in {shown.session for shown in lists}:
        mine = [shown for shown in lists if shown.session == session]
        mine.sort(key=lambda shown: (shown.time, shown.serp or "", shown.query, " ".join(shown.documents)))
        for number, shown in enumerate(mine, start=1):
            shown.name = f"{session}-{number}"
    for session in {event.session for event in [*lists, *clicks]}:
        events: list[Any] = [event for event in [*lists, *clicks] if event.session == session]
        events.sort(
            key=lambda event: (
                event.time,
                isinstance(event, Click),
                event.document if isinstance(event, Click) else event.name,
            )
        )
        for event, after in zip(events, [*events[1:], None], strict=True):
            if isinstance(event, Click):
                event.dwell = None if after is None else after.time - event.time
                event.grade = len(thresholds) if after is None else sum(event.dwell >= one for one in thresholds)
    for click in clicks:
        mine = [one for one in lists if one.session == click.session and (not linked or one.serp == click.serp)]
        before = [one for one in mine if one.time <= click.time]
        holding = [one for one in before if click.document in one.documents]
        if not mine:
            click.reason = "has no list in its session"
        elif not before:
            click.reason = "comes before its list"
        elif not holding:
            click.reason = "is on a document that was not shown"
        else:
            last = max(holding, key=lambda one: int(one.name.rpartition("-")[2]))
            last.clicks.append((click.time, click.document, click.dwell, click.grade))


def result_rows(lists: list[Shown], threshold: float) -> dict[tuple[str, str], dict[str, Any]]:
    """What is known of every result, and when."""
    rows = {}
    for shown in lists:
        first = {}
        for time, document, _, _ in sorted(shown.clicks):
            first.setdefault(document, time)
        happy = [(time, document) for time, document, _, grade in shown.clicks if grade]
        for position, document in enumerate(shown.documents, start=1):
            if (shown.name, document) in rows:
                continue  # it has its first position
            own = [click for click in shown.clicks if click[1] == document]
            lower = [other for other in dict.fromkeys(shown.documents) if shown.documents.index(other) >= position]
            below = [first[other] for other in lower if other in first]
            satisfied = [time for time, _, _, grade in own if grade]
            clicked = first.get(document)
            passed = min(below, default=None)
            rows[shown.name, document] = {
                "position": position,
                "clicked_at": clicked,
                "satisfied_at": None if not satisfied else min(satisfied) + max(0, round(threshold) - 1),
                "skipped_at": passed if passed is not None and (clicked is None or clicked > passed) else None,
                "grade": max((grade for *_, grade in own), default=0),
                "last": bool(satisfied) and max(satisfied) == max(time for time, _ in happy),
                "shown": shown,
            }
    return rows


def feature_rows(
    lists: list[Shown], threshold: float, clock: str | None, seconds: float
) -> dict[Any, dict[str, float]]:
    """Every feature of every result, each counted anew from all events."""
    known = result_rows(lists, threshold)
    events = []
    for (name, document), row in known.items():
        shown = row["shown"]
        times = {
            "shown": shown.time,
            "clicked": row["clicked_at"],
            "satisfied": row["satisfied_at"],
            "skipped": row["skipped_at"],
        }
        for kind, time in times.items():
            if time is not None:
                domain = shown.domains[row["position"] - 1]
                events.append((kind, name, shown, document, domain, time, shown.day if clock == "day" else time))
    rows: dict[Any, dict[str, float]] = {}
    for (name, document), row in known.items():
        shown = row["shown"]
        domain = shown.domains[row["position"] - 1]
        when = shown.day if clock == "day" else shown.time
        scopes = {"session": [e for e in events if e[2].session == shown.session and e[5] < shown.time]}
        if clock and shown.user is not None:
            scopes["user"] = [e for e in events if e[2].user == shown.user and e[6] < when]
        out: dict[str, float] = {"position": row["position"]}
        for scope, before in scopes.items():
            for kind in ("shown", "clicked", "satisfied", "skipped"):
                of = [e for e in before if e[0] == kind]
                out[f"{scope}_document_{kind}"] = sum(e[3] == document for e in of)
                out[f"{scope}_domain_{kind}"] = sum(e[4] == domain for e in of)
                out[f"{scope}_pair_{kind}"] = sum(e[3] == document and e[2].query == shown.query for e in of)
            listed = {e[1]: e[2] for e in before if e[0] == "shown"}
            clicked = [e for e in before if e[0] == "clicked"]
            out[f"{scope}_lists"], out[f"{scope}_clicks"] = len(listed), len(clicked)
            out[f"{scope}_query_lists"] = sum(one.query == shown.query for one in listed.values())
            out[f"{scope}_query_clicks"] = sum(e[2].query == shown.query for e in clicked)
        _within_session(out, lists, shown, seconds)
        if clock:
            before = [e for e in events if e[6] < when]
            _everybody(out, before, shown, document)
        rows[name, document] = out
    if clock:
        for shown in lists:
            entropies = [
                rows[shown.name, document]["document_entropy"]
                for document in shown.documents
                if rows[shown.name, document]["document_clicked"]
            ]
            for document in shown.documents:
                rows[shown.name, document]["least_entropy"] = min(entropies, default=math.nan)
    return rows


def _within_session(out: dict[str, float], lists: list[Shown], shown: Shown, seconds: float) -> None:
    session = [one for one in lists if one.session == shown.session]
    clicks = [
        (time, one.documents.index(document) + 1)
        for one in session
        for time, document, _, _ in one.clicks
        if time < shown.time
    ]
    last = max(clicks, default=None)
    out["last_click_position"] = last[1] if last else 0
    out["last_click_age"] = (shown.time - last[0]) * seconds if last else math.nan
    before = [one for one in session if one.time < shown.time]
    starts = [one.time for one in before] + [time for time, _ in clicks]
    out["session_age"] = (shown.time - min(starts)) * seconds if starts else 0
    former = max(before, key=lambda one: int(one.name.rpartition("-")[2]), default=None)
    out["previous_query"] = float(former is not None and former.query == shown.query)
    mine, theirs = set(shown.terms), set(former.terms) if former else set()
    out["term_overlap"] = len(mine & theirs) / len(mine | theirs) if former and mine | theirs else 0


def _everybody(out: dict[str, float], before: list[Any], shown: Shown, document: str) -> None:
    clicked = [e for e in before if e[0] == "clicked"]
    of_query = Counter(e[3] for e in clicked if e[2].query == shown.query)
    out["query_lists"] = len({e[1] for e in before if e[0] == "shown" and e[2].query == shown.query})
    out["query_clicks"] = of_query.total()
    out["query_entropy"] = entropy(of_query)
    out["pair_clicked"] = of_query[document]
    satisfied = [e for e in before if e[0] == "satisfied" and e[3] == document]
    out["pair_satisfied"] = sum(e[2].query == shown.query for e in satisfied)
    owners = Counter(e[2].user or e[2].session for e in clicked if e[3] == document)
    out["document_clicked"] = owners.total()
    out["document_entropy"] = entropy(owners)


def entropy(counts: Counter[str]) -> float:
    """In bits; 0 of nothing."""
    total = counts.total()
    return -sum(n / total * math.log2(n / total) for n in counts.values()) if total else 0.0
