"""Numbers and lists that users give, read strictly: one place for what counts as one."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from numbers import Real
from typing import Any

from surefoot.errors import ArgumentError, shortened

LARGEST_EXACT = 2**53  # whole numbers up to here are floats; above it two of them may be the same float

# Possessive: whatever is written, a digit is looked at once.
_DECIMAL = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)(e[+-]?\d++)?|[+-]?(nan|inf(inity)?)", re.ASCII | re.IGNORECASE)


_WHOLE = re.compile(r"[+-]?\d++\.?0*+", re.ASCII)


def decimal(text: str) -> float:
    """A number as other programs write it; Python alone would also take `1_000` and the digits of other scripts.

    >>> decimal(" 1e-3")
    0.001
    """
    stripped = text.strip(" \t")
    if not _DECIMAL.fullmatch(stripped):
        raise ValueError(f"not a number: {shortened(text)}")
    return float(stripped)


def is_rounded(value: Any) -> bool:
    """Whether a whole number, or its text, becomes another one as float64: beyond 2⁵³ two of them may become equal.

    A text with a fraction or an exponent is a floating-point number, which is read as the nearest.

    >>> is_rounded(2**53 + 1), is_rounded("9007199254740993"), is_rounded(2**60), is_rounded("1e23")
    (True, True, False, False)
    """
    if isinstance(value, str):
        stripped = value.strip(" \t")
        return _WHOLE.fullmatch(stripped) is not None and Decimal(stripped) != Decimal(float(stripped))
    with suppress(OverflowError):  # larger than any float: not finite, which is told of elsewhere
        return abs(value) > LARGEST_EXACT and value == int(value) and Decimal(int(value)) != Decimal(float(value))
    return False


def is_decimal(text: str) -> bool:
    """Whether `decimal` reads it.

    >>> is_decimal("1e-3"), is_decimal("1_000")
    (True, False)
    """
    return _DECIMAL.fullmatch(text.strip(" \t")) is not None


def comma_separated(text: str) -> list[str]:
    """The parts of a text with commas between, without white space around them; empty ones do not count.

    >>> comma_separated("bm25, today,")
    ['bm25', 'today']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_numbers(text: str, name: str, *, example: str = "1,5") -> list[float]:
    """The finite numbers of a text with commas between, at least one, or an error that names the option.

    >>> parse_numbers("0,1.5", "--alpha")
    [0.0, 1.5]
    """
    parts = comma_separated(text)
    numbers = [finite_number(part) for part in parts]
    if not numbers or None in numbers:
        wrong = parts[numbers.index(None)] if numbers else text
        raise ArgumentError(f"{name} is {shortened(wrong)}; write numbers separated by commas, such as {example}")
    return [number for number in numbers if number is not None]


def parse_integers(text: str, name: str) -> list[int]:
    """The whole numbers of a text with commas between, at least one, or an error that names the option.

    >>> parse_integers("0,1,2", "--seeds")
    [0, 1, 2]
    """
    numbers = parse_numbers(text, name)
    fraction = next((number for number in numbers if not number.is_integer()), None)
    if fraction is not None:
        raise ArgumentError(f"{name} is {fraction:g}; write whole numbers separated by commas, such as 1,5")
    return [int(number) for number in numbers]


def is_real(value: Any) -> bool:
    """Whether it is a real number; truth values and NumPy's spans of time are none, though they count as such.

    >>> is_real(2), is_real(True), is_real("2")
    (True, False, False)
    """
    return isinstance(value, Real | Decimal) and type(value).__name__ not in ("bool", "timedelta64")


def finite_number(value: Any) -> float | None:
    """The finite number that a value is, or None; a text must be one as other programs write it."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # one number in an array
        value = value.item()
    if not isinstance(value, str) and not is_real(value):
        return None
    try:
        number = decimal(value) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


MOST_DRAWS = 1_000_000  # random draws beyond which no digit that is shown would change
LARGEST_SEED = 2**64 - 1
LARGEST_COUNT = 2**31 - 1  # of queries, ranks or results: more than any file holds


def integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as a whole number from `least` to `most`, or an error that names it."""
    span = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
    try:
        if type(value).__name__ in ("bool", "bool_"):  # Python's and NumPy's, which count as 0 and 1
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is {shortened(value)}; it must be a whole number {span}") from None
    if number < least or (most is not None and number > most):
        raise ArgumentError(f"{name} is {number:,}; it must be a whole number {span}")
    return number


def distinct_names(what: str, given: Iterable[str]) -> list[str]:
    """Names of which each is given once; a single text would be taken letter by letter."""
    if isinstance(given, str):
        raise ArgumentError(f"{what} is {shortened(given)}; give a list of names")
    names = [*given]
    if not names or len(set(names)) < len(names):
        raise ArgumentError(f"{what} needs at least one name, and each once")
    return names
