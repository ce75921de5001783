"""Times of events by key, and what everybody was shown and did, for the queries and documents of requests.

Counted are the events strictly before a time. What was asked for last is in memory: as much as fits.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

from surefoot.clicks.features import ROUNDED_DIGITS

LISTS = "lists"  # the key of a query's own lists, beside its documents


class ClickedResult(NamedTuple):
    """A clicked result: whose it was, when by the clock that all sessions share, and when it satisfied."""

    query: str
    document: str
    owner: str  # of a user, or of a session of nobody known
    clicked: int
    satisfied: int | None


def owner_name(user: str | None, session: str) -> str:
    """Whose click it is; event_store.py has the same in SQL."""
    return f"s{session}" if user is None else f"u{user}"


class QueryHistory:
    """The lists that were shown for a query, and what was clicked on them."""

    __slots__ = ("clicked", "lists", "pairs", "satisfied")

    def __init__(self, lists: Iterable[int], clicked: Iterable[ClickedResult]) -> None:
        self.lists, self.satisfied = KeyedTimes(), KeyedTimes()
        for time in sorted(lists):
            self.lists.add(LISTS, time)
        rows = list(clicked)
        self.clicked = Tally((row.clicked, row.document) for row in rows)
        self.pairs = KeyedTimes()
        for row in rows:
            self.pairs.add(row.document, row.clicked)
            if row.satisfied is not None:
                self.satisfied.add(row.document, row.satisfied)

    def change(self, result: ClickedResult, *, add: bool) -> None:
        """Count a click, or no longer."""
        (self.clicked.add if add else self.clicked.remove)(result.clicked, result.document)
        (self.pairs.add if add else self.pairs.remove)(result.document, result.clicked)
        if result.satisfied is not None:
            (self.satisfied.add if add else self.satisfied.remove)(result.document, result.satisfied)


def entropy(total: int, sizes: dict[int, int]) -> float:
    """H = log₂ N − Σ n·log₂ n / N, of N clicks of which `sizes` says how many names have n; 0 where there are none.

    >>> entropy(4, {2: 2}), entropy(0, {})
    (1.0, 0.0)
    """
    if not total:
        return 0.0
    steps = math.fsum(number * size * math.log2(size) for size, number in sizes.items())
    return max(0.0, rounded_number(math.log2(total) - steps / total))


def rounded_number(value: float) -> float:
    """A number rounded as `shards/counting.rounded` does: halves away from zero.

    >>> rounded_number(0.1234565), rounded_number(-0.0000005)
    (0.123457, -1e-06)
    """
    scale = 10.0**ROUNDED_DIGITS
    scaled = value * scale
    whole = math.trunc(scaled)
    if abs(scaled - whole) >= 0.5:
        whole += 1 if scaled > 0 else -1
    return whole / scale


Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by name; of more than `most`, those go that were not used for longest."""

    def __init__(self, most: int) -> None:
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._most = most

    def get(self, name: str) -> Value | None:
        """The value of a name, if it is there."""
        value = self._values.get(name)
        if value is not None:
            self._values.move_to_end(name)
        return value

    def keep(self, name: str, value: Value) -> Value:
        """Keep a value under a name."""
        self._values[name] = value
        self._values.move_to_end(name)
        if len(self._values) > self._most:
            self._values.popitem(last=False)
        return value

    def drop(self, name: str) -> None:
        """Forget a value, if it is there."""
        self._values.pop(name, None)

    def clear(self) -> None:
        """Forget all."""
        self._values.clear()


class KeyedTimes:
    """The times of the events of each key."""

    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times: dict[Hashable, array[int]] = {}

    def add(self, key: Hashable, time: int) -> None:
        """One event more."""
        times = self._times.get(key)
        if times is None:
            self._times[key] = array("q", (time,))
        elif time >= times[-1]:
            times.append(time)
        else:
            insort(times, time)

    def remove(self, key: Hashable, time: int) -> None:
        """One event less, which is there."""
        times = self._times[key]
        del times[bisect_left(times, time)]
        if not times:
            del self._times[key]

    def before(self, key: Hashable, time: int) -> int:
        """How many events of a key came before a time."""
        return bisect_left(self._times.get(key, ()), time)


class Tally:
    """Events in order of time, and whose each was."""

    __slots__ = ("_counts", "_names", "_sizes", "_times")

    def __init__(self, events: Iterable[tuple[int, str]] = ()) -> None:
        """`events` have a time and a name, in any order."""
        ordered = sorted(events)
        self._times = array("q", (time for time, _ in ordered))
        self._names = [name for _, name in ordered]
        self._counts: dict[str, int] = {}
        self._sizes: dict[int, int] = {}  # how many names have how many events
        for name in self._names:
            self._count(name, 1)

    def _count(self, name: str, change: int) -> None:
        before = self._counts.get(name, 0)
        _move(self._sizes, before, before + change)
        if before + change:
            self._counts[name] = before + change
        else:
            del self._counts[name]

    def add(self, time: int, name: str) -> None:
        """One event more."""
        place = len(self._times) if not self._times or time >= self._times[-1] else bisect_left(self._times, time)
        self._times.insert(place, time)
        self._names.insert(place, name)
        self._count(name, 1)

    def remove(self, time: int, name: str) -> None:
        """One event less, which is there."""
        place = self._names.index(name, bisect_left(self._times, time))
        del self._times[place], self._names[place]
        self._count(name, -1)

    def before(self, time: int) -> TallyBefore:
        """The events before a time."""
        place = bisect_left(self._times, time)
        if place == len(self._times):
            return TallyBefore(place, self._counts, self._sizes, {})
        if place < len(self._times) - place:
            counts: dict[str, int] = {}
            sizes: dict[int, int] = {}
            for name in self._names[:place]:
                counts[name] = counts.get(name, 0) + 1
            for size in counts.values():
                sizes[size] = sizes.get(size, 0) + 1
            return TallyBefore(place, counts, sizes, {})
        late: dict[str, int] = {}
        for name in self._names[place:]:
            late[name] = late.get(name, 0) + 1
        sizes = dict(self._sizes)
        for name, number in late.items():
            _move(sizes, self._counts[name], self._counts[name] - number)
        return TallyBefore(place, self._counts, sizes, late)


class TallyBefore:
    """A tally as it was before some time."""

    __slots__ = ("_counts", "_late", "sizes", "total")

    def __init__(self, total: int, counts: dict[str, int], sizes: dict[int, int], late: dict[str, int]) -> None:
        self.total, self.sizes = total, sizes  # all events; how many names have how many
        self._counts, self._late = counts, late

    def count(self, name: str) -> int:
        """The events of one name."""
        return self._counts.get(name, 0) - self._late.get(name, 0)

    def sizes_with_one_for_two(self, first: str, second: str) -> dict[int, int]:
        """`sizes` if the events of both names were of one."""
        sizes, one, other = dict(self.sizes), self.count(first), self.count(second)
        _move(sizes, one, one + other)
        _move(sizes, other, 0)
        return sizes


def _move(sizes: dict[int, int], before: int, after: int) -> None:
    """Count a name under another number of events; those of none are not counted."""
    if before:
        if sizes[before] == 1:
            del sizes[before]
        else:
            sizes[before] -= 1
    if after:
        sizes[after] = sizes.get(after, 0) + 1
