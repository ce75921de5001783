"""How a model does on a set of queries beside its baselines: what history keeps and early stopping goes by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.data.ranking import Floats
from surefoot.errors import ArgumentError
from surefoot.risk.expectation import geo_risk
from surefoot.risk.inference import t_risk
from surefoot.risk.tradeoff import check_alpha, u_risk

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
        name, _, alpha = str(text).partition("@")
        if name not in CRITERIA:
            raise ArgumentError(f"stop_on is {text!r}; it must be one of {', '.join(CRITERIA)}, such as u_risk@5")
        return cls(name, check_alpha(alpha or 0))

    def __str__(self) -> str:
        """As it parses."""
        return self.name if self.name == "effectiveness" else f"{self.name}@{self.alpha:g}"

    def __call__(self, values: Floats, baselines: Floats | None) -> float:
        """The criterion of a model's M(q) against baselines' (a row each); the greater the better."""
        if self.name == "effectiveness" or baselines is None:
            return float(values.mean())
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
        difference = values - baselines.mean(axis=0)
        found["reward"] = float(np.maximum(difference, 0).mean())
        found["risk"] = float(-np.minimum(difference, 0).mean())
        found["wins"] = float((difference > 0).sum())
        found["losses"] = float((difference < 0).sum())
    return found
