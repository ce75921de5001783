"""Shown lists with what was clicked on them, and what satisfied: from a log's lists and clicks.

The rules, each counted:

* An event that appears twice, alike in everything, happened once.
* A click belongs to the last list of its session that was shown at or before it and holds its document (of the list
  that it names, where clicks name one). Others are set aside, but end the dwell on the click before them.
* Dwell is the time to the session's next event. A click's grade is the number of thresholds that its dwell reaches;
  the last event of a session, if it is a click, gets the highest. A satisfied click has a grade of at least 1.
* Events of one time: lists come before clicks.
* A document that appears twice in a list has its first position.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from surefoot.clicks.log import IbisTable, Log, ibis

NO_LIST = "has no list in its session"
TOO_EARLY = "comes before its list"
NOT_SHOWN = "is on a document that was not shown"


@dataclass(frozen=True)
class Satisfaction:
    """Which clicks satisfied: the dwell that each grade needs, and whether a session's last click has the highest.

    The dwell is in seconds or, once a log is read, in its units of time.
    """

    thresholds: tuple[float, ...]
    last: bool = True


@dataclass(frozen=True)
class Impressions:
    """Tables of what was shown and clicked.

    `results`: a row for each result of each list: impression, session, user, day, time, query, place (of the list
    within its session), position, document, domain, score, and clicked_at, satisfied_at, skipped_at (when it was known
    that it had been clicked, had satisfied, had been passed over; null where not), grade, last (the list's last
    satisfied click). `lists`: a row for each list. `clicks`: those that belong to a list, with position, dwell and
    grade.
    """

    results: IbisTable
    lists: IbisTable
    clicks: IbisTable


StoreTable = Callable[[IbisTable, str], IbisTable]


def impressions(log: Log, satisfaction: Satisfaction, store: StoreTable) -> Impressions:
    """The lists of a log, and what happened on each; `store` computes a table once, under its name, and returns it.

    Stored are `lists`, `clicks` (all of them, with a `reason` where they belong to no list), `results`, and `repeated`:
    events that appeared twice.
    """
    lists, repeated_lists = _without_repetitions(log.lists, ("session", "time", "list", "query", "documents"))
    clicks, repeated_clicks = _without_repetitions(log.clicks, ("session", "time", "list", "document"))
    repeated = repeated_lists.select("session", "time", "number", document=ibis.null("string"))
    repeated = repeated.union(repeated_clicks.select("session", "time", "number", "document"), distinct=False)
    lists = store(_number(lists), "lists")
    shown_results = _results(lists)
    clicks = _with_dwell(lists, clicks)
    clicks = clicks.mutate(grade=_grade(clicks, satisfaction))
    clicks = store(_attribute(lists, shown_results, clicks, linked=log.linked), "clicks")
    attributed = clicks.filter(clicks.reason.isnull())
    store(repeated, "repeated")
    return Impressions(
        results=store(_with_clicks(shown_results, attributed, satisfaction), "results"),
        lists=lists.drop("documents", "domains", "scores"),
        clicks=attributed.select("impression", "session", "time", "document", "position", "dwell", "grade"),
    )


def _without_repetitions(events: IbisTable, alike: tuple[str, ...]) -> tuple[IbisTable, IbisTable]:
    """Events once each, and the repetitions."""
    counted = events.mutate(again=ibis.row_number().over(group_by=list(alike), order_by="number"))
    return counted.filter(counted.again == 0).drop("again"), counted.filter(counted.again > 0).drop("again")


def _number(lists: IbisTable) -> IbisTable:
    """Lists with their number within the session, from 1, and a name."""
    order = [lists.time, lists.list, lists.query, lists.documents.join(" ")]
    lists = lists.mutate(place=1 + ibis.row_number().over(group_by="session", order_by=order))
    return lists.mutate(impression=lists.session + "-" + lists.place.cast("string"))


def _results(lists: IbisTable) -> IbisTable:
    """A row for each result; a document that appears twice in a list has its first position."""
    columns = ["impression", "session", "user", "day", "time", "list", "query", "place"]
    rows = lists.select(*columns, documents=lists.documents, domains=lists.domains, scores=lists.scores)
    rows = rows.unnest(rows.documents, offset="offset")
    rows = rows.mutate(
        document=rows.documents, position=rows.offset + 1, domain=rows.domains[rows.offset],
        score=rows.scores[rows.offset],
    ).drop("documents", "domains", "scores", "offset")  # fmt: skip
    rows = rows.mutate(again=ibis.row_number().over(group_by=["impression", "document"], order_by="position"))
    return rows.filter(rows.again == 0).drop("again")


def _with_dwell(lists: IbisTable, clicks: IbisTable) -> IbisTable:
    """Clicks with the time to the session's next event, null for the last."""
    events = lists.select("session", "time", "number", kind=ibis.literal(0), tie=lists.impression).union(
        clicks.select("session", "time", "number", kind=ibis.literal(1), tie=clicks.document), distinct=False
    )
    order = ["time", "kind", "tie", "number"]
    events = events.mutate(next=events.time.lead().over(group_by="session", order_by=order))
    ends = events.filter(events.kind == 1).select("number", dwell=events.next - events.time)
    return clicks.inner_join(ends, "number")


