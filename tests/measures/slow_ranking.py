"""A ranking the slow way, for measures to be checked against."""

from __future__ import annotations


def ranked(results: dict[str, float]) -> list[str]:
    """The documents by score, ties by id, both descending."""
    return sorted(results, key=lambda d: (results[d], d.encode()), reverse=True)
