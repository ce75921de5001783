"""What the service takes and answers: as OpenAPI, and the JSON of a request, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from surefoot import __version__
from surefoot.clicks.events import LogFacts, unit_of_time
from surefoot.data.reading.files import RepeatedNameError, parse_json
from surefoot.errors import ArgumentError, did_you_mean, name_list, shortened
from surefoot.personal.service.service_settings import MOST_EVENTS, MOST_RESULTS, ServiceSettings

_TEXT = {"type": "string", "minLength": 1}
_TIME = {"type": "integer", "minimum": 0, "exclusiveMaximum": 10**15}
_NUMBERS = {"type": "array", "items": {"type": "number"}}
_SCORES = {"type": "array", "items": {"type": "number", "minimum": -3.4e38, "maximum": 3.4e38}}
_REFUSALS = {
    "400": "not valid", "401": "no token, or another", "403": "not allowed", "408": "arrived too slowly",
    "413": "too large", "415": "not application/json", "500": "the model's state cannot be used, or a bug",
    "503": "too many are waiting", "504": "not answered in time",
}  # fmt: skip
_NEEDED = ("query", "results", "time")
_FURTHER = ("user", "session", "day", "terms", "domains", "scores")


def openapi(facts: LogFacts, settings: ServiceSettings) -> dict[str, Any]:
    """The description of a service with a model of such a log."""
    paths = {
        "/rerank": {"post": _operation("A list in the model's order.", _request(facts), _reranked())},
        "/health": {"get": {"summary": "Whether it works.", "responses": {"200": _json("It works.", _health())}}},
        "/openapi.json": {"get": {"summary": "This.", "responses": {"200": _json("This.", {"type": "object"})}}},
    }
    if settings.allow_updates:
        events = {"type": "array", "maxItems": MOST_EVENTS, "items": {"oneOf": [_shown(facts), _click(facts)]}}
        added = _object({"added": {"type": "integer"}, "repeated": {"type": "integer"}}, ["added", "repeated"])
        summary = "Add what was shown and clicked, all or none of it; it is on disk when this is answered."
        paths["/update"] = {"post": _operation(summary, _object({"events": events}, ["events"]), added)}
    described: dict[str, Any] = {
        "openapi": "3.1.0", "info": {"title": "surefoot serve", "version": __version__}, "paths": paths,
    }  # fmt: skip
    if settings.token is not None:
        described["components"] = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
        described["security"] = [{"token": []}]
        for path in ("/health", "/openapi.json"):  # these say nothing of the log, and need no token
            paths[path]["get"]["security"] = []
    return described


def _request(facts: LogFacts) -> dict[str, Any]:
    results = {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MOST_RESULTS}
    fields = {"query": _TEXT, "results": results, "time": _time(facts), "user": _TEXT, "session": _TEXT}
    return _with_log_fields(facts, fields, ["query", "results", "time"])


def _shown(facts: LogFacts) -> dict[str, Any]:
    documents = {"type": "array", "items": _TEXT, "minItems": 1}
    fields = {"session": _TEXT, "time": _time(facts), "query": _TEXT, "documents": documents, "user": _TEXT}
    linked = ["list"] if facts.linked else []
    return _with_log_fields(facts, fields | {"list": _TEXT}, ["session", "time", "query", "documents", *linked])


def _click(facts: LogFacts) -> dict[str, Any]:
    fields = {"session": _TEXT, "time": _time(facts), "document": _TEXT, "user": _TEXT, "list": _TEXT, "day": _TIME}
    needed = ["session", "time", "document", *(["list"] if facts.linked else [])]
    needed += ["day"] if facts.shared_clock == "day" else []
    return _object(_or_null(fields, needed), needed)


def _with_log_fields(facts: LogFacts, fields: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    """A list's fields with those that some logs have, and this one needs."""
    texts = {"type": "array", "items": _TEXT}
    further = {"day": _TIME, "terms": texts, "domains": texts, "scores": _SCORES}
    has = {"day": facts.shared_clock == "day", "terms": facts.terms, "domains": facts.domains, "scores": facts.scores}
    needed = [*needed, *(name for name in further if has[name])]
    return _object(_or_null(fields | further, needed), needed)


