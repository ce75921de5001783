"""The features of a shard, by sorting arrays: those of `features.personal` and `features.population`.

Clicks are few beside results, and so are lists: for what everybody did, those of the whole log are sorted once, as
numbers, and the results of one shard after the other look back at them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from surefoot.arrays import Flags, Floats, Ints
from surefoot.clicks.features import KINDS, POSITIONS_TOLD_APART, ROUNDED_DIGITS
from surefoot.clicks.log import Log
from surefoot.clicks.shards.counting import (
    EventIndex,
    KeyTimes,
    LookingBack,
    begins,
    codes_of,
    feature,
    first_rows,
    joint_codes,
    places_of,
    ranks,
    rounded,
    segment_starts,
    sorting_order,
)

Columns = dict[str, pl.Series]


@dataclass(frozen=True)
class ShardEvents:
    """A shard's impressions as arrays: the list of each result, keys as integers, and what happened when.

    `happened` has the rows and times of results that were clicked, satisfied and skipped. `clock` is what
    all sessions share: "time", "day" or None.
    """

    lists: pl.DataFrame
    results: pl.DataFrame
    list_of_row: Ints
    session: Ints  # of each list, as user and query
    user: Ints
    query: Ints
    document: Ints  # of each result, as domain and pair, which is that of query and document
    domain: Ints
    pair: Ints
    happened: dict[str, tuple[Ints, Ints]]
    clock: str | None

    @classmethod
    def of(cls, log: Log, lists: pl.DataFrame, results: pl.DataFrame) -> ShardEvents:
        """The arrays of a shard's tables."""
        listed, of_row = codes_of(lists["impression"], results["impression"])
        number = np.zeros(int(listed.max()) + 1 if len(listed) else 1, dtype=np.int64)
        number[listed] = np.arange(len(lists))
        [session], [user], [query] = (codes_of(lists[name]) for name in ("session", "user", "query"))
        # Lists of nobody known: each session is a user of its own.
        user = np.where(lists["user"].is_null().to_numpy(), 1 + int(user.max(initial=0)) + session, user)
        [document], [domain] = (codes_of(results[name]) for name in ("document", "domain"))
        happened = {}
        for kind in KINDS[1:]:
            rows = np.flatnonzero(results[f"{kind}_at"].is_not_null().to_numpy())
            happened[kind] = rows, results[f"{kind}_at"].drop_nulls().to_numpy()
        list_of_row = number[of_row]
        pair = ranks(joint_codes(query[list_of_row], document))
        return cls(
            lists, results, list_of_row, session, user, query, document, domain, pair, happened, log.shared_clock
        )  # fmt: skip

    def for_results(self, by_list: Columns) -> Columns:
        """Columns of lists as columns of their results."""
        return pl.DataFrame(by_list)[self.list_of_row].to_dict()

    def list_times(self, *, shared: bool) -> Ints:
        """When each list was shown: within its session, or by the clock that all sessions share."""
        return self.lists["day" if shared and self.clock == "day" else "time"].to_numpy()

    def event_times(self, kind: str, *, shared: bool) -> Ints:
        """When each result of `happened` was clicked, satisfied or skipped."""
        rows, times = self.happened[kind]
        return self.list_times(shared=True)[self.list_of_row[rows]] if shared and self.clock == "day" else times


def personal_features(log: Log, events: ShardEvents, clicks: pl.DataFrame) -> Columns:
    """The columns of results that some users, or sessions, alone decide."""
    columns: Columns = {}
    keys = {"document": events.document, "domain": events.domain, "pair": events.pair}
    scopes = [("session", events.session, False)]
    if log.users and log.shared_clock:
        scopes.append(("user", events.user, True))
    for scope, owner, shared in scopes:
        times = events.list_times(shared=shared)[events.list_of_row]
        later = {kind: events.event_times(kind, shared=shared) for kind in events.happened}
        for key, codes in keys.items():
            if key != "domain" or log.domains:
                joint = joint_codes(owner[events.list_of_row], codes)
                back = LookingBack(joint, times, *later.values())
                columns[f"{scope}_{key}_shown"] = feature(back.rows_before())
                for kind, at in later.items():
                    columns[f"{scope}_{key}_{kind}"] = feature(back.events_before(events.happened[kind][0], at))
    by_list = _list_features(log, events, clicks)
    for scope, owner, shared in scopes:
        by_list |= _activity(events, scope, owner, shared=shared)
    return columns | events.for_results(by_list)


