"""Which of several systems is the candidate, and which is live today."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.data.types.scores import unknown_system
from surefoot.errors import ArgumentError, name_list, shortened
from surefoot.risk.baselines import baseline_choices


def systems_of(systems: Sequence[str], candidate: str | None, baseline: str | None) -> tuple[str, str]:
    """The candidate and the baseline by name; of two systems the candidate is the one that is not the baseline."""
    if baseline is None:
        raise ArgumentError(f"choose the baseline, which is the system that is live today: {baseline_choices(systems)}")
    for name in (baseline, candidate):
        if name is not None and name not in systems:
            raise ArgumentError(unknown_system(name, systems))
    if candidate is None:
        others = [name for name in systems if name != baseline]
        if len(others) != 1:
            raise ArgumentError(
                f"choose the candidate with --candidate (candidate=): there are {len(others)} systems besides the "
                "baseline" + (f": {name_list(others, 8)}" if others else "")
            )
        (candidate,) = others
    if candidate == baseline:
        raise ArgumentError(f"candidate and baseline are both {shortened(baseline)}; choose two different systems")
    return candidate, baseline
