"""What a log showed and clicked, which grows event by event, and features from it.

Events are in a DuckDB file (`served/event_store.py`), and what requests are about is in memory too: sessions, users,
queries and documents, each made of the file's events when it is first asked for, and changed by every event that comes
later. So late events and those out of order need no rule of their own: an event counts from its own time on, whenever
it arrives. A list's features come from events strictly before it, by the rules of a whole log's table.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.clicks.events import LogFacts, ShownRequest, checked_events
from surefoot.clicks.features import KINDS, POSITIONS_TOLD_APART, catalogue
from surefoot.clicks.served.event_store import AddedEvents, EventStore
from surefoot.clicks.served.session_events import Behaviour, Event, SessionEvents, counts_before
from surefoot.clicks.served.tallies import (
    LISTS,
    ClickedResult,
    QueryHistory,
    Recent,
    Tally,
    Value,
    entropy,
    owner_name,
    rounded_number,
)
from surefoot.errors import ArgumentError, DataError, shortened

FeatureColumns = dict[str, list[float]]
_SESSIONS, _USERS, _QUERIES, _DOCUMENTS = 10_000, 5_000, 20_000, 100_000  # that are in memory at most


class ClickState:
    """The events of a log and the features that they give; one program at a time may have its file open.

    Objects of one file in one program share what they know, so that each sees the events of the others at once.
    """

    def __init__(self, path: Path, facts: LogFacts, *, read_only: bool = False) -> None:
        self.path, self.facts, self.read_only = path, facts, read_only
        with _OPENING:
            key = path.resolve(), facts, read_only
            shared = _OPEN.get(key)
            if shared is None or not shared.users_of_file:
                shared = _OPEN[key] = LiveCounts(EventStore(path, facts, read_only=read_only), facts)
            shared.users_of_file += 1
        self._shared: LiveCounts | None = shared

    def close(self) -> None:
        """Let go of the file."""
        with _OPENING:
            shared, self._shared = self._shared, None
            if shared is not None:
                shared.users_of_file -= 1
                if not shared.users_of_file:
                    with shared.writing, shared.lock:
                        shared.store.close()

    def update(self, events: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> dict[str, int]:
        """Add events, all or none of them; returns how many were `added`, and how many were there already."""
        live = self._live()
        if self.read_only:
            raise ArgumentError("the model was opened with read_only, so it takes no events; open it without")
        return live.update(checked_events(events, self.facts, live.store.span))

    @property
    def latest(self) -> int:
        """The time, or day, at which the log's last lists were shown; 0 where it says nothing of that."""
        span = self._live().store.span
        return 0 if span is None else span.last

    def matrix(self, request: ShownRequest) -> npt.NDArray[np.float32]:
        """The features of a request's documents, a column each in the catalogue's order; NaN where there is none."""
        return self._live().matrix(request)

    def features(self, request: ShownRequest) -> pl.DataFrame:
        """The documents of a list that is about to be shown, each once, with position and features."""
        frame = pl.DataFrame(self.matrix(request), schema=dict.fromkeys(self._live().names, pl.Float32), orient="row")
        nullable = [name for name in ("last_click_age", "least_entropy") if name in frame.columns]
        frame = frame.with_columns(pl.col(nullable).fill_nan(None))
        return frame.insert_column(0, pl.Series("document", request.documents, dtype=pl.String))

    def _live(self) -> LiveCounts:
        if self._shared is None:
            raise DataError.at(self.path, None, "is closed; load the model again")
        return self._shared


