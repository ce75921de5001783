"""A guard's settings, checked: losses with their levels, δ, a blend with the baseline."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from surefoot.arguments import LARGEST_COUNT, finite_number, integer
from surefoot.decide.evidence.conditions import LOSSES, ConditionRule
from surefoot.decide.evidence.evidence_data import LossName
from surefoot.decide.evidence.nothing_to_lose import parse_treatment
from surefoot.decide.guard.list_pair import ListPair
from surefoot.decide.options import LEAST_DELTA, MOST_DELTA, NothingToLoseTreatment
from surefoot.errors import ArgumentError, shortened
from surefoot.measures.notation import Measure
from surefoot.measures.worst_case import check_bounded

SETTINGS = ("measure", "risk", "share_hurt", "delta", "blend", "budget", "unanswered")


@dataclass(frozen=True)
class GuardSettings:
    """What a guard keeps to."""

    measure: Measure
    levels: dict[LossName, float]
    delta: float
    scorer: str | Callable[[ListPair], Any]
    blend: float | None
    budget: int
    nothing_to_lose_treatment: NothingToLoseTreatment

    @classmethod
    def parse(
        cls,
        *,
        measure: Any,
        risk: Any,
        share_hurt: Any,
        delta: Any,
        scorer: Any,
        blend: Any,
        budget: Any,
        unanswered: Any,
    ) -> GuardSettings:
        """The settings, each checked."""
        given = {"risk": risk, "share_hurt": share_hurt}
        words = "above 0 and below 1, such as 0.02 (no number of queries can prove that nothing is lost)"
        levels: dict[LossName, float] = {
            name: _between(name, given[name], 0, math.nextafter(1, 0), words)
            for name in LOSSES if given[name] is not None
        }  # fmt: skip
        if not levels:
            raise ArgumentError("give what may be lost: risk=0.02, share_hurt=0.05, or both")
        return cls(
            measure=check_bounded(measure),
            levels=levels,
            delta=_between(
                "delta",
                delta,
                math.nextafter(LEAST_DELTA, 0),
                MOST_DELTA,
                f"from {LEAST_DELTA:g} to {MOST_DELTA:g}, such as 0.05",
            ),
            scorer=scorer,
            blend=None if blend is None else _between("blend", blend, 0, 1, "a weight above 0 and at most 1"),
            budget=integer("budget", budget, 1, LARGEST_COUNT),
            nothing_to_lose_treatment=parse_treatment(unanswered),
        )

    @property
    def rules(self) -> tuple[ConditionRule, ...]:
        """The losses as conditions, each at its level."""
        return tuple(ConditionRule(name, level) for name, level in self.levels.items())

    def claim(self, scorer: str, sampling: Any) -> dict[str, Any]:
        """The claim for a record, to which another scorer, another blend or another sample are another use."""
        settings = [str(self.measure), scorer, self.blend, sampling]
        return {
            "delta": self.delta,
            "rules": [rule.to_dict() for rule in self.rules],
            "guard": list(map(str, settings)),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which `parse` makes the same settings, but for the scorer."""
        return {
            "measure": str(self.measure),
            "risk": self.levels.get("risk"),
            "share_hurt": self.levels.get("share_hurt"),
            "delta": self.delta,
            "blend": self.blend,
            "budget": self.budget,
            "unanswered": str(self.nothing_to_lose_treatment),
        }


def _between(name: str, value: Any, low: float, high: float, words: str) -> float:
    number = None if isinstance(value, str) else finite_number(value)
    if number is None or not low < number <= high:
        raise ArgumentError(f"{name} is {shortened(value)}; it must be {words}")
    return number
