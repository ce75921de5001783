"""Several numbers in one option, as in `--alpha 1,5`."""

from __future__ import annotations

from surefoot.arguments import decimal
from surefoot.errors import ArgumentError, shortened


def numbers(text: str, option: str, *, integers: bool = False) -> list[float]:
    """The numbers between commas."""
    try:
        values = [decimal(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or (integers and not all(value.is_integer() for value in values)):
        raise ArgumentError(
            f"{option} is {shortened(text)}; write {'whole ' * integers}numbers with commas between, such as 1,5"
        )
    return values
