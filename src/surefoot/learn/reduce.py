"""The machines that one training runs on: this one alone, or several with a part of the queries each.

What must be known of all queries (c, s_x, S, Z, and what early stopping goes by) is kept as sums, which are added up
over the machines; nothing else of our own crosses the network, so what does cross it does not grow with the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from surefoot.arrays import Floats

AddUp: TypeAlias = Callable[[Floats], Floats]  # every machine calls it at the same points, and gets the same sums


def alone(sums: Floats) -> Floats:
    """The sums of one machine are those of all."""
    return sums