class LiveCounts:
    """A file of events, and in memory what the last requests were about."""

    def __init__(self, store: EventStore, facts: LogFacts) -> None:
        self.store, self.facts = store, facts
        self.lock = threading.RLock()  # of what is in memory, and of reading the file
        self.writing = threading.Lock()  # of one update after the other
        self._saving = False
        self._read_meanwhile: list[tuple[Recent[Any], str]] = []
        self.users_of_file = 0
        self.names = list(catalogue(facts))
        self._sessions: Recent[SessionEvents] = Recent(_SESSIONS)
        self._users: Recent[Behaviour] = Recent(_USERS)
        self._queries: Recent[QueryHistory] = Recent(_QUERIES)
        self._documents: Recent[Tally] = Recent(_DOCUMENTS)

    def update(self, events: list[Event]) -> dict[str, int]:
        """Add checked events; requests are answered while they are written to disk."""
        with self.writing, self.store.reporting():
            with self.lock:
                added = self._added(events)
                number = len(added.events)
                self._saving = bool(number or added.users)
            if not self._saving:
                return {"added": 0, "repeated": len(events)}
            try:
                self.store.save(added)
                with self.lock:
                    self._apply_all(added)
            finally:
                with self.lock:
                    self._saving = False
                    self._read_meanwhile.clear()
        return {"added": number, "repeated": len(events) - number}

    def _added(self, events: list[Event]) -> AddedEvents:
        """What some events change."""
        by_session: dict[str, list[Event]] = {}
        for event in self.store.numbered(events):
            by_session.setdefault(event.session, []).append(event)
        before = self._known_sessions(list(by_session))
        added = AddedEvents(before)
        for name, mine in by_session.items():
            session, new_events = before[name].with_events(mine)
            added.after[name] = session
            added.events += [event._replace(user=session.user) for event in new_events]
            if session.user is not None and before[name].user is None and before[name].known:
                added.users[name] = session.user
            old, new = self._clicked(name, before[name]), self._clicked(name, session)
            if Counter(old) != Counter(new):
                added.clicked[name] = new
                added.no_longer += old
        return added

    def _apply_all(self, added: AddedEvents) -> None:
        self.store.note_changes(added)
        try:
            for memory, name in self._read_meanwhile:  # with the events or without: it is read again
                memory.drop(name)
            for name, session in added.after.items():
                self._apply(name, added.before[name], session, added.clicked.get(name))
        except BaseException:  # half of it is counted: all is read again
            for forgotten in (self._sessions, self._users, self._queries, self._documents):
                forgotten.clear()
            raise

    def _known_sessions(self, names: list[str]) -> dict[str, SessionEvents]:
        known = {name: self._sessions.get(name) for name in names}
        missing = [name for name, session in known.items() if session is None]
        found = self.store.sessions(missing)
        return {name: found[name] if session is None else session for name, session in known.items()}

    def _session(self, name: str) -> SessionEvents:
        if not name:  # a request without a session
            return SessionEvents(self.facts)
        return self._sessions.get(name) or self._sessions.keep(name, self.store.sessions([name])[name])

    def _clicked(self, name: str, session: SessionEvents) -> list[ClickedResult]:
        """The clicked results of a session as population counts see them."""
        owner = owner_name(session.user, name)
        day = session.shared_day
        return [
            ClickedResult(
                one.query, one.document, owner, one.clicked if day is None else day,
                one.satisfied if one.satisfied is None or day is None else day,
            )
            for one in session.results if one.clicked is not None
        ]  # fmt: skip

    def _apply(
        self, name: str, before: SessionEvents, after: SessionEvents, clicked: list[ClickedResult] | None
    ) -> None:
        """Change what is in memory by what a session's events changed."""
        self._sessions.keep(name, after)
        known = Counter(before.lists)
        new_lists = [shown for shown in after.lists if shown not in known]
        if self.facts.shared_clock is not None:
            for shown in new_lists:
                query = self._queries.get(shown.query)
                if query is not None:
                    query.lists.add(LISTS, self.facts.shared_time(shown))
        if clicked is not None:
            old, new = Counter(self._clicked(name, before)), Counter(clicked)
            for rows, add in ((old - new, False), (new - old, True)):
                for row in rows.elements():
                    self._change(row, add=add)
        user = None if after.user is None else self._users.get(after.user)
        if user is not None:
            if before.user is None:  # all of the session was of nobody known until now
                user.add(after.results, after.lists, after.shared_day)
            else:
                old_results, new_results = Counter(before.results), Counter(after.results)
                user.remove((old_results - new_results).elements(), after.shared_day)
                user.add((new_results - old_results).elements(), new_lists, after.shared_day)

    def _change(self, row: ClickedResult, *, add: bool) -> None:
        query, document = self._queries.get(row.query), self._documents.get(row.document)
        if query is not None:
            query.change(row, add=add)
        if document is not None:
            (document.add if add else document.remove)(row.clicked, row.owner)

    def matrix(self, request: ShownRequest) -> npt.NDArray[np.float32]:
        """The features of a request's documents."""
        if self.store.span is not None:
            self.store.span.check(self.facts.shared_time(request))
        with self.lock, self.store.reporting():
            session = self._session(request.session)
            if request.user is None:
                request = replace(request, user=session.user)
            self._check(request, session)
            columns: FeatureColumns = {
                "position": list(request.positions),
                **behaviour_features("session", request, request.time, [session.behaviour]),
                **session_features(request, session),
            }
            if request.scores is not None:
                columns["score"] = list(request.scores)
            if self.facts.shared_clock is not None:
                columns |= self._by_shared_clock(request, session)
        return np.array([columns[name] for name in self.names], dtype=np.float32).T

    def _by_shared_clock(self, request: ShownRequest, session: SessionEvents) -> FeatureColumns:
        """The features that come from the user's other sessions, and from everybody."""
        time = self.facts.shared_time(request)
        # What a session did before its user was known is the user's all the same.
        joins = request.user is not None and session.user is None and session.known
        columns: FeatureColumns = {}
        if self.facts.users:
            parts = [] if request.user is None else [self._recent(self._users, request.user, self._behaviour_of)]
            if joins or not parts:
                parts.append(session.shared_behaviour)
            columns |= behaviour_features("user", request, time, parts)
        query = self._recent(self._queries, request.query, self.store.query)
        documents = {name: self._recent(self._documents, name, self.store.document) for name in request.documents}
        joined = request.session if joins else None
        return columns | everybody_features(request, time, query, documents, joined)

    def _behaviour_of(self, user: str) -> Behaviour:
        known = Behaviour()
        for session in self.store.sessions_of(user):
            known.add(session.results, session.lists, session.shared_day)
        return known

    def _recent(self, memory: Recent[Value], name: str, read: Callable[[str], Value]) -> Value:
        """What is in memory, or is read; while an update is written it may have its events already, or not yet."""
        known = memory.get(name)
        if known is not None:
            return known
        if self._saving:
            self._read_meanwhile.append((memory, name))
        return memory.keep(name, read(name))

    def _check(self, request: ShownRequest, session: SessionEvents) -> None:
        """Refuse a request of another user or day than its session's."""
        for what, known, given in (("user", session.user, request.user), ("day", session.day, request.day)):
            if known is not None and given is not None and known != given:
                raise ArgumentError(
                    f"session {shortened(request.session)} is of {what} {shortened(known)}, not {shortened(given)}; a "
                    f"session has one {what}"
                )


