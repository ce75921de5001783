"""What is optimised: the objectives by name.

| objective | Δ of a swap that changes M(q) by ΔM |
|---|---|
| `gain` | ΔM |
| `u_risk` | f_α(δ + ΔM) − f_α(δ) (Wang et al., SIGIR 2012); by `rule="eq9"` ΔM, (1 + α)ΔM below the baseline |
| `saro` | as `u_risk`, with α_q = α·(1 − Φ(δ_q / s_x)) instead of α (Dinçer et al., SIGIR 2014) |
| `faro` | (1 + α_q)·ΔM on every query |
| `geo_risk` | c·(GeoRisk after − before), with expectations held (Dinçer et al., SIGIR 2016) |

`regression` has no pairs. Of documents with gains g, a ranking's expected NDCG is Σ_r discount(r)·E[g / ideal DCG], so
the best order is that of E[g / ideal DCG] (Ravikumar et al., AISTATS 2011), which least squares finds, at all ranks
alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.errors import ArgumentError, did_you_mean, shortened
from surefoot.learn import kernel
from surefoot.learn.options import ESTIMATE, ESTIMATES, OBJECTIVE, OBJECTIVES, RISK_OBJECTIVES, RULE, RULES
from surefoot.risk.tradeoff import check_alpha

_KINDS = {"gain": kernel.GAIN, "faro": kernel.WEIGHTED, "geo_risk": kernel.GEO_RISK}


@dataclass(frozen=True)
class Objective:
    """An objective by name, its α and its rules.

    `rule` is Wang's exact Δ or Dinçer 2016's Eq. 9, for `u_risk` and `saro`; `estimate` says when `saro` and `faro`
    estimate s_x: in "each" iteration, or after the "first" tree only, as the paper does.
    """

    name: str = OBJECTIVE
    alpha: float = 0.0
    rule: str = RULE
    estimate: str = ESTIMATE

    def __post_init__(self) -> None:
        """Reject unknown names."""
        for what, value, known in (
            ("objective", self.name, OBJECTIVES),
            ("rule", self.rule, RULES),
            ("estimate", self.estimate, ESTIMATES),
        ):
            if not isinstance(value, str) or value not in known:
                raise ArgumentError(
                    f"{what} is {shortened(value)}; it must be one of {', '.join(known)}{did_you_mean(value, known)}"
                )
        object.__setattr__(self, "alpha", check_alpha(self.alpha))  # a number, whatever stood for it

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares with a baseline; then α has a meaning, too."""
        return self.name in RISK_OBJECTIVES

    @property
    def kind(self) -> int:
        """Which switch of the kernel it is."""
        if self.name in ("u_risk", "saro"):
            return kernel.U_RISK if self.rule == "exact" else kernel.U_RISK_EQ9
        if self.name not in _KINDS:
            raise ArgumentError(f"objective {self.name} has no pairs of documents, and so no switch of the kernel")
        return _KINDS[self.name]
