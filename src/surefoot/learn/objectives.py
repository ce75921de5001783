"""What is optimised: one table of the objectives, which options, settings, gradients and the command line read.

Δ is what the objective makes of a swap of two documents that changes M(q) by ΔM; δ is the query's difference to the
baseline. Under `rule="eq9"` Δ is ΔM, and (1 + α)·ΔM where the swap ends below the baseline.

`regression` has no pairs. Of documents with gains g, a ranking's expected nDCG is Σ_r discount(r)·E[g / ideal DCG], so
the best order is that of E[g / ideal DCG] (Ravikumar et al., AISTATS 2011), which least squares finds, at all ranks
alike. With α above 0 the error of a document counts 1 + α times while the model does it harm against the baseline: a
document that is worth more than its query's mean and stands lower than there, or one worth less that stands higher.

Importing this loads neither NumPy nor the compiled kernel. docs/extend/objective.md says how to add an objective.
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.errors import ArgumentError, did_you_mean, shortened

RULES = ("exact", "eq9")
ESTIMATES = ("each", "first")


@dataclass(frozen=True, kw_only=True)
class ObjectiveKind:
    """A row of the table: what an objective is, and what has to be computed for it.

    `switch` names the kernel's constant for its Δ, `eq9_switch` the one under `rule="eq9"` (the same where there is
    none); an objective without pairs has no switch. `delta` and `paper` are its words in docs/learn.md.
    """

    name: str
    delta: str
    paper: str
    switch: str | None
    eq9_switch: str | None = None
    needs_baseline: bool = False  # it weighs risk: it compares with a baseline, and needs α
    alpha_per_query: bool = False  # α_q = α·(1 − Φ(δ_q / s_x)), where s_x is estimated from sums over all queries
    optional_alpha: bool = False  # it weighs risk, and compares with a baseline, where α is above 0
    needs_totals: bool = False  # GeoRisk's S and Z, which are sums over all queries
    measure_families: tuple[str, ...] | None = None  # None: every measure that can be optimised


OBJECTIVE_KINDS = {
    kind.name: kind
    for kind in (
        ObjectiveKind(name="gain", delta="ΔM", paper="Burges 2010", switch="GAIN"),
        ObjectiveKind(
            name="u_risk",
            delta='f_α(δ + ΔM) − f_α(δ); `rule="eq9"` for the form of Dinçer 2016',
            paper="Wang et al., SIGIR 2012",
            switch="U_RISK",
            eq9_switch="U_RISK_EQ9",
            needs_baseline=True,
        ),
        ObjectiveKind(
            name="saro",
            delta="as `u_risk`, with α_q = α·(1 − Φ(δ_q/s_x))",
            paper="Dinçer et al., SIGIR 2014",
            switch="U_RISK",
            eq9_switch="U_RISK_EQ9",
            needs_baseline=True,
            alpha_per_query=True,
        ),
        ObjectiveKind(
            name="faro",
            delta="(1 + α_q)·ΔM on every query",
            paper="Dinçer et al., SIGIR 2014",
            switch="WEIGHTED",
            needs_baseline=True,
            alpha_per_query=True,
        ),
        ObjectiveKind(
            name="geo_risk",
            delta="c·(GeoRisk after − before), with expectations held",
            paper="Dinçer et al., SIGIR 2016",
            switch="GEO_RISK",
            needs_baseline=True,
            needs_totals=True,
        ),
        ObjectiveKind(
            name="regression",
            delta="none: least squares on g/IDCG, see below",
            paper="Ravikumar et al., AISTATS 2011",
            switch=None,
            optional_alpha=True,
            measure_families=("nDCG",),
        ),
    )
}


@dataclass(frozen=True)
class Objective:
    """An objective by name, its α and its rules.

    `rule` is Wang's exact Δ or Dinçer 2016's Eq. 9, for `u_risk` and `saro`; `estimate` says when `saro` and `faro`
    estimate s_x, the sample deviation of the weighted differences f_α(δ_q): in "each" iteration, or after the "first"
    tree only, as the paper does.
    """

    name: str = "gain"
    alpha: float = 0.0
    rule: str = RULES[0]
    estimate: str = ESTIMATES[0]

    def __post_init__(self) -> None:
        """Reject unknown names."""
        from surefoot.risk.tradeoff import check_alpha

        for what, value, known in (
            ("objective", self.name, tuple(OBJECTIVE_KINDS)),
            ("rule", self.rule, RULES),
            ("estimate", self.estimate, ESTIMATES),
        ):
            if not isinstance(value, str) or value not in known:
                raise ArgumentError(
                    f"{what} is {shortened(value)}; it must be one of {', '.join(known)}{did_you_mean(value, known)}"
                )
        object.__setattr__(self, "alpha", check_alpha(self.alpha))  # as a number, whatever type it was given as

    @property
    def kind(self) -> ObjectiveKind:
        """Its row of the table."""
        return OBJECTIVE_KINDS[self.name]

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares with a baseline; then α has a meaning, too."""
        return self.kind.needs_baseline or (self.kind.optional_alpha and self.alpha > 0)

    @property
    def has_pairs(self) -> bool:
        """Whether pairs of documents are compared."""
        return self.kind.switch is not None

    def kernel_switch(self) -> int:
        """The kernel's constant for its Δ."""
        from surefoot.learn import kernel

        switch = (self.rule == "eq9" and self.kind.eq9_switch) or self.kind.switch
        if switch is None:
            raise ArgumentError(
                f"objective {self.name} does not compare pairs of documents, so the kernel cannot compute it"
            )
        return int(getattr(kernel, switch))