def _grade(clicks: IbisTable, satisfaction: Satisfaction) -> IbisTable:
    reached = ibis.literal(0)
    for threshold in satisfaction.thresholds:
        reached = reached + (clicks.dwell >= threshold).ifelse(1, 0)
    highest = len(satisfaction.thresholds) if satisfaction.last else 0
    return clicks.dwell.isnull().ifelse(highest, reached)


def _attribute(lists: IbisTable, shown_results: IbisTable, clicks: IbisTable, *, linked: bool) -> IbisTable:
    """Clicks with the list that each belongs to and its position there, or the reason why it belongs to none."""
    keys = ["session", "list"] if linked else ["session"]
    stream = shown_results.select(*keys, "document", "time", place=shown_results.place, click=ibis.null("int64")).union(
        clicks.select(*keys, "document", "time", place=ibis.null("int64"), click=clicks.number), distinct=False
    )
    # Lists are numbered in time order: the highest number so far is the last list with the document.
    so_far = ibis.range_window(preceding=None, following=0, group_by=[*keys, "document"], order_by="time")
    stream = stream.mutate(latest=stream.place.max().over(so_far))
    places = stream.filter(stream.click.notnull()).select(number=stream.click, place=stream.latest)
    clicks = clicks.inner_join(places, "number")
    first = lists.group_by(keys).aggregate(first=lists.time.min())
    clicks = clicks.left_join(first, keys).drop(*(f"{key}_right" for key in keys))
    positions = shown_results.select("session", "place", "document", "position", "impression")
    clicks = clicks.left_join(positions, ["session", "place", "document"])
    clicks = clicks.drop("session_right", "place_right", "document_right")
    return clicks.mutate(
        reason=ibis.cases(
            (clicks.first.isnull(), NO_LIST),
            (clicks.first > clicks.time, TOO_EARLY),
            (clicks.place.isnull(), NOT_SHOWN),
        )
    )


def _with_clicks(shown_results: IbisTable, clicks: IbisTable, satisfaction: Satisfaction) -> IbisTable:
    """Results with what was known of each, and when."""
    # Without an event before the threshold the click has satisfied, whatever comes later; never before it was made.
    known = clicks.time + max(0, math.ceil(satisfaction.thresholds[0]) - 1)
    clicks = clicks.mutate(known=(clicks.grade > 0).ifelse(known, ibis.null("int64")))
    of_last = clicks.filter(clicks.grade > 0).group_by("impression").aggregate(last_time=clicks.time.max())
    each = clicks.group_by(["impression", "document"]).aggregate(
        clicked_at=clicks.time.min(), satisfied_at=clicks.known.min(), grade=clicks.grade.max(),
        satisfied_time=clicks.time.max(where=clicks.grade > 0),
    )  # fmt: skip
    rows = shown_results.left_join(each, ["impression", "document"]).drop("impression_right", "document_right")
    rows = rows.left_join(of_last, "impression").drop("impression_right")
    below = ibis.rows_window(preceding=(None, 1), group_by="impression", order_by=ibis.desc("position"))
    rows = rows.mutate(passed=rows.clicked_at.min().over(below))
    return rows.mutate(
        grade=rows.grade.fill_null(0),
        skipped_at=(rows.clicked_at.isnull() | (rows.clicked_at > rows.passed)).ifelse(rows.passed, ibis.null("int64")),
        last=(rows.satisfied_time == rows.last_time).fill_null(False),
    ).drop("passed", "satisfied_time", "last_time")
