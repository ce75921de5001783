"""How many events of the same key came strictly before: differences of places in arrays sorted by key and time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.arrays import CompactInts, Flags, Floats, Ints, compact_type

_LARGEST = np.iinfo(np.int64).max
_MOMENTS_PER_EVENT = 4  # keys and times per event for which a table takes no more memory than the events


def codes_of(*texts: pl.Series) -> list[Ints]:
    """Texts of several columns as integers: the same for the same text; no text is a text of its own.

    >>> first, second = codes_of(pl.Series(["b", None]), pl.Series(["a", "b"]))
    >>> bool(first[0] == second[1]), len({*first.tolist(), *second.tolist()})
    (True, 3)
    """
    joined = pl.concat([series.rename("") for series in texts]).cast(_new_categories()).to_physical()
    first_free = -1 if joined.null_count() == len(joined) else int(joined.max())  # type: ignore[arg-type]
    codes = joined.cast(pl.Int64).fill_null(first_free + 1).to_numpy()
    return np.split(codes, np.cumsum([len(series) for series in texts])[:-1])


def _new_categories() -> Any:
    """Categories of one column alone: Polars would number the texts of all columns together, and keep them."""
    own = getattr(pl, "Categories", None)  # Polars before 1.32 has none, and numbers each column by itself
    return pl.Categorical if own is None else pl.Categorical(own.random())


def joint_codes(first: Ints, second: Ints) -> Ints:
    """Two keys as one integer for each pair."""
    width = int(second.max()) + 1 if len(second) else 1
    return first * width + second


def ranks(values: Ints) -> Ints:
    """Integers without gaps, from 0, in the same order.

    >>> ranks(np.array([70, 5, 70])).tolist()
    [1, 0, 1]
    """
    return pl.Series(values).rank("dense").cast(pl.Int64).to_numpy() - 1


def first_rows(codes: Ints) -> Ints:
    """For each code from 0 the first row that has it; codes have no gaps.

    >>> first_rows(np.array([1, 0, 1])).tolist()
    [1, 0]
    """
    rows = np.zeros(int(codes.max()) + 1 if len(codes) else 0, dtype=np.int64)
    rows[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return rows


def segment_starts(new: Flags) -> Ints:
    """For each place the first place of its segment; `new` is true where one begins."""
    return np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))


def begins(values: npt.NDArray[Any]) -> Flags:
    """Where a sorted array has another value than before."""
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def sorting_order(values: Ints) -> Ints:
    """The places of the values in ascending order, of equal ones in theirs; on all cores, unlike NumPy's."""
    return pl.DataFrame({"": values}).select(pl.arg_sort_by("", maintain_order=True)).to_series().to_numpy()


def places_of(values: Ints, ordered: Ints) -> Ints:
    """Where each value is in a sorted array, or would be; asked in order, which finds the next one near the last.

    >>> places_of(np.array([7, 2, 5]), np.array([2, 5])).tolist()
    [2, 0, 1]
    """
    order = sorting_order(values)
    places = np.empty(len(values), dtype=np.int64)
    places[order] = np.searchsorted(ordered, values[order])
    return places


class KeyTimes:
    """Keys and times as single integers that sort by both, for events and for what looks back at them."""

    def __init__(self, keys: int, *times: Ints) -> None:
        """`keys` is how many there are, from 0; `times` are all that will be asked for."""
        every = [part for part in times if len(part)]
        self._first = min((int(part.min()) for part in every), default=0)
        self.span = max((int(part.max()) for part in every), default=0) - self._first + 1
        self._ranks: Ints | None = None
        if not fits(keys, self.span):  # many years in milliseconds, and many keys: of times only the order counts
            self._ranks = np.unique(np.concatenate(every))
            self.span = len(self._ranks)

    def of(self, keys: Ints, times: Ints) -> Ints:
        """The integers of these keys and times."""
        passed = times - self._first if self._ranks is None else np.searchsorted(self._ranks, times)
        return keys * self.span + passed

    def within(self, keys: Ints, times: Ints) -> Ints:
        """The same of any times: one before the first is taken as the first, one after the last as the key's end."""
        if self._ranks is None:
            times = np.clip(times, self._first, self._first + self.span)
        return self.of(keys, times)


def fits(keys: int, span: int) -> bool:
    """Whether keys and times below these numbers have a place in one integer."""
    return keys <= _LARGEST // max(1, span)