def _activity(events: ShardEvents, scope: str, owner: Ints, *, shared: bool) -> Columns:
    """How much was shown and clicked before a list, in all and for its query."""
    times, at = events.list_times(shared=shared), events.event_times("clicked", shared=shared)
    lists = events.list_of_row[events.happened["clicked"][0]]
    columns = {}
    for what, keys in (("", owner), ("query_", joint_codes(owner, events.query))):
        back = LookingBack(keys, times, at)
        columns[f"{scope}_{what}lists"] = feature(back.rows_before())
        columns[f"{scope}_{what}clicks"] = feature(back.events_before(lists, at))
    return columns


def _list_features(log: Log, events: ShardEvents, clicks: pl.DataFrame) -> Columns:
    """What is known of a list as a whole within its session; `clicks` are those that belong to a list."""
    lists, session, time = events.lists, events.session, events.list_times(shared=False)
    # Lists are numbered in order of time within their session: those before one are the first of them.
    earlier = LookingBack(session, time).rows_before()
    order = np.lexsort((lists["place"].to_numpy(), session))
    start = np.searchsorted(session[order], session)  # of the session's first list, in that order
    first, former = order[start], order[start + np.maximum(earlier - 1, 0)]
    known = earlier > 0
    clicked, position, age = _last_click(lists, clicks, time)
    age_in_session = np.where(known, _seconds(time - time[first], log), 0.0)
    columns = {
        "last_click_position": feature(np.where(clicked, position, 0)),
        "last_click_age": feature(_seconds(age, log), clicked),
        "session_age": feature(age_in_session),
        "previous_query": feature((known & (events.query == events.query[former])).astype(np.int64)),
    }
    if log.terms:
        columns["term_overlap"] = feature(_overlap(lists["terms"], former, known))
    return columns


def _seconds(passed: Ints, log: Log) -> Floats:
    """Units of a log's time in seconds."""
    return rounded(passed.astype(np.float64) * log.seconds, ROUNDED_DIGITS)


def _last_click(lists: pl.DataFrame, clicks: pl.DataFrame, time: Ints) -> tuple[Flags, Ints, Ints]:
    """The session's last click before each list: whether there is one, its position, and the time since then.

    Of clicks at one time the lowest counts.
    """
    of_list, of_click = codes_of(lists["session"], clicks["session"])
    if not len(clicks):
        return np.zeros(len(lists), dtype=bool), np.zeros_like(time), np.zeros_like(time)
    at = clicks["time"].to_numpy()
    position = np.minimum(clicks["position"].to_numpy(), POSITIONS_TOLD_APART - 1)
    order = np.lexsort((position, at, of_click))
    at, position, of_click = at[order], position[order], of_click[order]
    moments = KeyTimes(1 + max(int(of_list.max()), int(of_click.max())), time, at)
    last = np.searchsorted(moments.of(of_click, at), moments.of(of_list, time)) - 1
    clicked = (last >= 0) & (of_click[last] == of_list)
    return clicked, position[last], time - at[last]


def _overlap(terms: pl.Series, former: Ints, known: Flags) -> Floats:
    """The share of terms in common with the list before."""
    frame = pl.DataFrame({"new": terms.filter(pl.Series(known)), "old": terms.gather(former[known])})
    common = pl.col("new").list.set_intersection("old").list.len()
    every = pl.col("new").list.set_union("old").list.len()
    shares = np.zeros(len(terms))
    shares[known] = frame.select((common / every).fill_nan(None).fill_null(0.0))["new"].to_numpy()
    return rounded(shares, ROUNDED_DIGITS)


class _Names:
    """Texts of the whole log as numbers."""

    def __init__(self, texts: pl.Series) -> None:
        self._table = pl.DataFrame({"text": texts.unique()}).with_row_index("code")

    def __len__(self) -> int:
        return len(self._table)

    def find(self, texts: pl.Series) -> Ints:
        """The number of each text, −1 for one that is unknown."""
        found = pl.DataFrame({"text": texts}).join(self._table, on="text", how="left", maintain_order="left")
        return found["code"].cast(pl.Int64).fill_null(-1).to_numpy()


