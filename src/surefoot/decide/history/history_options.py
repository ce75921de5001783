"""What can be chosen of a history, for the command line, which imports nothing heavy to show its help."""

from __future__ import annotations

from enum import StrEnum


class DateSource(StrEnum):
    """Where dates come from."""

    auto = "auto"
    name = "name"
    modified = "modified"


DATES_FROM = tuple(map(str, DateSource))
