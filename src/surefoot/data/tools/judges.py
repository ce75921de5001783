"""How the ratings that several judges gave a document become one grade."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from surefoot.errors import ArgumentError, shortened


class RatingMerge(StrEnum):
    """A rule for the ratings of several judges; those who did not rate a document do not count."""

    mean = "mean"
    median = "median"
    min = "min"
    max = "max"

    @classmethod
    def parse(cls, name: str | None) -> RatingMerge:
        """The rule of that name, the mean where none is named."""
        if name is None:
            return cls.mean
        if name not in tuple(cls):
            raise ArgumentError(f"judges is {shortened(name)}; it must be one of {', '.join(cls)}")
        return cls(name)

    def grade(self, ratings: Sequence[float]) -> float:
        """The one grade of ratings, of which there is at least one.

        >>> RatingMerge.mean.grade([3, 0]), RatingMerge.median.grade([3, 0, 0]), RatingMerge.max.grade([3, 0])
        (1.5, 0, 3)
        """
        import statistics

        if self is RatingMerge.mean:
            return statistics.fmean(ratings)
        if self is RatingMerge.median:
            return statistics.median(ratings)
        return min(ratings) if self is RatingMerge.min else max(ratings)
