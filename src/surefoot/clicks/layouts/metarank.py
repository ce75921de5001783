"""Metarank's events, as JSON lines: `ranking` shows items, `interaction` is a click on one of them."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.clicks.backends import Engine
from surefoot.clicks.expressions import ibis
from surefoot.clicks.layouts.timestamps import milliseconds
from surefoot.clicks.log import CLICKS, LISTS, Log, has_empty, of_schema, rejected
from surefoot.clicks.log_files import LogFile

_EVENT = {
    "event": str, "id": str, "timestamp": str, "user": str, "session": str, "ranking": str, "type": str, "item": str,
    "items": [{"id": str, "relevancy": str}], "fields": [{"name": str, "value": str}],
}  # fmt: skip
_QUERY = "query"  # the field of a ranking that holds what was asked for


def read(engine: Engine, file: LogFile, actions: Sequence[str]) -> Log:
    """A log of one file; `actions` are the types of interaction that count as clicks."""
    lines = engine.json(file.path, _EVENT)
    event = lines.event
    time = milliseconds(event.timestamp)
    documents = event["items"].map(lambda item: item["id"])
    query = event["fields"].filter(lambda field: field["name"] == _QUERY).map(lambda field: field["value"])[0]
    ranking, click = event.event == "ranking", (event.event == "interaction") & event["type"].isin(list(actions))
    lines = lines.mutate(
        ranking=ranking, click=click, time=time, documents=documents, document=event.item.nullif(""),
        list=ranking.ifelse(event.id, event.ranking).nullif(""), session=event.session.nullif(""),
        user=event.user.nullif(""),
        # Without a field of that name, lists of one set of items count as one query.
        query=query.coalesce(documents.sort().join(" ")),
        reason=ibis.cases(
            (~lines.line.re_search(r"^\s*\{.*\}\s*$") | event.isnull(), "is not an object of JSON"),
            (event.event.isnull(), "has no kind of event"),
            (~(ranking | click), ibis.null("string")),
            (time.isnull(), "has no timestamp of ISO 8601 or milliseconds"),
            (ranking & event.id.nullif("").isnull(), "is a ranking without an id"),
            (click & event.ranking.nullif("").isnull(), "is an interaction without a ranking"),
            (click & event.item.nullif("").isnull(), "is an interaction with no item"),
            (ranking & (documents.length().fill_null(0) == 0), "is a ranking of no items"),
            (ranking & has_empty(documents), "has an item without an id"),
        ),
    )  # fmt: skip
    right = lines.filter(lines.reason.isnull())
    lists = right.filter(right.ranking)
    lists = lists.mutate(session=lists.session.coalesce(lists.user, "ranking " + lists.list))
    known = lists.group_by("list").aggregate(at=lists.session.min(), whose=lists.user.min())
    clicks = right.filter(right.click).left_join(known, "list").drop("list_right")
    clicks = clicks.mutate(session=clicks["at"].coalesce(clicks.session, "ranking " + clicks.list), user=clicks.whose)
    return Log(
        of_schema(lists, LISTS), of_schema(clicks, CLICKS), rejected(lines, str(file.path)), "time", 0.001, linked=True,
        users=True, domains=False, terms=False, scores=False,
    )  # fmt: skip
