"""OpenSearch's User Behavior Insights: `ubi_queries` and `ubi_events`, as JSON lines.

A line may be a dump's, with the document under `_source`; the lines of a bulk file that name an action are passed over.
A list is a query's `query_response_hit_ids`, shown at the query's timestamp; a click is an event of a clicking action
on a document. The user is the client, or where there is none the user. A query has no session of its own: it has that
of its events, and one for itself where it has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.clicks.backends import Engine
from surefoot.clicks.expressions import Table, ibis
from surefoot.clicks.layouts.timestamps import milliseconds
from surefoot.clicks.log import CLICKS, LISTS, Log, has_empty, of_schema, rejected
from surefoot.clicks.log_files import LogFile

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
_NOT_JSON = "is not an object of JSON"


def read(engine: Engine, queries: LogFile, events: LogFile, actions: Sequence[str]) -> Log:
    """A log of two files; `actions` are those that count as clicks."""
    asked, happened = (
        _moments(_documents(engine, file, shape)) for file, shape in ((queries, _QUERY), (events, _EVENT))
    )
    one, hits = asked.event, asked.event.query_response_hit_ids
    asked = asked.mutate(
        list=_filled(one.query_id), query=_filled(one.user_query), documents=hits,
        reason=ibis.cases(
            (asked.reason.notnull(), asked.reason), (_filled(one.query_id).isnull(), "has no query_id"),
            (_filled(one.user_query).isnull(), "has no user_query"),
            (hits.length().fill_null(0) == 0, "shows no document (query_response_hit_ids)"),
            (has_empty(hits), "shows a document without an id"),
        ),
        own=one.session_id.coalesce(one.query_attributes.session_id),
        user=_filled(one.client_id).coalesce(one.user_id, one.query_attributes.user_id),
    )  # fmt: skip
    event = happened.event
    document = _filled(event.event_attributes.object.object_id)
    clicking = event.action_name.isin(list(actions))
    happened = happened.mutate(
        list=_filled(event.query_id), session=_filled(event.session_id), document=document, clicking=clicking,
        user=_filled(event.client_id).coalesce(event.user_id),
        reason=ibis.cases(
            (happened.reason.notnull(), happened.reason), (event.action_name.isnull(), "has no action_name"),
            (clicking & _filled(event.query_id).isnull(), "is a click without a query_id"),
            (clicking & document.isnull(), "is a click on no document (event_attributes.object.object_id)"),
        ),
    )  # fmt: skip
    right = happened.filter(happened.reason.isnull())
    sessions = right.filter(right.list.notnull() & right.session.notnull())
    sessions = sessions.group_by("list").aggregate(met=sessions.session.min())
    lists = asked.filter(asked.reason.isnull()).left_join(sessions, "list").drop("list_right")
    lists = lists.mutate(session=lists.own.coalesce(lists.met, "query " + lists.list))
    known = lists.group_by("list").aggregate(at=lists.session.min(), whose=lists.user.min())
    clicks = right.filter(right.clicking).left_join(known, "list").drop("list_right")
    clicks = clicks.mutate(session=clicks["at"].coalesce(clicks.session, "query " + clicks.list), user=clicks.whose)
    wrong = rejected(asked, str(queries.path)).union(rejected(happened, str(events.path)), distinct=False)
    return Log(
        of_schema(lists, LISTS), of_schema(clicks, CLICKS), wrong, "time", 0.001, linked=True, users=True,
        domains=False, terms=False, scores=False, one_file=False,
    )  # fmt: skip


def _documents(engine: Engine, file: LogFile, shape: dict[str, Any]) -> Table:
    """The lines with what they hold, by itself or under `_source`."""
    lines = engine.json(file.path, {**shape, _SOURCE: shape})
    lines = lines.filter(~lines.line.re_search(_BULK))
    own = ibis.struct({name: lines.event[name] for name in shape})
    dumped = lines.event[_SOURCE]
    known = ibis.or_(*(dumped[name].notnull() for name in shape))
    nothing = ibis.null(own.type())
    return lines.mutate(event=ibis.cases((lines.event.isnull(), nothing), (known.fill_null(False), dumped), else_=own))


def _moments(lines: Table) -> Table:
    """Parsed lines with their moment, and the reason where they have none."""
    time = milliseconds(lines.event.timestamp)
    return lines.mutate(
        time=time,
        reason=ibis.cases(
            (~lines.line.re_search(r"^\s*\{.*\}\s*$") | lines.event.isnull(), _NOT_JSON),
            (time.isnull(), "has no timestamp of ISO 8601 or milliseconds"),
        ),
    )


def _filled(text: Table) -> Table:
    return text.nullif("")
