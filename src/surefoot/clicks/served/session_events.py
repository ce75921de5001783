"""One session's lists and clicks, and what happened on each list: the rules of `impressions.py`, by plain loops."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from surefoot.clicks.served.tallies import KeyedTimes
from surefoot.errors import DataError, shortened

if TYPE_CHECKING:
    from surefoot.clicks.events import LogFacts


class ShownEvent(NamedTuple):
    """A list that was shown."""

    session: str
    user: str | None
    day: int | None
    time: int
    list: str | None
    query: str
    terms: tuple[str, ...] | None
    documents: tuple[str, ...]
    domains: tuple[str, ...] | None
    scores: tuple[float, ...] | None
    number: int

    @property
    def same(self) -> tuple[object, ...]:
        """What two reports of one list have in common."""
        return self.time, self.list, self.query, self.documents


class ClickEvent(NamedTuple):
    """A click."""

    session: str
    user: str | None
    day: int | None
    time: int
    list: str | None
    document: str
    number: int

    @property
    def same(self) -> tuple[object, ...]:
        """What two reports of one click have in common."""
        return self.time, self.list, self.document


class ShownResult(NamedTuple):
    """A result of a list: when it was shown, and known to be clicked, to have satisfied and to be skipped."""

    query: str
    document: str
    domain: str | None
    shown: int
    clicked: int | None
    satisfied: int | None
    skipped: int | None

    def at_day(self, day: int) -> ShownResult:
        """The same with a day in place of each time."""
        clicked, satisfied, skipped = (None if time is None else day for time in self[4:])
        return ShownResult(self.query, self.document, self.domain, day, clicked, satisfied, skipped)


Event = ShownEvent | ClickEvent  # `same` of one is never that of the other: they differ in length
MOST_OF_SESSION = 10_000  # events: every request of a session looks at all of them
_FURTHER = ("day", "terms", "domains", "scores")  # what two reports of one event may not contradict each other in


class SessionEvents:
    """What is known of a session; it does not change, but `with_events` gives one that knows more."""

    def __init__(self, facts: LogFacts, user: str | None = None, events: Sequence[Event] = ()) -> None:
        self.facts, self.user, self._events = facts, user, events
        clicks = [event for event in events if isinstance(event, ClickEvent)]
        self.lists = sorted((event for event in events if isinstance(event, ShownEvent)), key=_list_order)
        self.clicks = sorted(clicks, key=lambda click: (click.time, click.document, click.number))

    @property
    def known(self) -> bool:
        """Whether it has any event."""
        return bool(self._events)

    @property
    def day(self) -> int | None:
        """The day of its events, where the log counts days."""
        if self.lists:
            return self.lists[0].day
        return self.clicks[0].day if self.clicks else None

    @property
    def shared_day(self) -> int | None:
        """Its day, where days are what all sessions share."""
        return self.day if self.facts.shared_clock == "day" else None

    def with_events(self, events: Iterable[Event]) -> tuple[SessionEvents, list[Event]]:
        """The session with more events, and which of them are new; one that contradicts what is known is refused."""
        known: dict[tuple[object, ...], Event] = {one.same: one for one in self._events}
        user, day = self.user, self.day
        new: list[Event] = []
        for event in events:
            user = user or event.user
            if event.user not in (None, user):
                raise DataError(
                    f"session {shortened(event.session)} is of user {shortened(user)} and of user "
                    f"{shortened(event.user)}; a session has one user, so none of these events was added"
                )
            if event.same in known:
                _check_alike(known[event.same], event)
                continue
            if self.facts.shared_clock == "day" and day not in (None, event.day):
                raise DataError(
                    f"session {shortened(event.session)} is of day {day} and of day {event.day}; a session has one "
                    "day, so none of these events was added"
                )
            day = event.day
            known[event.same] = event
            new.append(event)
        if user == self.user and not new:
            return self, []
        if new and len(known) > MOST_OF_SESSION:
            raise DataError(
                f"session {shortened(event.session)} would have {len(known):,} events, and a session has "
                f"at most {MOST_OF_SESSION:,}; begin a new session, as none of these events was added"
            )
        return SessionEvents(self.facts, user, list(known.values())), new

    @cached_property
    def behaviour(self) -> Behaviour:
        """What was shown and done, by the session's own time."""
        return Behaviour(self.results, self.lists)

    @cached_property
    def shared_behaviour(self) -> Behaviour:
        """The same by the clock that all sessions share."""
        return Behaviour(self.results, self.lists, self.shared_day)

    @cached_property
    def _happened(self) -> tuple[list[ShownResult], list[tuple[int, int]]]:
        by_list: list[dict[str, int]] = []  # the first position of each document
        for shown in self.lists:
            positions: dict[str, int] = {}
            for position, document in enumerate(shown.documents, start=1):
                positions.setdefault(document, position)
            by_list.append(positions)
        clicked: list[dict[str, int]] = [{} for _ in self.lists]
        satisfied: list[dict[str, int]] = [{} for _ in self.lists]
        places = []
        threshold = self.facts.thresholds[0]
        known_after = max(0, math.ceil(threshold) - 1)
        for click, dwell in zip(self.clicks, self._dwells(), strict=True):
            place = self._place(click, by_list)
            if place is None:
                continue
            places.append((click.time, by_list[place][click.document]))
            first = clicked[place].get(click.document)
            if first is None or click.time < first:
                clicked[place][click.document] = click.time
            if dwell is None or dwell >= threshold:
                known = click.time + known_after
                satisfied[place][click.document] = min(satisfied[place].get(click.document, known), known)
        results: list[ShownResult] = []
        for place, shown in enumerate(self.lists):
            below: int | None = None  # the first click on a lower result
            mine = []
            for document, position in reversed(by_list[place].items()):
                at = clicked[place].get(document)
                skipped = below if below is not None and (at is None or at > below) else None
                domain = None if shown.domains is None else shown.domains[position - 1]
                mine.append(
                    ShownResult(
                        shown.query, document, domain, shown.time, at, satisfied[place].get(document), skipped
                    )
                )  # fmt: skip
                below = at if below is None else below if at is None else min(at, below)
            results += reversed(mine)
        return results, places

    @property
    def results(self) -> list[ShownResult]:
        """The results of all lists, in order."""
        return self._happened[0]

    @property
    def click_places(self) -> list[tuple[int, int]]:
        """The times, in order, and positions of the clicks that belong to a list."""
        return self._happened[1]

    def _dwells(self) -> Iterable[int | None]:
        """For each click the time to the session's next event; none for the last."""
        list_times = [shown.time for shown in self.lists]
        next_list = 0
        for number, click in enumerate(self.clicks):
            while next_list < len(list_times) and list_times[next_list] <= click.time:  # lists come before clicks
                next_list += 1
            following = [self.clicks[number + 1].time] if number + 1 < len(self.clicks) else []
            following += list_times[next_list : next_list + 1]
            yield min(following) - click.time if following else None

    def _place(self, click: ClickEvent, by_list: list[dict[str, int]]) -> int | None:
        """The last list, shown at or before a click, that holds its document."""
        for place in range(len(self.lists) - 1, -1, -1):
            shown = self.lists[place]
            named = not self.facts.linked or shown.list == click.list
            if named and shown.time <= click.time and click.document in by_list[place]:
                return place
        return None


