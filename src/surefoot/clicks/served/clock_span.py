"""The times of a log, and which others cannot be meant: seconds in place of milliseconds look like a year long ago."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.errors import ArgumentError

_YEARS = 20  # that a time may be away from the log's: a unit of time that was mistaken is further away
_DAYS_PER_YEAR = 365.25


@dataclass(frozen=True)
class ClockSpan:
    """The first and last time of a log's lists by the clock that all sessions share; `name` is "time" or "day"."""

    name: str
    first: int
    last: int
    seconds: float  # what one unit of `name` lasts

    def check(self, given: int) -> None:
        """Refuse a time that is years away: nothing, or everything, would have happened before it."""
        allowed = _YEARS * _DAYS_PER_YEAR * 86_400 / self.seconds
        if not self.first - allowed <= given <= self.last + allowed:
            raise ArgumentError(
                f"{self.name} is {given}, years away from the log's {self.first} to {self.last}; it counts "
                f"{'days' if self.name == 'day' else f'units of {self.seconds:g} s'}, as the log does"
            )
