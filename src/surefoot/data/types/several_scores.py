"""Scores of several measures that go together: the same systems, queries and traffic, each measure once."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.data.types.scores import Scores
from surefoot.errors import ArgumentError, shortened


def check_once(measures: Sequence[str]) -> None:
    """Refuse a measure that is given twice."""
    if len(set(measures)) < len(measures):
        raise ArgumentError(f"a measure is given twice among {', '.join(measures)}; give each once")


def check_same(matrices: Sequence[Scores], advice: str) -> None:
    """Refuse matrices that are not all of the same systems on the same queries with the same weights."""
    for matrix in matrices[1:]:
        if (matrix.systems, matrix.queries) != (matrices[0].systems, matrices[0].queries):
            raise ArgumentError(
                f"{matrices[0].measure} and {matrix.measure} belong to different systems or queries; {advice}"
            )
        check_same_weights(matrices[0], matrix)


def check_same_weights(first: Scores, other: Scores) -> None:
    """Refuse two matrices whose queries are weighted differently: by other traffic, or one of them by none."""
    mine, its = first._weighting, other._weighting
    if mine is None and its is None:
        return
    if mine is None or its is None:
        weighted, plain = (first, other) if its is None else (other, first)
        raise ArgumentError(
            f"{weighted.measure} is weighted by traffic and {plain.measure} is not; give the same traffic for both"
        )
    counts = dict(zip(first.queries, mine.weights.tolist(), strict=True))
    for query, weight in zip(other.queries, its.weights.tolist(), strict=True):
        if counts.get(query, weight) != weight:
            raise ArgumentError(
                f"{first.measure} and {other.measure} are weighted by different traffic: query {shortened(query)} "
                f"counts {counts[query]:g} and {weight:g}; give the same traffic for both"
            )
