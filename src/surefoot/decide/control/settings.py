"""A controller's settings, checked: losses with their levels, δ, the method, how far lists may move."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.arguments import LARGEST_COUNT, finite_number, integer
from surefoot.decide.control.list_pair import ListPair, Movement
from surefoot.decide.evidence.conditions import CONDITIONS, LOSSES, ConditionRule, LossName
from surefoot.decide.evidence.nothing_to_lose import parse_treatment
from surefoot.decide.evidence.nothing_to_lose_treatment import NothingToLoseTreatment
from surefoot.decide.options import LEAST_DELTA, MOST_DELTA, PROOF_METHODS
from surefoot.errors import ArgumentError, shortened
from surefoot.measures.notation import Measure
from surefoot.measures.worst_case import check_bounded

SETTINGS = ("measure", "level", "loss", "delta", "method", "blend", "movement_cap", "drift", "budget", "unanswered")
MOST_DRIFT = 1e6


@dataclass(frozen=True)
class ControllerSettings:
    """What a controller keeps to, and how it proves that."""

    measure: Measure
    levels: dict[LossName, float]
    delta: float
    method: str
    scorer: str | Callable[[ListPair], Any]
    movement: Movement
    drift: float
    budget: int
    nothing_to_lose_treatment: NothingToLoseTreatment

    @classmethod
    def parse(
        cls,
        *,
        measure: Any,
        level: Any,
        loss: Any,
        delta: Any,
        method: Any,
        scorer: Any,
        blend: Any,
        movement_cap: Any,
        drift: Any,
        budget: Any,
        unanswered: Any,
    ) -> ControllerSettings:
        """The settings, each checked."""
        levels = _levels(loss, level)
        if method not in PROOF_METHODS:
            raise ArgumentError(f"method is {shortened(method)}; it must be one of {', '.join(PROOF_METHODS)}")
        if method == "binomial" and any(CONDITIONS[name].zero_or_one != "always" for name in levels):
            raise ArgumentError(
                "the binomial test is only for losses of 0 or 1; use loss='share_hurt', or method='betting'"
            )
        weight = None if blend is None else _between("blend", blend, 0, 1, "a weight above 0 and at most 1")
        cap = None if movement_cap is None else integer("movement_cap", movement_cap, 1, LARGEST_COUNT)
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
            method=method,
            scorer=scorer,
            movement=Movement(weight, cap),
            drift=_between(
                "drift",
                drift,
                math.nextafter(1, 0),
                MOST_DRIFT,
                "at least 1 (how many times more frequent a query may become)",
            ),
            budget=integer("budget", budget, 1, LARGEST_COUNT),
            nothing_to_lose_treatment=parse_treatment(unanswered),
        )

    @property
    def rules(self) -> tuple[ConditionRule, ...]:
        """The losses as conditions, each at its level over the drift that is allowed."""
        return tuple(ConditionRule(name, level / self.drift) for name, level in self.levels.items())

    def claim(self, scorer: str, sampling: Any) -> dict[str, Any]:
        """The claim for a record, to which another scorer, another blend or other weights are another use."""
        settings = [str(self.measure), self.method, scorer, self.movement.blend, self.movement.cap, sampling]
        return {
            "delta": self.delta,
            "rules": [rule.to_dict() for rule in self.rules],
            "controller": list(map(str, settings)),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which `parse` makes the same settings, but for the scorer."""
        return {
            "measure": str(self.measure),
            "level": dict(self.levels),
            "loss": list(self.levels),
            "delta": self.delta,
            "method": self.method,
            "blend": self.movement.blend,
            "movement_cap": self.movement.cap,
            "drift": self.drift,
            "budget": self.budget,
            "unanswered": str(self.nothing_to_lose_treatment),
        }


def _levels(loss: Any, level: Any) -> dict[LossName, float]:
    """Each loss and its level: one level for all, or a dict of them."""
    if isinstance(level, Mapping) and loss is None:
        loss = list(level)
    names = ["risk"] if loss is None else [loss] if isinstance(loss, str) else list(loss)
    unknown = [name for name in names if name not in LOSSES]
    if unknown or not names or len(set(names)) < len(names):
        raise ArgumentError(
            f"loss is {shortened(loss)}; it must be {' or '.join(LOSSES)}, or a list of both, each only once"
        )
    levels = level if isinstance(level, Mapping) else dict.fromkeys(names, level)
    if set(levels) != set(names):
        raise ArgumentError(f"levels are given for {shortened(list(levels))}, but the losses are {shortened(names)}")
    words = "above 0 and below 1, such as 0.02 (no number of queries can prove that nothing is lost)"
    return {name: _between(f"the level of {name}", levels[name], 0, math.nextafter(1, 0), words) for name in names}


def _between(name: str, value: Any, low: float, high: float, words: str) -> float:
    number = None if isinstance(value, str) else finite_number(value)
    if number is None or not low < number <= high:
        raise ArgumentError(f"{name} is {shortened(value)}; it must be {words}")
    return number
