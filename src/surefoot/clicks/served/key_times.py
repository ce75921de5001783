"""The times of events by key, from which those strictly before a time are counted."""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable


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
