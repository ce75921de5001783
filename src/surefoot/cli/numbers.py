"""Several numbers in one option, as in `--alpha 1,5`."""

from __future__ import annotations

from surefoot.arguments import decimal
from surefoot.errors import ArgumentError, shortened


def numbers(text: str, option: str, *, whole: bool = False) -> list[float]:
    """The numbers between commas."""
    try:
        found = [decimal(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or (whole and not all(number.is_integer() for number in found)):
        raise ArgumentError(
            f"{option} is {shortened(text)}; write {'whole ' * whole}numbers with commas between, such as 1,5"
        )
    return found
