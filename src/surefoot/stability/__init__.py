"""Studies of stability: how stable rankings and measures are, and which function is best.

A ranking function, or function for short, is the papers' word for a system: what gives each document its score. Its
scores are a row of a `Scores` matrix, as those of any system are.

The public functions are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot.stability.noise_study import noise as noise
    from surefoot.stability.picks import measures as measures
    from surefoot.stability.picks import subsets as subsets
    from surefoot.stability.picks import time as time

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "noise_study": ("noise",),
        "picks": ("measures", "subsets", "time"),
    },
)