def _list_order(shown: ShownEvent) -> tuple[object, ...]:
    return shown.time, shown.list is None, shown.list or "", shown.query, " ".join(shown.documents), shown.number


def _check_alike(known: Event, again: Event) -> None:
    """Refuse a repeated event that says something else than before."""
    for name in _FURTHER:
        before, now = getattr(known, name, None), getattr(again, name, None)
        if before is not None and now is not None and before != now:
            what = "list" if isinstance(known, ShownEvent) else "click"
            raise DataError(
                f"a {what} of session {shortened(again.session)} at time {again.time} is known with other {name}: "
                f"{shortened(before)}, now {shortened(now)}; none of these events was added"
            )


class Behaviour:
    """Results by key; all times are of the session's clock, or of the one that all sessions share."""

    __slots__ = ("_documents", "_domains", "clicks", "lists")

    def __init__(
        self, results: Iterable[ShownResult] = (), lists: Iterable[ShownEvent] = (), day: int | None = None
    ) -> None:
        self._documents: dict[str, list[ShownResult]] = {}
        self._domains: dict[str | None, list[ShownResult]] = {}
        self.lists, self.clicks = KeyedTimes(), KeyedTimes()  # by query, and under None in all
        self.add(results, lists, day)

    def add(self, results: Iterable[ShownResult], lists: Iterable[ShownEvent], day: int | None = None) -> None:
        """More results and lists; all of them at one day where it is given."""
        for result in results:
            one = result if day is None else result.at_day(day)
            self._documents.setdefault(one.document, []).append(one)
            self._domains.setdefault(one.domain, []).append(one)
            if one.clicked is not None:
                self.clicks.add(None, one.clicked)
                self.clicks.add(one.query, one.clicked)
        for shown in lists:
            at = shown.time if day is None else day
            self.lists.add(None, at)
            self.lists.add(shown.query, at)

    def remove(self, results: Iterable[ShownResult], day: int | None = None) -> None:
        """Results that are there."""
        for result in results:
            one = result if day is None else result.at_day(day)
            self._documents[one.document].remove(one)
            self._domains[one.domain].remove(one)
            if one.clicked is not None:
                self.clicks.remove(None, one.clicked)
                self.clicks.remove(one.query, one.clicked)

    def of_document(self, document: str) -> Sequence[ShownResult]:
        """Its results with this document."""
        return self._documents.get(document, ())

    def of_domain(self, domain: str | None) -> Sequence[ShownResult]:
        """Its results with this domain."""
        return self._domains.get(domain, ())


def counts_before(results: Iterable[ShownResult], time: int) -> list[float]:
    """How many results were shown, clicked, satisfied and skipped before a time."""
    counts = [0.0, 0.0, 0.0, 0.0]
    for result in results:
        for kind, at in enumerate((result.shown, result.clicked, result.satisfied, result.skipped)):
            if at is not None and at < time:
                counts[kind] += 1.0
    return counts
