"""Metarank's events, as JSON lines: `ranking` shows items, `interaction` is a click on one of them."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.clicks.backends import Backend
from surefoot.clicks.layouts.layout import LogFile, LogLayout, ReadingSettings, milliseconds, of_their_lists
from surefoot.clicks.log import Log, has_empty, ibis, parsed_once, rejected_lines

_EVENT = {
    "event": str, "id": str, "timestamp": str, "user": str, "session": str, "ranking": str, "type": str, "item": str,
    "items": [{"id": str, "relevancy": str}], "fields": [{"name": str, "value": str}],
}  # fmt: skip
_QUERY = "query"  # the field of a ranking that holds what was searched for


def _read(backend: Backend, files: Sequence[LogFile], settings: ReadingSettings) -> Log:
    (file,) = files
    lines = backend.json(file.path, _EVENT)
    event = lines.event
    time = milliseconds(event.timestamp)
    documents = event["items"].map(lambda item: item["id"])
    query = event["fields"].filter(lambda field: field["name"] == _QUERY).map(lambda field: field["value"])[0]
    ranking = event.event == "ranking"
    click = (event.event == "interaction") & event["type"].isin(list(settings.actions))
    lines = lines.mutate(
        ranking=ranking, click=click, time=time, documents=documents, document=event.item.nullif(""),
        list=ranking.ifelse(event.id, event.ranking).nullif(""), session=event.session.nullif(""),
        user=event.user.nullif(""),
        # Without a field of that name, lists of one set of items count as one query.
        query=query.coalesce(documents.sort().join(" ")),
        reason=ibis.cases(
            (~lines.line.re_search(r"^\s*\{.*\}\s*$") | event.isnull(), "is not a JSON object"),
            (event.event.isnull(), "has no kind of event"),
            (~(ranking | click), ibis.null("string")),
            (time.isnull(), "has no timestamp in ISO 8601 or in milliseconds"),
            (ranking & event.id.nullif("").isnull(), "is a ranking without an id"),
            (click & event.ranking.nullif("").isnull(), "is an interaction without a ranking"),
            (click & event.item.nullif("").isnull(), "is an interaction with no item"),
            (ranking & (documents.length().fill_null(0) == 0), "is a ranking of no items"),
            (ranking & has_empty(documents), "has an item without an id"),
        ),
    )  # fmt: skip
    lines = parsed_once(backend, lines.drop("event"))
    valid = lines.filter(lines.reason.isnull())
    lists = valid.filter(valid.ranking)
    lists = lists.mutate(session=lists.session.coalesce(lists.user, "ranking " + lists.list))
    clicks = valid.filter(valid.click)
    return LAYOUT.log(lists, of_their_lists(clicks, lists, "ranking "), rejected_lines(lines, str(file.path)), settings)


LAYOUT = LogLayout(
    name="metarank",
    recognizes=lambda line: line.startswith("{"),
    read=_read,
    unit=0.001,
    fixed_unit=True,
    linked=True,
    has_users=True,
    takes_actions=True,
)
