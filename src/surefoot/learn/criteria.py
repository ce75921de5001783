"""How a model does on a set of queries beside its baselines: what history keeps and early stopping goes by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError, shortened
from surefoot.risk.expectation import geo_risk
from surefoot.risk.inference import t_risk
from surefoot.risk.tradeoff import check_alpha, reward, risk, u_risk

CRITERIA = ("effectiveness", "u_risk", "t_risk", "geo_risk")


@dataclass(frozen=True)
class Criterion:
    """What a validation set is judged by: effectiveness, or a risk measure at an α, written `u_risk@5`."""

    name: str
    alpha: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Criterion:
        """Read `effectiveness`, `u_risk@5`, `t_risk@1` or `geo_risk@5`.

        >>> Criterion.parse("geo_risk@5")
        Criterion(name='geo_risk', alpha=5.0)
        """
        name, at, alpha = str(text).partition("@")
        if name not in CRITERIA:
            raise ArgumentError(
                f"stop_on is {shortened(text)}; it must be one of {', '.join(CRITERIA)}, such as u_risk@5"
            )
        if (name == "effectiveness") == bool(at):
            raise ArgumentError(
                f"stop_on is {shortened(text)}; effectiveness has no α, and the others need one, such as u_risk@5: "
                "each loss counts 1 + α times"
            )
        return cls(name, check_alpha(alpha) if at else 0.0)

    def __str__(self) -> str:
        """As it parses."""
        return self.name if self.name == "effectiveness" else f"{self.name}@{self.alpha:g}"

    def lacks_a_baseline(self) -> ArgumentError:
        """The error where there is none to compare with."""
        return ArgumentError(f"stop_on={str(self)!r} compares with a baseline; give one, or stop on effectiveness")

    def __call__(self, values: Floats, baselines: Floats | None) -> float:
        """The criterion of a model's M(q) against baselines' (a row each); the greater the better."""
        if self.name == "effectiveness":
            return float(values.mean())
        if baselines is None:
            raise self.lacks_a_baseline()
        if self.name == "geo_risk":
            return float(geo_risk(np.vstack([baselines, values]), self.alpha)[-1])
        reference = baselines.mean(axis=0)
        if self.name == "u_risk":
            return u_risk(values, reference, self.alpha)
        return t_risk(values, reference, self.alpha) or 0.0


def figures(values: Floats, baselines: Floats | None) -> dict[str, float]:
    """Effectiveness, and where there are baselines reward, risk, wins and losses against their mean."""
    found = {"effectiveness": float(values.mean())}
    if baselines is not None:
        against = baselines.mean(axis=0)
        difference = values - against
        found["reward"] = reward(values, against)
        found["risk"] = risk(values, against)
        found["wins"] = float((difference > 0).sum())
        found["losses"] = float((difference < 0).sum())
    return found


def is_number(value: Any) -> bool:
    """Whether a value read from JSON is a finite number."""
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 2**63)


def check_history(history: Any, lengths: Mapping[str, int] | None = None) -> None:
    """Raise ValueError unless this is a history: for each set of queries its figures, lists of as many numbers."""
    if not isinstance(history, dict) or set(history) != {"train", "valid"}:
        raise ValueError("its history is not one of train and valid")
    for which, kept in history.items():
        if not isinstance(kept, dict) or not all(isinstance(values, list) for values in kept.values()):
            raise ValueError(f"its history of {which} does not hold lists")
        found = {len(values) for values in kept.values()}
        if len(found) > 1 or (lengths is not None and found - {lengths[which]}):
            raise ValueError(f"its history of {which} has a wrong length")
        if not all(is_number(value) for values in kept.values() for value in values):
            raise ValueError(f"its history of {which} holds something that is not a number")
