"""What a candidate is compared with: a system, several, or the per-query mean, median or maximum of a population."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError, name_list, shortened
from surefoot.risk.tradeoff import ROUNDING, difference_of

if TYPE_CHECKING:
    from surefoot.data.types.scores import Scores

VIRTUAL_BASELINES: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda values: np.asarray(values.mean(axis=0)),
    "median": lambda values: np.asarray(np.median(values, axis=0)),
    "max": lambda values: np.asarray(values.max(axis=0)),
}


_LIVE_NAME = re.compile("base|today|current|prod|live|control|default|bm25|indri", re.IGNORECASE)


def likely_baselines(systems: Sequence[str]) -> list[str]:
    """The systems whose names look like that of a baseline, unless all do.

    >>> likely_baselines(["bold", "today"])
    ['today']
    """
    likely = [name for name in systems if _LIVE_NAME.search(name)]
    return likely if len(likely) < len(systems) else []


def baseline_choices(systems: Sequence[str]) -> str:
    """What may be named as a baseline, the names that look like one first.

    >>> baseline_choices([*(f"run{i}" for i in range(9)), "prod-v7"])
    'perhaps prod-v7; choose one of the 10 systems (run0, ..., run7 and 2 more), or mean, median or max per query'
    """
    likely = likely_baselines(systems)
    perhaps = f"perhaps {name_list(likely, 5)}; " if likely else ""
    return (
        f"{perhaps}choose one of the {len(systems)} systems ({name_list(systems, 8)}), or mean, median or max per query"
    )


def population_rows(scores: Scores, population: Sequence[str] | None) -> list[int]:
    """The rows that expectations are taken over: every system unless named."""
    if population is None:
        return list(range(len(scores.systems)))
    rows = [scores._row(name) for name in _names("population", population)]
    if not rows or len(set(rows)) < len(rows):
        raise ArgumentError("the population must name at least one system, and each once")
    return rows


def vectors_of_baselines(scores: Scores, baseline: str | Sequence[str], population: list[int]) -> dict[str, Floats]:
    """The score vectors to compare with, by name."""
    return {
        name: VIRTUAL_BASELINES[name](scores.values[population]) if name in VIRTUAL_BASELINES else scores[name]
        for name in baseline_names(scores, baseline)
    }


def baseline_names(scores: Scores, baseline: str | Sequence[str]) -> list[str]:
    """The names of systems to compare with, and of those made per query of all, each once."""
    names = _names("baseline", baseline)
    if not names:
        raise ArgumentError("no baseline was given; choose a system, several systems, or one of mean, median and max")
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ArgumentError(f"baseline {shortened(name)} is given twice")
        if name not in VIRTUAL_BASELINES:
            scores._row(name)
        elif name in scores.systems:
            raise ArgumentError(
                f"{name!r} is the name of a system, and it also means the per-query {name} of all systems; rename the "
                "system"
            )
    return names


def differences(scores: Scores, against: Mapping[str, Floats]) -> dict[str, Floats]:
    """δ_q of every system to each baseline.

    A per-query mean carries the rounding of scores that are larger than it, which must make neither a win nor a loss.
    """
    return {name: difference_of(scores.values, vector, mean_rounding(scores, name)) for name, vector in against.items()}


def mean_rounding(scores: Scores, name: str) -> float:
    """By how much a baseline may be off that is made of all systems per query; 0 for a system."""
    return ROUNDING * scores._largest() if name in VIRTUAL_BASELINES else 0.0


def _names(what: str, value: str | Sequence[str]) -> list[str]:
    names = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"the {what} is {shortened(value)}; give the name of a system, or a list of names")
    return names