class Population:
    """The lists and clicks of everybody, of a log's impressions; the clock that all sessions share is "time" or "day".

    A click's owner is a user, or a session of nobody known.
    """

    def __init__(self, shown: pl.LazyFrame, results: pl.LazyFrame, clock: str) -> None:
        day = clock == "day"
        lists = shown.select("query", shown=clock).collect()
        clicked = results.filter(pl.col("clicked_at").is_not_null()).select(
            "query", "document", owner=pl.coalesce("u" + pl.col("user"), "s" + pl.col("session")),
            clicked="day" if day else "clicked_at",
            satisfied=pl.when(pl.col("satisfied_at").is_not_null()).then("day" if day else "satisfied_at"),
        ).collect()  # fmt: skip
        self._queries, self._documents = _Names(lists["query"]), _Names(clicked["document"])
        query, document = self._queries.find(clicked["query"]), self._documents.find(clicked["document"])
        [owner] = codes_of(clicked["owner"])
        at, satisfied = clicked["clicked"].to_numpy(), clicked["satisfied"].is_not_null().to_numpy()
        pairs = query * len(self._documents) + document
        self._pairs, pair = pl.Series(pairs).unique().sort().to_numpy(), ranks(pairs)
        self._query_lists = EventIndex(self._queries.find(lists["query"]), lists["shown"].to_numpy())
        self._query_clicks = EventIndex(query, at, _entropy_steps(pair, at))
        self._pair_clicked = EventIndex(pair, at)
        self._pair_satisfied = EventIndex(pair[satisfied], clicked["satisfied"].drop_nulls().to_numpy())
        self._document_clicked = EventIndex(document, at, _entropy_steps(ranks(joint_codes(document, owner)), at))

    def features(self, events: ShardEvents) -> Columns:
        """What everybody did before each result of a shard."""
        list_times = events.list_times(shared=True)
        query = self._queries.find(events.lists["query"])
        shown, _ = self._query_lists.before(query, list_times)
        clicks, steps = self._query_clicks.before(query, list_times)
        by_list = {
            "query_lists": feature(shown),
            "query_clicks": feature(clicks),
            "query_entropy": feature(entropy_of(clicks, steps)),
        }
        document = self._documents.find(events.results["document"].gather(first_rows(events.document)))[events.document]
        times = list_times[events.list_of_row]
        first = first_rows(events.pair)
        pair = self._pair(query[events.list_of_row[first]], document[first])[events.pair]
        clicked, steps = self._document_clicked.before(document, times)
        entropy = entropy_of(clicked, steps)
        least = np.full(len(events.lists), np.inf)
        some = clicked > 0
        np.minimum.at(least, events.list_of_row[some], entropy[some])
        by_list["least_entropy"] = feature(least, np.isfinite(least))
        by_result = {
            "pair_clicked": feature(self._pair_clicked.before(pair, times)[0]),
            "pair_satisfied": feature(self._pair_satisfied.before(pair, times)[0]),
            "document_clicked": feature(clicked),
            "document_entropy": feature(entropy),
        }
        return by_result | events.for_results(by_list)

    def _pair(self, query: Ints, document: Ints) -> Ints:
        """The number of each pair of a query and a document that was clicked, −1 for others."""
        result = np.full(len(query), -1)
        rows = np.flatnonzero((query >= 0) & (document >= 0))
        if len(rows) and len(self._pairs):
            pairs = query[rows] * len(self._documents) + document[rows]
            places = np.minimum(places_of(pairs, self._pairs), len(self._pairs) - 1)
            result[rows] = np.where(self._pairs[places] == pairs, places, -1)
        return result


def _entropy_steps(keys: Ints, times: Ints) -> Floats:
    """What each click adds to Σ n·log₂ n, where n counts the clicks of one key; keys have no gaps."""
    order = sorting_order(KeyTimes(int(keys.max()) + 1 if len(keys) else 0, times).of(keys, times))
    ordinal = np.arange(len(order)) - segment_starts(begins(keys[order]))  # from 0
    n = np.arange(1.0, int(ordinal.max()) + 2 if len(ordinal) else 1)
    step = n * np.log2(n) - (n - 1) * np.log2(np.maximum(n - 1, 1))
    steps = np.empty(len(order))
    steps[order] = step[ordinal]
    return steps


def entropy_of(clicks: Ints, steps: Floats | None) -> Floats:
    """H = log₂ N − Σ n·log₂ n / N, of N clicks; 0 where there are none."""
    n = np.maximum(clicks, 1)
    entropy = rounded(np.log2(n) - (0.0 if steps is None else steps / n), ROUNDED_DIGITS)
    return np.maximum(entropy, 0.0)
