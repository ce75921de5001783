"""How the ratings that several judges gave a document become one grade."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from surefoot.errors import ArgumentError, shortened


class Judges(StrEnum):
    """A rule for the ratings of several judges; those who did not rate a document do not count."""

    mean = "mean"
    median = "median"
    min = "min"
    max = "max"

    @classmethod
    def parse(cls, rule: str | None) -> Judges:
        """The rule of that name, the mean where none is named."""
        if rule is None:
            return cls.mean
        if rule not in tuple(cls):
            raise ArgumentError(f"judges is {shortened(rule)}; it must be one of {', '.join(cls)}")
        return cls(rule)

    def grade(self, ratings: Sequence[float]) -> float:
        """The one grade of ratings, of which there is at least one.

        >>> Judges.mean.grade([3, 0]), Judges.median.grade([3, 0, 0]), Judges.max.grade([3, 0])
        (1.5, 0, 3)
        """
        import statistics

        if self is Judges.mean:
            return statistics.fmean(ratings)
        if self is Judges.median:
            return statistics.median(ratings)
        return min(ratings) if self is Judges.min else max(ratings)
