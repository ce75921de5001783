"""The lists of a shard and what happened on each: the rules of `clicks/impressions.py`, by sorting arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from surefoot.arrays import Ints
from surefoot.clicks.impressions import NO_LIST, NOT_SHOWN, TOO_EARLY, Satisfaction
from surefoot.clicks.shards.counting import (
    KeyTimes,
    begins,
    codes_of,
    nullable,
    segment_starts,
)

_BETWEEN = "\x01"  # between documents, to compare whole lists
_NEVER = np.iinfo(np.int64).max


def shard_impressions(
    lists: pl.DataFrame, clicks: pl.DataFrame, satisfaction: Satisfaction, *, linked: bool
) -> dict[str, pl.DataFrame]:
    """The lists of a shard, and what happened on each: the tables that `impressions` stores."""
    lists, repeated_lists = _without_repetitions(
        lists.with_columns(joined=pl.col("documents").list.join(_BETWEEN)),
        ["session", "time", "list", "query", "joined"],
    )
    clicks, repeated_clicks = _without_repetitions(clicks, ["session", "time", "list", "document"])
    repeated = pl.concat(
        [
            repeated_lists.select("session", "time", "number", document=pl.lit(None, pl.String)),
            repeated_clicks.select("session", "time", "number", "document"),
        ]
    )
    lists = _numbered(lists.drop("joined"))
    rows, row_list = _results(lists)
    clicks = _with_dwell(lists, clicks, satisfaction)
    clicks, row_of_click = _attributed(lists, rows, row_list, clicks, linked=linked)
    results = _with_clicks(rows, row_list, clicks, row_of_click, satisfaction)
    return {"lists": lists, "clicks": clicks, "results": results, "repeated": repeated}


def _without_repetitions(events: pl.DataFrame, alike: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Events once each, and the repetitions."""
    events = events.sort("number")
    first = events.select(pl.struct(alike).is_first_distinct()).to_series()
    return events.filter(first), events.filter(~first)


def _numbered(lists: pl.DataFrame) -> pl.DataFrame:
    """Lists in order, with their number within the session, from 1, and a name."""
    [session] = codes_of(lists["session"])
    keys = pl.Series("session_code", session), pl.col("documents").list.join(" ").alias("joined")
    order = ["session_code", "time", "list", "query", "joined", "number"]
    lists = lists.with_columns(*keys).sort(order, nulls_last=True)
    new = begins(lists["session_code"].to_numpy())
    lists = lists.with_columns(place=pl.Series(np.arange(len(lists)) - segment_starts(new) + 1))
    name = pl.concat_str("session", pl.lit("-"), pl.col("place").cast(pl.String))
    return lists.with_columns(impression=name).drop("session_code", "joined")


