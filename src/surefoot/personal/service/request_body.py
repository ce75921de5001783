"""The JSON of a request, checked: what `PersonalRanker` takes, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from surefoot.data.reading.files import RepeatedNameError, parse_json
from surefoot.errors import ArgumentError, did_you_mean, name_list, shortened
from surefoot.personal.service.service_settings import MOST_EVENTS, MOST_RESULTS

_NEEDED = ("query", "results", "time")
_FURTHER = ("user", "session", "day", "terms", "domains", "scores")


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