def _or_null(fields: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    """Null is as good as nothing, where nothing is allowed."""
    return {name: kind if name in needed else {**kind, "type": [kind["type"], "null"]} for name, kind in fields.items()}


def _time(facts: LogFacts) -> dict[str, Any]:
    return _TIME | {"description": f"It counts {unit_of_time(facts.seconds)}, as in the log."}


def _reranked() -> dict[str, Any]:
    reason = _object(
        {"feature": _TEXT, "value": {"type": ["number", "null"]}, "adds": {"type": "number"}},
        ["feature", "value", "adds"],
    )
    fields = {
        "documents": {"type": "array", "items": _TEXT}, "scores": _NUMBERS, "changed": {"type": "boolean"},
        "order": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "why": {"type": "array", "items": {"type": "array", "items": reason}},
    }  # fmt: skip
    return _object(fields, list(fields))


def _health() -> dict[str, Any]:
    fields = {"status": {"const": "ok"}, "updates": {"type": "boolean"}, "waiting": {"type": "integer"}}
    return _object(fields, list(fields))


def _object(fields: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": needed, "additionalProperties": False}


def _operation(summary: str, body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    refused = _object({"error": {"type": "string"}}, ["error"])
    responses = {"200": _json("The answer.", answer)}
    responses |= {status: _json(f"Refused: {why}.", refused) for status, why in _REFUSALS.items()}
    return {"summary": summary, "requestBody": {"required": True, **_json(None, body)}, "responses": responses}


def _json(description: str | None, schema: dict[str, Any]) -> dict[str, Any]:
    described = {} if description is None else {"description": description}
    return {**described, "content": {"application/json": {"schema": schema}}}


def parsed(body: bytes) -> Any:
    """The value of a body, read as strictly as files are."""
    try:
        return parse_json(body.decode(json.detect_encoding(body), "surrogatepass"))
    except RepeatedNameError as error:
        raise ArgumentError(f"key {error}") from error
    except (ValueError, RecursionError) as error:
        raise ArgumentError('the body is not JSON; send an object such as {"query": …}') from error


def rerank_arguments(value: Any) -> dict[str, Any]:
    """The arguments of `rerank`."""
    _check_object(value, _NEEDED, _FURTHER)
    results = value["results"]
    if isinstance(results, list) and len(results) > MOST_RESULTS:
        raise ArgumentError(f"there are {len(results):,} results; a request has at most {MOST_RESULTS:,}")
    return {"user": None, **value}


def update_events(value: Any) -> list[Mapping[str, Any]]:
    """The events of an update."""
    if isinstance(value, dict) and "session" in value:
        raise ArgumentError('this is an event by itself; send {"events": [ … ]}, with one event or several')
    if isinstance(value, list):
        raise ArgumentError('this is an array by itself; send {"events": [ … ]}')
    _check_object(value, ("events",), ())
    events = value["events"]
    if not isinstance(events, list):
        raise ArgumentError(f"events is {shortened(events)}; expected an array of events")
    if len(events) > MOST_EVENTS:
        raise ArgumentError(f"there are {len(events):,} events; an update has at most {MOST_EVENTS:,}")
    return events


def _check_object(value: Any, needed: tuple[str, ...], further: tuple[str, ...]) -> None:
    if not isinstance(value, dict):
        raise ArgumentError(f"expected an object with {', '.join(needed)}, found {shortened(value)}")
    unknown = [name for name in value if name not in (*needed, *further)]
    if unknown:
        known = (*needed, *further)
        raise ArgumentError(
            f"there is no key {shortened(unknown[0])}{did_you_mean(unknown[0], known) or ';'} the keys are "
            f"{', '.join(known)}"
        )
    missing = [name for name in needed if value.get(name) is None]
    if missing:
        raise ArgumentError(f"{name_list(missing)} must be given")