_OPENING = threading.Lock()
_OPEN: WeakValueDictionary[Any, LiveCounts] = WeakValueDictionary()


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
    place = bisect_left(session.click_places, request.time, key=lambda click: click[0])
    values = {
        "last_click_position": 0.0,
        "last_click_age": math.nan,
        "session_age": rounded_number((request.time - lists[0].time) * facts.seconds) if earlier else 0.0,
        "previous_query": float(former is not None and former.query == request.query),
    }
    if place:  # of clicks at one time the lowest counts
        last = max((time, min(position, POSITIONS_TOLD_APART - 1)) for time, position in session.click_places[:place])
        values["last_click_position"] = last[1]
        values["last_click_age"] = rounded_number((request.time - last[0]) * facts.seconds)
    if facts.terms:
        new, old = set(request.terms or ()), set((former.terms or ()) if former else ())
        known = former is not None and bool(new | old)
        values["term_overlap"] = rounded_number(len(new & old) / len(new | old)) if known else 0.0
    return {name: [value] * len(request.documents) for name, value in values.items()}


def everybody_features(
    request: ShownRequest, time: int, query: QueryHistory, documents: Mapping[str, Tally], joined: str | None
) -> FeatureColumns:
    """What everybody did before; `joined` is the session whose clicks are the user's, though not stored so."""
    size, of_query = len(request.documents), query.clicked.before(time)
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
        clicked = documents[document].before(time)
        sizes = clicked.sizes
        if joined is not None:
            sizes = clicked.sizes_with_one_for_two(owner_name(request.user, ""), owner_name(None, joined))
        columns["document_clicked"].append(clicked.total)
        columns["document_entropy"].append(entropy(clicked.total, sizes))
        if clicked.total:
            known.append(columns["document_entropy"][-1])
    columns["least_entropy"] = [min(known, default=math.nan)] * size
    return columns
