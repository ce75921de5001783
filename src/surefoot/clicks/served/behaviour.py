"""What one session, or one user, was shown and did: times by document, domain, and query and document."""

from __future__ import annotations

from collections.abc import Iterable

from surefoot.clicks.features import KINDS
from surefoot.clicks.served.key_times import KeyedTimes
from surefoot.clicks.served.session_events import SessionEvents, ShownEvent, ShownResult

KEYS = ("document", "domain", "pair")


class Behaviour:
    """The times of events by key; `day` in place of a time where sessions share only that."""

    __slots__ = ("by_key", "clicks", "lists")

    def __init__(self, *, domains: bool) -> None:
        names = [key for key in KEYS if domains or key != "domain"]
        self.by_key = {key: {kind: KeyedTimes() for kind in KINDS} for key in names}
        self.lists, self.clicks = KeyedTimes(), KeyedTimes()  # by query, and under None in all

    def add(self, results: Iterable[ShownResult], lists: Iterable[ShownEvent], day: int | None = None) -> None:
        """More results and lists; all of them at one day where it is given."""
        for times, key, time in self._events(results, lists, day):
            times.add(key, time)

    def remove(self, results: Iterable[ShownResult], lists: Iterable[ShownEvent], day: int | None = None) -> None:
        """Results and lists that are there."""
        for times, key, time in self._events(results, lists, day):
            times.remove(key, time)

    def _events(
        self, results: Iterable[ShownResult], lists: Iterable[ShownEvent], day: int | None
    ) -> Iterable[tuple[KeyedTimes, object, int]]:
        for result in results:
            keys = {"document": result.document, "domain": result.domain, "pair": (result.query, result.document)}
            times = result.shown, result.clicked, result.satisfied, result.skipped
            for kind, time in zip(KINDS, times, strict=True):
                if time is not None:
                    at = time if day is None else day
                    for key, by_kind in self.by_key.items():
                        yield by_kind[kind], keys[key], at
            if result.clicked is not None:
                at = result.clicked if day is None else day
                yield self.clicks, None, at
                yield self.clicks, result.query, at
        for shown in lists:
            at = shown.time if day is None else day
            yield self.lists, None, at
            yield self.lists, shown.query, at

    @classmethod
    def of(cls, session: SessionEvents, *, shared: bool) -> Behaviour:
        """That of one session: by its own time, or by the clock that all sessions share."""
        made = cls(domains=session.facts.domains)
        day = session.day if shared and session.facts.shared_clock == "day" else None
        made.add(session.results, session.lists, day)
        return made
