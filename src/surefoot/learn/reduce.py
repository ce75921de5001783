"""Sums over the machines of one training: this one alone, or several with a part of the queries each.

What must be known of all queries (c, s_x, S, Z, and the criterion of early stopping) is kept as sums, which are
added up over the machines; nothing else of our own crosses the network, so the traffic does not grow with the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from surefoot.arrays import Floats

Reduce: TypeAlias = Callable[[Floats], Floats]  # every machine calls it at the same points, and gets the same sums


def local_sums(sums: Floats) -> Floats:
    """The sums of one machine, where it is the only one."""
    return sums