class LookingBack:
    """Rows with a key and a time, from which other rows and events of the same key are counted strictly before.

    The key of an event is that of some row at or before it: an event happens to a result that was shown.
    """

    def __init__(self, keys: Ints, times: Ints, *later: Ints) -> None:
        ends = [edge(part) for part in (times, *later) if len(part) for edge in (np.min, np.max)]
        if len(keys) and not fits(int(keys.max()) + 1, int(max(ends)) - int(min(ends)) + 1):
            keys = ranks(keys)
        self._keys = keys
        self._moments = KeyTimes(int(keys.max()) + 1 if len(keys) else 1, times, *later)
        moments = self._moments.of(keys, times)
        # On one core, as every shard is: rows of a list or a session are near each other, which a stable sort uses.
        order = np.argsort(moments, kind="stable")
        new = begins(keys[order])
        # Before the only row of a key nothing happened: an event of the key comes after it.
        kept = ~(new & np.append(new[1:], True)) if len(new) else new
        self._order = order[kept]
        self._looks_back = np.zeros(len(keys), dtype=bool)
        self._looks_back[self._order] = True
        self._sorted = moments[self._order]
        self._key_start = segment_starts(new[kept])

    def rows_before(self) -> Ints:
        """For each row how many rows came before it."""
        return self._unsorted(segment_starts(begins(self._sorted)) - self._key_start)

    def events_before(self, of_rows: Ints, times: Ints) -> Ints:
        """For each row how many events came before it: each of the key of a row, at a time of its own."""
        seen = self._looks_back[of_rows]
        moments = np.sort(self._moments.of(self._keys[of_rows[seen]], times[seen]))
        places = np.searchsorted(self._sorted, moments, side="right")  # of the first row that looks back at each
        passed = np.cumsum(np.bincount(places, minlength=len(self._sorted) + 1)[:-1])
        return self._unsorted(passed - passed[self._key_start])

    def _unsorted(self, values: Ints) -> Ints:
        result = np.zeros(len(self._keys), dtype=np.int64)
        result[self._order] = values
        return result


class EventIndex:
    """Events of everybody by key and time, which rows of any shard look back at; `values` are added up."""

    def __init__(self, keys: Ints, times: Ints, values: Floats | None = None) -> None:
        self._keys = int(keys.max()) + 1 if len(keys) else 0
        moments = KeyTimes(self._keys, times)
        few = self._keys * moments.span <= _MOMENTS_PER_EVENT * len(keys)
        columns = {"moment": moments.of(keys, times), "key": keys, "time": times}
        events = pl.DataFrame(columns if values is None else columns | {"value": values})
        if values is not None or not few:
            events = events.sort("moment", maintain_order=True)  # on all cores, unlike NumPy's
        self._places: PlaceTable | PlaceSearch = (PlaceTable if few else PlaceSearch)(moments, self._keys, events)
        self._sums: Floats | None = None
        if values is not None:  # added up key by key: a sum over all keys would lose digits
            self._sums = events.select(pl.col("value").cum_sum().over("key")).to_series().to_numpy()

    def before(self, keys: Ints, times: Ints) -> tuple[Ints, Floats | None]:
        """For each key and time the number of its events before, and the sum of their values; key −1 has none."""
        known = np.flatnonzero((keys >= 0) & (keys < self._keys))
        counts, sums = np.zeros(len(keys), dtype=np.int64), None
        starts, places = self._places.of(keys[known], times[known])
        counts[known] = places - starts
        if self._sums is not None:
            sums = np.zeros(len(keys))
            some = places > starts
            sums[known[some]] = self._sums[places[some] - 1]
        return counts, sums


class PlaceTable:
    """How many events come before each key and time, as a table of all of them: days are few, for instance."""

    def __init__(self, moments: KeyTimes, n_keys: int, events: pl.DataFrame) -> None:
        self._moments = moments
        counts = np.bincount(events["moment"].to_numpy(), minlength=n_keys * moments.span)
        self._before: CompactInts = np.zeros(len(counts) + 1, dtype=compact_type(len(events) + 1))
        np.cumsum(counts, out=self._before[1:])

    def of(self, keys: Ints, times: Ints) -> tuple[CompactInts, CompactInts]:
        """The number of events before each key, and before each key and time."""
        return self._before[keys * self._moments.span], self._before[self._moments.within(keys, times)]


class PlaceSearch:
    """The same by a search in the sorted events."""

    def __init__(self, moments: KeyTimes, n_keys: int, events: pl.DataFrame) -> None:
        self._moments = moments
        self._sorted, keys, times = (events[name].to_numpy() for name in ("moment", "key", "time"))
        self._starts = np.searchsorted(keys, np.arange(n_keys + 1))
        some = self._starts[:-1] < self._starts[1:]  # keys with an event
        self._first, self._last = np.full(n_keys, _LARGEST), np.full(n_keys, -_LARGEST)
        self._first[some], self._last[some] = times[self._starts[:-1][some]], times[self._starts[1:][some] - 1]

    def of(self, keys: Ints, times: Ints) -> tuple[Ints, Ints]:
        """Most times are before all events of their key, or after all of them: only the others are searched for."""
        after_all = times > self._last[keys]
        places = self._starts[keys + after_all]
        between = np.flatnonzero(~after_all & (times > self._first[keys]))
        places[between] = places_of(self._moments.of(keys[between], times[between]), self._sorted)
        return self._starts[keys], places


def feature(values: npt.NDArray[Any], valid: Flags | None = None) -> pl.Series:
    """Numbers as a column of features: 32-bit floats, null where they are not valid."""
    numbers = values.astype(np.float32)
    return pl.Series(numbers) if valid is None else nullable(numbers, valid)


def nullable(values: npt.NDArray[Any], valid: Flags) -> pl.Series:
    """Numbers as a column, null where they are not valid."""
    return pl.select(pl.when(pl.Series(valid)).then(pl.Series(values))).to_series()


def rounded(values: Floats, digits: int) -> Floats:
    """Rounded as databases do: halves away from zero.

    >>> rounded(np.array([0.25, -0.25, 0.35]), 1).tolist()
    [0.3, -0.3, 0.4]
    """
    scale = 10.0**digits
    scaled = values * scale
    whole = np.trunc(scaled)
    return np.asarray(np.where(np.abs(scaled - whole) >= 0.5, whole + np.sign(scaled), whole) / scale)
