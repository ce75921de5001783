"""Values of engines' parameters, checked: each engine's table says which of these a parameter's must pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from surefoot.arguments import finite_number
from surefoot.errors import ArgumentError, did_you_mean, shortened

Check: TypeAlias = Callable[[str, Any, int], Any]  # of a name, a value and the number of features

LARGEST_INT32 = 2**31 - 1  # engines keep integers in 32 bits, and cut off the others


def same_for(names: str, value: Any) -> dict[str, Any]:
    """The same value for several names."""
    return dict.fromkeys(names.split(), value)


def integer_from(least: int, most: int = LARGEST_INT32) -> Check:
    """An integer of a range."""

    def check(name: str, value: Any, features: int) -> int:
        number = finite_number(value)
        if number is None or number != math.floor(number) or not least <= number <= most:
            raise ArgumentError(f"{name} is {shortened(value)}; it must be a whole number from {least:,} to {most:,}")
        return int(number)

    return check


def real_from(least: float, most: float = 1e30, *, above: bool = False) -> Check:
    """A number of a range."""

    def check(name: str, value: Any, features: int) -> float:
        number = finite_number(value)
        if number is None or not least <= number <= most or (above and number == least):
            span = f"above {least:g}" if above else f"of at least {least:g}"
            raise ArgumentError(f"{name} is {shortened(value)}; it must be a number {span} and at most {most:g}")
        return number

    return check


def flag(name: str, value: Any, features: int) -> bool:
    """True or false."""
    known = {"true": True, "1": True, "false": False, "0": False}
    result = known.get(str(value).lower()) if isinstance(value, bool | int | str | np.bool_ | np.integer) else None
    if result is None:
        raise ArgumentError(f"{name} is {shortened(value)}; it must be true or false")
    return result


def one_of(*known: str) -> Check:
    """One of some texts."""

    def check(name: str, value: Any, features: int) -> str:
        if not isinstance(value, str) or value not in known:
            raise ArgumentError(f"{name} is {shortened(value)}; it must be one of {', '.join(known)}")
        return value

    return check


def per_feature(each: Check) -> Check:
    """A list of one value per feature."""

    def check(name: str, value: Any, features: int) -> list[Any]:
        values = _listed(name, value)
        if len(values) != features:
            raise ArgumentError(
                f"{name} has {len(values):,} values; it needs one for each of the {features:,} features"
            )
        return [each(f"{name}, value {number},", item, features) for number, item in enumerate(values, start=1)]

    return check


def columns(name: str, value: Any, features: int) -> list[int]:
    """Different features, by their numbers from 0."""
    number = integer_from(0, features - 1)
    numbers = [number(f"a feature of {name} (they count from 0)", item, features) for item in _listed(name, value)]
    if len(set(numbers)) < len(numbers):
        raise ArgumentError(f"{name} names a feature twice: {shortened(value)}")
    return numbers


def column_sets(name: str, value: Any, features: int) -> list[list[int]]:
    """Sets of features."""
    if isinstance(value, str):  # LightGBM's and XGBoost's own way to write it, [0,1],[2,3]
        import json

        try:
            value = json.loads(f"[{value}]")
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, list | tuple) or not value or not all(isinstance(item, list | tuple) for item in value):
        raise ArgumentError(f"{name} is {shortened(value)}; it must list sets of features, such as [[0, 1], [2, 3]]")
    return [columns(name, item, features) for item in value]


def _listed(name: str, value: Any) -> list[Any]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return list(value.tolist())
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return [value]
    raise ArgumentError(f"{name} is {shortened(value)}; it must be a list, such as [0, 1] or 0,1")


def check_each(
    parameters: Mapping[str, Any],
    features: int,
    *,
    aliases: Mapping[str, str],
    checks: Mapping[str, Check],
    rejected: Mapping[str, str],
    title: str,
) -> dict[str, Any]:
    """Parameters under an engine's main names; unknown ones, and those that Ranker decides, are rejected by name."""
    checked: dict[str, Any] = {}
    for name, value in parameters.items():
        main = aliases.get(name)
        if main is None or not (main in checks or main in rejected):
            hint = did_you_mean(name, aliases) or "."
            raise ArgumentError(f"unknown parameter {shortened(name)}{hint} Neither Ranker nor {title} has it")
        if main in rejected:
            raise ArgumentError(f"{name!r} cannot be set here: {rejected[main]}")
        if main in checked:
            raise ArgumentError(f"{name!r} is given twice, under two names")
        checked[main] = checks[main](name, value, features)
    return checked
