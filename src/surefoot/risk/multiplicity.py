"""Many systems tested at once: Holm's step-down correction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

P = TypeVar("P", float, float | None)


def holm(p_values: Sequence[P]) -> list[P]:
    """P-values corrected for their number (Holm, Scand. J. Statist. 1979); absent ones stay absent and do not count.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    tested = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected = list(p_values)
    largest = 0.0
    for position, (p, i) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - position) * p))
        corrected[i] = largest
    return corrected
