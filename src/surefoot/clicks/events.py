"""Events and requests as a program gives them one by one: plain mappings, checked strictly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arguments import finite_number
from surefoot.clicks.log import CLICKS, LISTS
from surefoot.clicks.served.session_events import ClickEvent, Event, ShownEvent
from surefoot.errors import ArgumentError, did_you_mean, name_list, shortened

_TIMES = 10**15  # beyond that a log has none
_YEARS_BEFORE = 20  # that a time may be before the log: seconds for milliseconds would be in 1970
_YEARS_AFTER = 100  # that it may be after: milliseconds for seconds are tens of thousands
_YEAR = 365.25 * 86_400
_LARGEST_SCORE = float(np.finfo(np.float32).max)  # features are 32-bit floats
ARRAY_COLUMNS = tuple(name for name, kind in LISTS.items() if kind.startswith("array"))


@dataclass(frozen=True)
class LogFacts:
    """What is known of a log besides its events; see `Log`. `thresholds` of dwell are in its units of time."""

    shared_clock: str | None
    seconds: float
    linked: bool
    users: bool
    domains: bool
    terms: bool
    scores: bool
    thresholds: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse what no log has, as a file that was changed may say."""
        numbers = [self.seconds, *self.thresholds]
        if not all(type(number) in (int, float) and 0 <= number < _TIMES for number in numbers) or not self.seconds:
            raise ValueError(f"a log's seconds and thresholds cannot be {shortened(numbers)}")
        flags = [self.linked, self.users, self.domains, self.terms, self.scores]
        if self.shared_clock not in (None, "time", "day") or not all(type(flag) is bool for flag in flags):
            raise ValueError(f"a log's clock and what it knows cannot be {shortened([self.shared_clock, *flags])}")
        if not self.thresholds:
            raise ValueError("a log has a dwell that satisfies")

    def shared_time(self, event: ShownEvent | ShownRequest) -> int:
        """When a list was shown by the clock that all sessions share."""
        return int(event.day or 0) if self.shared_clock == "day" else event.time


def checked_events(events: Any, facts: LogFacts, span: ClockSpan | None = None) -> list[Event]:
    """The events, numbered in their order; one that is wrong refuses all, with its place and what is wrong with it.

    `span` is when the log's lists were shown, where its sessions share a clock.
    """
    if isinstance(events, Mapping):
        events = [events]
    if isinstance(events, str | bytes) or not isinstance(events, Iterable):
        raise ArgumentError(f"expected an event or a list of events, found {shortened(events)}")
    events = list(events)
    rows: list[Event] = []
    for number, event in enumerate(events):
        try:
            is_list, row = _event(event, facts)
            if span is not None:
                span.check(row[span.name])
        except ArgumentError as error:
            raise ArgumentError(f"event {number + 1} of {len(events)}: {error}; no event was added") from error
        rows.append((ShownEvent if is_list else ClickEvent)(**row, number=number))
    return rows


def _event(event: Any, facts: LogFacts, documents: str = "documents") -> tuple[bool, dict[str, Any]]:
    """Whether it is a list, and its values; `documents` is what its sender calls the documents of a list."""
    if not isinstance(event, Mapping):
        raise ArgumentError(f"expected a mapping such as {{'session': …, 'time': …}}, found {shortened(event)}")
    is_list = "documents" in event
    if is_list == ("document" in event):
        raise ArgumentError("expected documents (a list that was shown) or document (a click), one of the two")
    columns = [name for name in (LISTS if is_list else CLICKS) if name != "number"]
    unknown = [name for name in event if name not in columns]
    if unknown:
        raise ArgumentError(
            f"there is no key {shortened(unknown[0])}{did_you_mean(unknown[0], columns) or ';'} a "
            f"{'list' if is_list else 'click'} has {', '.join(columns)}"
        )
    needed = ["session", "time", "query" if is_list else "document"]
    needed += ["list"] if facts.linked else []
    needed += ["day"] if facts.shared_clock == "day" else []
    if is_list:
        needed += [name for name in ("domains", "terms", "scores") if getattr(facts, name)]
    absent = [name for name in needed if event.get(name) is None]
    if absent:
        raise ArgumentError(f"{name_list(absent)} must be given")
    row = {name: _value(name, event.get(name), documents if name == "documents" else name) for name in columns}
    if is_list:
        _check_arrays(row, documents)
    for name, known in (("user", "users"), ("terms", "terms"), ("domains", "domains"), ("scores", "scores")):
        if name in row and not getattr(facts, known):
            row[name] = None  # a log that has none of these counts as if nobody had told them
    return is_list, row


