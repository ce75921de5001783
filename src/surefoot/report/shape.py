"""Whether plain data that were read have the types, and keep the bounds, that they were written with."""

from __future__ import annotations

import math
import re
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from surefoot.errors import DataError, shortened

_BOUNDS = {
    "minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "minItems": "a list of at least",
    "maxItems": "a list of at most",
}  # fmt: skip
_PLAIN = {str: "text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}


def check_shape(data: Any, kind: Any, location: str = "it", *, complete: bool = False) -> None:
    """Refuse data in which something is of another type than `kind`, a TypedDict, says; other keys may be there.

    What is missing shows elsewhere, unless the data must be `complete`.

    >>> from surefoot.risk.assessment_data import AssessmentData
    >>> check_shape({"queries": "many"}, AssessmentData)
    Traceback (most recent call last):
    surefoot.errors.DataError: queries is 'many'; expected a whole number
    """
    wrong = _mismatch(data, kind, location, complete)
    if wrong is not None:
        raise DataError(wrong)


def _mismatch(data: Any, kind: Any, location: str, complete: bool) -> str | None:
    """What is wrong first, if anything is."""
    origin, parts = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        if not isinstance(data, dict):
            return _message(data, location, "an object")
        hints = _hints(kind)
        before = "" if location == "it" else f"{location}."
        absent = [name for name, hint in hints.items() if name not in data and get_origin(hint) is not NotRequired]
        if complete and absent:
            return f"{before}{absent[0]} is missing"
        inner = ((data[name], hint, f"{before}{name}", complete) for name, hint in hints.items() if name in data)
        return next(filter(None, (_mismatch(*each) for each in inner)), None)
    if origin is Annotated:
        return _mismatch(data, parts[0], location, complete) or _beyond(data, parts[1:], location)
    if origin is NotRequired:
        return _mismatch(data, parts[0], location, complete)
    if origin is Literal:
        return (
            None
            if data in parts and type(data) in map(type, parts)
            else _message(data, location, " or ".join(map(repr, parts)))
        )
    if origin in (Union, UnionType):
        mismatches = [_mismatch(data, part, location, complete) for part in parts]
        return None if None in mismatches else mismatches[0]
    if origin is list:
        if not isinstance(data, list):
            return _message(data, location, "a list")
        return next(
            filter(None, (_mismatch(item, parts[0], f"{location}[{at}]", complete) for at, item in enumerate(data))),
            None,
        )
    if origin is dict:
        if not isinstance(data, dict):
            return _message(data, location, "an object")
        return next(
            filter(None, (_mismatch(item, parts[1], f"{location}.{name}", complete) for name, item in data.items())),
            None,
        )
    return None if kind is Any or _is_plain(data, kind) else _message(data, location, _PLAIN[kind])


def _beyond(data: Any, bounds: tuple[Any, ...], location: str) -> str | None:
    """What is wrong where a number, or the length of a list, is beyond bounds such as ("minimum", 0)."""
    for bound in bounds:
        if not isinstance(bound, tuple) or data is None:
            continue
        name, limit = bound
        if name == "enum":  # names that are looked up are refused where they are
            continue
        if name == "pattern":
            if not re.fullmatch(limit, data):
                return _message(data, location, f"text such as {limit}")
            continue
        value = len(data) if name.endswith("Items") else data
        if value < limit if name.startswith("min") else value <= limit if name.startswith("exc") else value > limit:
            return _message(data, location, f"{_BOUNDS[name]} {limit}")
    return None


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _is_plain(data: Any, kind: type) -> bool:
    if kind is float:
        try:
            return type(data) in (int, float) and math.isfinite(data)
        except OverflowError:
            return False
    return type(data) is kind


def _message(data: Any, location: str, expected: str) -> str:
    return f"{location} is {shortened(data)}; expected {expected}"