def _results(lists: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    """A row for each result, and the list of each; a document that appears twice in a list has its first position."""
    lengths = lists["documents"].list.len().cast(pl.Int64).to_numpy()
    row_list = np.repeat(np.arange(len(lists)), lengths)
    position = np.arange(len(row_list)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
    about = lists.select("impression", "session", "user", "day", "time", "list", "query", "place")
    rows = about[row_list].with_columns(
        document=_items(lists["documents"], len(row_list)), position=pl.Series(position),
        domain=_items(lists["domains"], len(row_list)), score=_items(lists["scores"], len(row_list)),
    )  # fmt: skip
    if (lists["documents"].list.n_unique() < lists["documents"].list.len()).any():
        first = rows.select(pl.struct("impression", "document").is_first_distinct()).to_series()
        rows, row_list = rows.filter(first), row_list[first.to_numpy()]
    return rows, row_list


def _items(arrays: pl.Series, rows: int) -> pl.Series:
    """The items of each list's array, one row each; null where a log knows none."""
    kind: Any = arrays.dtype
    if arrays.null_count() == len(arrays):
        return pl.Series(arrays.name, [None], dtype=kind.inner).new_from_index(0, rows)
    return arrays.explode()


def _with_dwell(lists: pl.DataFrame, clicks: pl.DataFrame, satisfaction: Satisfaction) -> pl.DataFrame:
    """Clicks with the time to the session's next event, null for the last, and their grade."""
    sessions = codes_of(lists["session"], clicks["session"])
    events = pl.concat(
        [
            frame.select("time", "number", session=pl.Series(codes), kind=pl.lit(kind), tie=tie)
            for kind, (frame, codes, tie) in enumerate(
                zip((lists, clicks), sessions, ("impression", "document"), strict=True)
            )
        ]
    ).sort("session", "time", "kind", "tie", "number")
    following = pl.when(pl.col("session") == pl.col("session").shift(-1)).then(pl.col("time").shift(-1))
    events = events.with_columns(dwell=following - pl.col("time")).filter(pl.col("kind") == 1).sort("number")
    clicks = clicks.sort("number").with_columns(events["dwell"])
    reached = pl.sum_horizontal([(pl.col("dwell") >= one).cast(pl.Int32) for one in satisfaction.thresholds])
    highest = len(satisfaction.thresholds) if satisfaction.last else 0
    grade = pl.when(pl.col("dwell").is_null()).then(pl.lit(highest, pl.Int32)).otherwise(reached.cast(pl.Int32))
    return clicks.with_columns(grade=grade)


def _attributed(
    lists: pl.DataFrame, rows: pl.DataFrame, row_list: Ints, clicks: pl.DataFrame, *, linked: bool
) -> tuple[pl.DataFrame, Ints]:
    """Clicks with the list that each belongs to and its position there, or the reason why it belongs to none.

    Also the row of each click's result, −1 where there is none.
    """
    of_list, of_click = codes_of(lists["session"], clicks["session"])
    if linked:
        names = codes_of(lists["list"], clicks["list"])
        width = max((int(part.max()) for part in names if len(part)), default=0) + 1
        of_list, of_click = (codes * width + name for codes, name in zip((of_list, of_click), names, strict=True))
    time, at = lists["time"].to_numpy(), clicks["time"].to_numpy()
    first = _least(of_list, time, of_click)
    found = _last_row(of_list, time, rows, row_list, clicks, of_click)
    missing = found < 0
    nothing = pl.Series(missing)
    columns = rows.select("place", "position", "impression")
    if not len(columns):  # clicks alone: there is no row to take, not even for nothing
        columns = columns.clear(1)
    taken = columns[np.where(missing, 0, found)]
    clicks = clicks.with_columns(
        place=pl.when(~nothing).then(taken["place"]), first=nullable(first, first < _NEVER),
        position=pl.when(~nothing).then(taken["position"]), impression=pl.when(~nothing).then(taken["impression"]),
    )  # fmt: skip
    reason = (
        pl.when(pl.Series(first == _NEVER)).then(pl.lit(NO_LIST)).when(pl.Series(first > at)).then(pl.lit(TOO_EARLY))
        .when(nothing).then(pl.lit(NOT_SHOWN))
    )  # fmt: skip
    return clicks.with_columns(reason=reason), found


def _least(keys: Ints, times: Ints, wanted: Ints) -> Ints:
    """The first time of each wanted key, `_NEVER` where there is none."""
    unique, inverse = np.unique(keys, return_inverse=True)
    least = np.full(len(unique) + 1, _NEVER)
    np.minimum.at(least, inverse, times)
    places = np.searchsorted(unique, wanted)
    known = places < len(unique)
    known[known] = unique[places[known]] == wanted[known]
    return least[np.where(known, places, len(unique))]


def _last_row(
    of_list: Ints, time: Ints, rows: pl.DataFrame, row_list: Ints, clicks: pl.DataFrame, of_click: Ints
) -> Ints:
    """The row of the last list, shown at or before each click, that holds its document; −1 where none does."""
    of_row, of_document = codes_of(rows["document"], clicks["document"])
    width = max((int(part.max()) for part in (of_row, of_document) if len(part)), default=0) + 1
    keys, wanted = of_list[row_list] * width + of_row, of_click * width + of_document
    unique = np.unique(wanted)
    places = np.searchsorted(unique, keys)
    places[places == len(unique)] = 0
    candidates = np.flatnonzero(unique[places] == keys) if len(unique) else np.empty(0, dtype=np.int64)
    if not len(candidates):
        return np.full(len(clicks), -1)
    at = clicks["time"].to_numpy()
    shown = time[row_list[candidates]]
    moments = KeyTimes(len(unique), shown, at)
    # Lists of a session are in order of time and place: of rows at one time the last one is that of the last list.
    order = np.lexsort((candidates, moments.of(places[candidates], shown)))
    candidates, key = candidates[order], places[candidates[order]]
    wanted = np.searchsorted(unique, wanted)
    last = np.searchsorted(moments.of(key, time[row_list[candidates]]), moments.of(wanted, at), side="right") - 1
    holds = (last >= 0) & (key[last] == wanted)
    return np.where(holds, candidates[last], -1)


def _with_clicks(
    rows: pl.DataFrame, row_list: Ints, clicks: pl.DataFrame, row_of_click: Ints, satisfaction: Satisfaction
) -> pl.DataFrame:
    """Results with what was known of each, and when."""
    kept = row_of_click >= 0
    row, at = row_of_click[kept], clicks["time"].to_numpy()[kept]
    grade = clicks["grade"].to_numpy()[kept]
    happy = grade > 0
    clicked_at = _extreme(np.minimum, _NEVER, len(rows), row, at)
    # Without an event before the threshold the click has satisfied, whatever comes later; never before it was made.
    known = at[happy] + max(0, math.ceil(satisfaction.thresholds[0]) - 1)
    satisfied_at = _extreme(np.minimum, _NEVER, len(rows), row[happy], known)
    never = -_NEVER
    satisfied_time = _extreme(np.maximum, never, len(rows), row[happy], at[happy])
    last_time = _extreme(
        np.maximum, never, int(row_list[-1]) + 1 if len(row_list) else 0, row_list[row[happy]], at[happy]
    )
    highest = np.zeros(len(rows), dtype=np.int32)
    np.maximum.at(highest, row, grade)
    passed = _passed(clicked_at, row_list)
    skipped = (passed < _NEVER) & (clicked_at > passed)
    last = (satisfied_time > never) & (satisfied_time == last_time[row_list])
    return rows.with_columns(
        clicked_at=nullable(clicked_at, clicked_at < _NEVER),
        satisfied_at=nullable(satisfied_at, satisfied_at < _NEVER), grade=pl.Series(highest),
        skipped_at=nullable(passed, skipped), last=pl.Series(last),
    )  # fmt: skip


def _passed(clicked_at: Ints, row_list: Ints) -> Ints:
    """For each result the first click on a lower one of its list, `_NEVER` where there is none.

    A running minimum from the end that begins anew with each list, since earlier lists have lower numbers.
    """
    clicked = np.flatnonzero(clicked_at < _NEVER)
    times = np.append(np.unique(clicked_at[clicked]), _NEVER)
    rank = np.full(len(clicked_at), len(times) - 1)
    rank[clicked] = np.searchsorted(times, clicked_at[clicked])
    numbers = row_list * len(times) + rank
    below = np.minimum.accumulate(numbers[::-1])[::-1]
    passed = np.full(len(numbers), _NEVER)
    same = row_list[1:] == row_list[:-1]
    passed[:-1][same] = times[below[1:][same] - row_list[1:][same] * len(times)]
    return passed


def _extreme(function: np.ufunc, start: int, size: int, places: Ints, values: Ints) -> Ints:
    result = np.full(size, start)
    function.at(result, places, values)
    return result
