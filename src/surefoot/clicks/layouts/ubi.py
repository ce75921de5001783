"""OpenSearch's User Behavior Insights: `ubi_queries` and `ubi_events`, as JSON lines.

A line may be a dump's, with the document under `_source`; the lines of a bulk file that name an action are ignored.
A list is a query's `query_response_hit_ids`, shown at the query's timestamp; a click is an event of a clicking action
on a document. The user is the client, or where there is none the user. A query has no session of its own: it has that
of its events, and one for itself where it has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.clicks.backends import Backend
from surefoot.clicks.layouts.layout import LogFile, LogLayout, ReadingSettings, milliseconds, of_their_lists
from surefoot.clicks.log import IbisTable, Log, has_empty, ibis, parsed_once, rejected_lines, union
from surefoot.clicks.options import GENERATED_FILES

_QUERY = {
    "timestamp": str, "query_id": str, "user_query": str, "query_response_hit_ids": [str], "client_id": str,
    "user_id": str, "session_id": str, "query_attributes": {"session_id": str, "user_id": str},
}  # fmt: skip
_EVENT = {
    "action_name": str, "timestamp": str, "query_id": str, "session_id": str, "client_id": str, "user_id": str,
    "event_attributes": {"object": {"object_id": str}},
}  # fmt: skip
_SOURCE = "_source"
_BULK = r'^\s*\{\s*"(index|create)"\s*:\s*\{[^{}]*\}\s*\}\s*$'
_NOT_JSON = "is not a JSON object"


def _read(backend: Backend, files: Sequence[LogFile], settings: ReadingSettings) -> Log:
    query_file, event_file = files
    queries, events = (
        _with_time(_documents(backend, file, shape)) for file, shape in ((query_file, _QUERY), (event_file, _EVENT))
    )
    query, hits = queries.event, queries.event.query_response_hit_ids
    queries = queries.mutate(
        list=_not_empty(query.query_id), query=_not_empty(query.user_query), documents=hits,
        reason=ibis.cases(
            (queries.reason.notnull(), queries.reason), (_not_empty(query.query_id).isnull(), "has no query_id"),
            (_not_empty(query.user_query).isnull(), "has no user_query"),
            (hits.length().fill_null(0) == 0, "shows no document (query_response_hit_ids)"),
            (has_empty(hits), "shows a document without an id"),
        ),
        own_session=query.session_id.coalesce(query.query_attributes.session_id),
        user=_not_empty(query.client_id).coalesce(query.user_id, query.query_attributes.user_id),
    )  # fmt: skip
    event = events.event
    document = _not_empty(event.event_attributes.object.object_id)
    is_click = event.action_name.isin(list(settings.actions))
    events = events.mutate(
        list=_not_empty(event.query_id), session=_not_empty(event.session_id), document=document, is_click=is_click,
        user=_not_empty(event.client_id).coalesce(event.user_id),
        reason=ibis.cases(
            (events.reason.notnull(), events.reason), (event.action_name.isnull(), "has no action_name"),
            (is_click & _not_empty(event.query_id).isnull(), "is a click without a query_id"),
            (is_click & document.isnull(), "is a click on no document (event_attributes.object.object_id)"),
        ),
    )  # fmt: skip
    queries, events = (parsed_once(backend, table.drop("event")) for table in (queries, events))
    valid = events.filter(events.reason.isnull())
    sessions = valid.filter(valid.list.notnull() & valid.session.notnull())
    sessions = sessions.group_by("list").aggregate(event_session=sessions.session.min())
    lists = queries.filter(queries.reason.isnull()).left_join(sessions, "list").drop("list_right")
    lists = lists.mutate(session=lists.own_session.coalesce(lists.event_session, "query " + lists.list))
    clicks = of_their_lists(valid.filter(valid.is_click), lists, "query ")
    rejected = [rejected_lines(queries, str(query_file.path)), rejected_lines(events, str(event_file.path))]
    return LAYOUT.log(lists, clicks, union(rejected), settings)


def _documents(backend: Backend, file: LogFile, shape: dict[str, Any]) -> IbisTable:
    """The lines with what they hold, by itself or under `_source`."""
    lines = backend.json(file.path, {**shape, _SOURCE: shape})
    lines = lines.filter(~lines.line.re_search(_BULK))
    own = ibis.struct({name: lines.event[name] for name in shape})
    dumped = lines.event[_SOURCE]
    is_dump = ibis.or_(*(dumped[name].notnull() for name in shape))
    null = ibis.null(own.type())
    return lines.mutate(event=ibis.cases((lines.event.isnull(), null), (is_dump.fill_null(False), dumped), else_=own))


def _with_time(lines: IbisTable) -> IbisTable:
    """Parsed lines with their time, and the reason where they have none."""
    time = milliseconds(lines.event.timestamp)
    return lines.mutate(
        time=time,
        reason=ibis.cases(
            (~lines.line.re_search(r"^\s*\{.*\}\s*$") | lines.event.isnull(), _NOT_JSON),
            (time.isnull(), "has no timestamp in ISO 8601 or in milliseconds"),
        ),
    )


def _not_empty(text: IbisTable) -> IbisTable:
    return text.nullif("")


LAYOUT = LogLayout(
    name="ubi",
    recognizes=lambda line: False,  # known by the names of its files
    read=_read,
    files=GENERATED_FILES["ubi"],
    unit=0.001,
    fixed_unit=True,
    linked=True,
    has_users=True,
    takes_actions=True,
)
