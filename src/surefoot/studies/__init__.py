"""Studies of stability: how stable rankings and measures are, and which function is best.

A ranking function, or function for short, is the papers' word for a system: what gives each document its score. Its
scores are a row of a `Scores` matrix, as those of any system are.

The public functions are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot.studies.noise import noise_study as noise_study
    from surefoot.studies.picks import subset_study as subset_study
    from surefoot.studies.picks import time_study as time_study
    from surefoot.studies.ranking_functions import compare_functions as compare_functions

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "ranking_functions": ("compare_functions",),
        "noise": ("noise_study",),
        "picks": ("subset_study", "time_study"),
    },
)
