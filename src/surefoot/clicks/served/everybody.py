"""What everybody was shown and did, for the queries and documents that requests are about."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from surefoot.clicks.features import ROUNDED_DIGITS
from surefoot.clicks.served.key_times import KeyedTimes, Tally

LISTS = "lists"  # the key of a query's own lists, beside its documents


class ClickedResult(NamedTuple):
    """A clicked result: whose it was, when by the clock that all sessions share, and when it satisfied."""

    query: str
    document: str
    owner: str  # of a user, or of a session of nobody known
    clicked: int
    satisfied: int | None


def owner_name(user: str | None, session: str) -> str:
    """Whose click it is; click_state.py has the same in SQL."""
    return f"s{session}" if user is None else f"u{user}"


class QueryHistory:
    """The lists that were shown for a query, and what was clicked on them."""

    __slots__ = ("clicked", "lists", "pairs", "satisfied")

    def __init__(self, lists: Iterable[int], clicked: Iterable[ClickedResult]) -> None:
        self.lists, self.satisfied = KeyedTimes(), KeyedTimes()
        for time in sorted(lists):
            self.lists.add(LISTS, time)
        rows = list(clicked)
        self.clicked = Tally((row.clicked, row.document) for row in rows)
        self.pairs = KeyedTimes()
        for row in rows:
            self.pairs.add(row.document, row.clicked)
            if row.satisfied is not None:
                self.satisfied.add(row.document, row.satisfied)

    def change(self, result: ClickedResult, *, add: bool) -> None:
        """Count a click, or no longer."""
        (self.clicked.add if add else self.clicked.remove)(result.clicked, result.document)
        (self.pairs.add if add else self.pairs.remove)(result.document, result.clicked)
        if result.satisfied is not None:
            (self.satisfied.add if add else self.satisfied.remove)(result.document, result.satisfied)


def entropy(total: int, sizes: dict[int, int]) -> float:
    """H = log₂ N − Σ n·log₂ n / N, of N clicks of which `sizes` says how many names have n; 0 where there are none.

    >>> entropy(4, {2: 2}), entropy(0, {})
    (1.0, 0.0)
    """
    if not total:
        return 0.0
    steps = math.fsum(number * size * math.log2(size) for size, number in sizes.items())
    return max(0.0, rounded_number(math.log2(total) - steps / total))


def rounded_number(value: float) -> float:
    """A number rounded as `shards/counting.rounded` does: halves away from zero.

    >>> rounded_number(0.1234565), rounded_number(-0.0000005)
    (0.123457, -1e-06)
    """
    scale = 10.0**ROUNDED_DIGITS
    scaled = value * scale
    whole = math.trunc(scaled)
    if abs(scaled - whole) >= 0.5:
        whole += 1 if scaled > 0 else -1
    return whole / scale