def _value(name: str, value: Any, called: str) -> Any:
    """A value of its column's kind, null as it is; `called` is its name in messages."""
    if value is None:
        return None
    if name in ("time", "day"):
        return whole_number(called, value)
    if name in ARRAY_COLUMNS:
        if hasattr(value, "tolist") or hasattr(value, "to_list"):  # of NumPy, pandas or Polars
            value = value.tolist() if hasattr(value, "tolist") else value.to_list()
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise ArgumentError(f"{called} is {shortened(value)}; expected an array")
        return tuple(_score(item) if name == "scores" else text(called, item) for item in value)
    return text(called, value)


def whole_number(name: str, value: Any) -> int:
    """A time as the log counts it."""
    number = finite_number(value)
    if number is None or isinstance(value, str | bool) or number != int(number) or not 0 <= number < _TIMES:
        raise ArgumentError(
            f"{name} is {shortened(value)}; expected a whole number from 0 to below 10^15, in the log's unit"
        )
    return int(value)


def _score(value: Any) -> float:
    number = None if isinstance(value, str | bool) else finite_number(value)
    if number is None or abs(number) > _LARGEST_SCORE:
        raise ArgumentError(f"scores has {shortened(value)}; expected finite numbers of at most 3.4e38")
    return number


def text(name: str, value: Any) -> str:
    """An id or a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ArgumentError(f"{name} is {shortened(value)}; expected a text that is not empty")
    if "\0" in value:  # where it ends a text, two ids would become one
        raise ArgumentError(f"{name} is {shortened(value)}; remove the character NUL from it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"{name} has half a character, which cannot be stored") from error
    return value


def _check_arrays(row: Mapping[str, Any], called: str) -> None:
    """Refuse a list of no documents, and domains or scores of another number."""
    documents = row["documents"]
    if not documents:
        raise ArgumentError(f"{called} is empty; a list shows at least one document")
    for name in ("domains", "scores"):
        if row.get(name) is not None and len(row[name]) != len(documents):
            raise ArgumentError(
                f"{called} has {len(documents)} items and {name} has {len(row[name])}; give one for each"
            )


@dataclass(frozen=True)
class ShownRequest:
    """A list that is about to be shown, in the order of the search engine.

    A document that was given twice is there once, with its first position.
    """

    user: str | None
    query: str
    documents: tuple[str, ...]
    time: int
    session: str
    day: int | None = None
    terms: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None
    scores: tuple[float, ...] | None = None
    positions: tuple[int, ...] = ()

    @classmethod
    def checked(cls, facts: LogFacts, session: str | None, **given: Any) -> ShownRequest:
        """A request of valid values with all that the features need; without a session it is one of its own."""
        event = {name: value for name, value in given.items() if value is not None}
        if facts.linked:
            event["list"] = "-"
        event.setdefault("documents", None)
        _, row = _event(event | {"session": "-" if session is None else session}, facts, "results")
        first: dict[str, int] = {}
        for place, document in enumerate(row["documents"]):
            first.setdefault(document, place)
        domains, scores = (
            None if row[name] is None else tuple(row[name][place] for place in first.values())
            for name in ("domains", "scores")
        )
        return cls(
            row["user"], row["query"], tuple(first), row["time"], session or "", row["day"], row["terms"], domains,
            scores, tuple(place + 1 for place in first.values()),
        )  # fmt: skip


@dataclass(frozen=True)
class ClockSpan:
    """The first and last time of a log's lists by the clock that all sessions share; `name` is "time" or "day".

    A log that counts from 0 says little of what cannot be meant.
    """

    name: str
    first: int
    last: int
    seconds: float  # what one unit of `name` lasts

    def check(self, given: int) -> None:
        """Refuse a time that is years away: nothing, or everything, would have happened before it."""
        year = _YEAR / self.seconds
        unit = "days" if self.name == "day" else unit_of_time(self.seconds)
        if not self.first - _YEARS_BEFORE * year <= given <= self.last + _YEARS_AFTER * year:
            raise ArgumentError(
                f"{self.name} is {given}, years away from the log's {self.first} to {self.last}; it counts {unit}, as "
                "the log does"
            )


def unit_of_time(seconds: float) -> str:
    """What a log's times count, in words.

    >>> unit_of_time(0.001), unit_of_time(60)
    ('milliseconds', 'units of 60 s')
    """
    return {1.0: "seconds", 0.001: "milliseconds"}.get(seconds, f"units of {seconds:g} s")
