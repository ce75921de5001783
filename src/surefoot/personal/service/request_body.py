"""The JSON of a request, checked: what `PersonalRanker` takes, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from surefoot.errors import ArgumentError, did_you_mean, name_list, shortened
from surefoot.personal.service.service_settings import MOST_EVENTS, MOST_RESULTS

_NEEDED = ("query", "results", "time")
_FURTHER = ("user", "session", "day", "terms", "domains", "scores")


def parsed(body: bytes) -> Any:
    """The value of a body; numbers that JSON does not have are refused."""
    try:
        return json.loads(body, parse_constant=_refuse, object_pairs_hook=_object)
    except ArgumentError:
        raise
    except (ValueError, RecursionError) as error:
        raise ArgumentError('the body is not JSON; send an object such as {"query": …}') from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; Python would take the last of two values of a key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(f"key {shortened(twice)} appears twice in an object")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


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
