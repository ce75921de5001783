"""What one session, or one user, was shown and did: results by document and by domain, and times by query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from surefoot.clicks.served.key_times import KeyedTimes
from surefoot.clicks.served.session_events import SessionEvents, ShownEvent, ShownResult


class Behaviour:
    """Results by key; all times are of the session's clock, or of the one that all sessions share."""

    __slots__ = ("_documents", "_domains", "clicks", "lists")

    def __init__(self) -> None:
        self._documents: dict[str, list[ShownResult]] = {}
        self._domains: dict[str | None, list[ShownResult]] = {}
        self.lists, self.clicks = KeyedTimes(), KeyedTimes()  # by query, and under None in all

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

    @classmethod
    def of(cls, session: SessionEvents, *, shared: bool) -> Behaviour:
        """That of one session: by its own time, or by the clock that all sessions share."""
        made = cls()
        day = session.day if shared and session.facts.shared_clock == "day" else None
        made.add(session.results, session.lists, day)
        return made


def counts_before(results: Iterable[ShownResult], time: int) -> list[float]:
    """How many results were shown, clicked, satisfied and skipped before a time."""
    counts = [0.0, 0.0, 0.0, 0.0]
    for result in results:
        times = result.shown, result.clicked, result.satisfied, result.skipped
        for kind, at in enumerate(times):
            if at is not None and at < time:
                counts[kind] += 1.0
    return counts
