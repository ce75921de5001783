"""The times of a log, and which others cannot be meant: seconds in place of milliseconds look like a year long ago."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.errors import ArgumentError

_YEARS_BEFORE = 20  # that a time may be before the log: seconds for milliseconds would be in 1970
_YEARS_AFTER = 100  # that it may be after: milliseconds for seconds are tens of thousands
_YEAR = 365.25 * 86_400


@dataclass(frozen=True)
class ClockSpan:
    """The first and last time of a log's lists by the clock that all sessions share; `name` is "time" or "day".

    A log that counts from 0 says little of what cannot be meant.
    """

    name: str
    first: int
    last: int
    seconds: float  # what one unit of `name` lasts

    def check(self, given: int) -> None:
        """Refuse a time that is years away: nothing, or everything, would have happened before it."""
        year = _YEAR / self.seconds
        if not self.first - _YEARS_BEFORE * year <= given <= self.last + _YEARS_AFTER * year:
            raise ArgumentError(
                f"{self.name} is {given}, years away from the log's {self.first} to {self.last}; it counts "
                f"{'days' if self.name == 'day' else f'units of {self.seconds:g} s'}, as the log does"
            )
