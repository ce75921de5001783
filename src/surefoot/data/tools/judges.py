"""Who made judgments, how the ratings of several judges become one grade, and which tools' formats there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

from surefoot.errors import ArgumentError, shortened

JudgmentMaker: TypeAlias = Literal["people", "machine", "people and machine"]
AUTOMATIC = "automatic"  # in the second column of TREC's judgments, which no program reads: made by a machine


class JudgmentOrigin(NamedTuple):
    """Who made judgments, as far as a file says, and how often several judges of one document differ."""

    made_by: JudgmentMaker | None
    judges: tuple[str, ...] = ()
    rated_by_several: int = 0  # documents
    differ: int = 0  # of these, to which not all judges gave the same grade

    @property
    def is_automatic(self) -> bool:
        """Whether a machine made all of them."""
        return self.made_by == "machine"


def count_disagreement(ratings: Iterable[Sequence[float]]) -> tuple[int, int]:
    """Of how many documents there are several ratings, and of how many these differ.

    >>> count_disagreement([[1, 1], [2], [0, 3]])
    (2, 1)
    """
    several = [each for each in ratings if len(each) > 1]
    return len(several), sum(len(set(each)) > 1 for each in several)


class RatingMerge(StrEnum):
    """A rule for the ratings of several judges; those who did not rate a document do not count."""

    mean = "mean"
    median = "median"
    min = "min"
    max = "max"
    vote = "vote"  # the most frequent rating; of several the lowest

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
        >>> RatingMerge.vote.grade([3, 2, 2]), RatingMerge.vote.grade([3, 2])
        (2, 2)
        """
        import statistics

        if self is RatingMerge.mean:
            return statistics.fmean(ratings)
        if self is RatingMerge.median:
            return statistics.median(ratings)
        if self is RatingMerge.vote:
            counts = Counter(ratings)
            return min(rating for rating, count in counts.items() if count == max(counts.values()))
        return min(ratings) if self is RatingMerge.min else max(ratings)


class JudgmentFormat(StrEnum):
    """The format of one of the tools."""

    quepid = "quepid"
    workbench = "workbench"
    query_set = "query-set"

    @classmethod
    def parse(cls, form: str) -> JudgmentFormat:
        """The format of that name."""
        if form not in tuple(cls):
            raise ArgumentError(f"form is {shortened(form)}; it must be one of {', '.join(cls)}")
        return cls(form)
