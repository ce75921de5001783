"""The conditions that a release, or a guard, can be held to: one entry for each, with all that depends on which.

The condition `share_hurt` alone means losses of more than 20 % by "hurt"; elsewhere a query is hurt by any loss, and
texts and pages call one that loses over 20 % badly hurt.

A condition is about a figure that is the mean over traffic of a value per query, v(q):

    risk           v = max(0, −δ_q)                         at most the level
    share_hurt     v = 1 where the query loses over 20 %    at most the level
    gain           v = δ_q                                  above the level
    U_Risk(α)      v = f_α(δ_q)                             above the level

It is proved as a mean of x within [0, 1]: figure = offset + scale·E[x]. Of queries drawn in proportion to V, values are
divided by V and the figure is multiplied by V̄, the mean of V over traffic; both are 1 for plain samples.

    at most        x = v/V/width                            offset = 0     scale = width·V̄
    above          x = (1 − v/V)/width                      offset = V̄     scale = −width·V̄
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from surefoot.arrays import Floats
from surefoot.decide.evidence.evidence_data import ConditionName, ToProve
from surefoot.errors import DataError, name_list, shortened
from surefoot.measures.notation import is_binary
from surefoot.risk.tradeoff import difference_of, weigh_losses, which_lose_over_20


class BoundedMean(NamedTuple):
    """x of each query, within [0, 1], and how its mean becomes the figure: offset + scale·mean."""

    x: Floats
    offset: float
    scale: float


@dataclass(frozen=True, kw_only=True)
class ConditionKind:
    """A kind of condition; `ConditionRule` is one of them at a level.

    `values` gives v of each query from the candidate's scores, the baseline's, and α; they span `width`, which may
    depend on α: from 0 to width where the figure must be at most the level, from 1 − width to 1 where it must be above.
    """

    name: str  # in policies and in JSON
    title: str  # in texts and pages
    words: str  # the figure, within a sentence
    direction: Literal["at most", "above"]
    values: Callable[[Floats, Floats, float], Floats]
    width: Callable[[float], float] = lambda alpha: 1.0
    example: float  # a usual level
    plain_title: str | None = None  # in a certificate's headlines and above figures; None where `title` is short
    example_alpha: float | None = None  # a usual α; None where the condition has none
    zero_or_one: Literal["always", "binary measures", "never"] = "never"  # when v is 0 or 1: it has an exact test then
    to_prove: ToProve | None = None  # what queries must be drawn for to decide it; None where draws cannot
    promise: Callable[[float, str], str] | None = None  # a certificate's words for a level and a measure; None where
    # a guard cannot keep to it. It can where v is never below 0: showing fewer lists then never makes it greater.

    @property
    def heading(self) -> str:
        """The figure in headlines and above figures."""
        return self.plain_title or self.title

    @property
    def at_most(self) -> bool:
        """Whether the figure must be at most the level; otherwise it must be above."""
        return self.direction == "at most"

    @property
    def is_share(self) -> bool:
        """Whether the figure is a share of queries, which people read in percent."""
        return self.zero_or_one == "always"

    @property
    def has_alpha(self) -> bool:
        """Whether it needs an α."""
        return self.example_alpha is not None

    @property
    def level_key(self) -> str:
        """What a policy calls the level, beside alpha."""
        return self.direction.replace(" ", "_")

    @property
    def within_worst_case(self) -> bool:
        """Whether v is never above what a query could lose at most, W(q)."""
        return self.to_prove == "risk"

    def limits(self, alpha: float | None) -> tuple[float, float]:
        """Between what the figure lies."""
        width = self.width(alpha or 0.0)
        return (0.0, width) if self.at_most else (1.0 - width, 1.0)

    def has_exact_test(self, measure: str) -> bool:
        """Whether v is 0 or 1 under the measure; the exact binomial test then needs fewer queries than betting."""
        return self.zero_or_one == "always" or (self.zero_or_one == "binary measures" and is_binary(measure))

    def bounded_mean(
        self, candidate: Floats, baseline: Floats, alpha: float | None, drawn_by: Floats | float, could_lose_mean: float
    ) -> BoundedMean:
        """x, offset and scale; `drawn_by` is V of each query, `could_lose_mean` V̄."""
        own = alpha or 0.0
        values, width = self.values(candidate, baseline, own) / drawn_by, self.width(own)
        if self.at_most:
            return BoundedMean(values / width, 0.0, width * could_lose_mean)
        return BoundedMean((1 - values) / width, could_lose_mean, -width * could_lose_mean)

    def policy_example(self) -> str:
        """A line of a policy, as in `risk = 0.02`."""
        if self.example_alpha is None:
            return f"{self.name} = {self.example}"
        return f"{self.name} = {{alpha = {self.example_alpha:g}, {self.level_key} = {self.example}}}"


def _loss(candidate: Floats, baseline: Floats, alpha: float) -> Floats:
    return np.maximum(-difference_of(candidate, baseline), 0)


def _loses_over_20(candidate: Floats, baseline: Floats, alpha: float) -> Floats:
    return which_lose_over_20(difference_of(candidate, baseline), baseline).astype(np.float64)


def _difference(candidate: Floats, baseline: Floats, alpha: float) -> Floats:
    return difference_of(candidate, baseline)


def _weighed_difference(candidate: Floats, baseline: Floats, alpha: float) -> Floats:
    return weigh_losses(difference_of(candidate, baseline), alpha)


CONDITIONS: dict[str, ConditionKind] = {  # in the order in which policies are read and decisions list them
    condition.name: condition
    for condition in (
        ConditionKind(
            name="risk",
            title="risk",
            words="the average loss",
            direction="at most",
            values=_loss,
            example=0.02,
            zero_or_one="binary measures",
            to_prove="risk",
            promise=lambda level, measure: f"loses on average at most {level:g} of {measure} per query",
        ),
        ConditionKind(
            name="share_hurt",
            title="share of badly hurt queries",
            words="the share of queries that lose over 20 %",
            direction="at most",
            values=_loses_over_20,
            example=0.05,
            zero_or_one="always",
            promise=lambda level, measure: (
                f"makes at most {100 * level:g} % of queries lose over a fifth of their {measure}"
            ),
        ),
        ConditionKind(
            name="gain",
            title="gain",
            words="the gain",
            direction="above",
            values=_difference,
            width=lambda alpha: 2.0,
            example=0.0,
            to_prove="gain",
        ),
        ConditionKind(
            name="u_risk",
            title="U_Risk",
            words="U_Risk",
            direction="above",
            values=_weighed_difference,
            width=lambda alpha: 2 + alpha,
            example=0.0,
            example_alpha=5,
            to_prove="gain",
        ),
    )
}
LOSSES = tuple(name for name, condition in CONDITIONS.items() if condition.promise is not None)  # of guards


def condition_named(name: str) -> ConditionKind:
    """The condition of this name; files may name any."""
    if not isinstance(name, str) or name not in CONDITIONS:
        raise DataError(f"has an unknown condition {shortened(name)}; it must be one of: {name_list([*CONDITIONS])}")
    return CONDITIONS[name]


class ConditionRuleData(TypedDict):
    """A condition as the policy has it."""

    name: ConditionName
    segment: str | None
    level: float
    alpha: float | None


@dataclass(frozen=True)
class ConditionRule:
    """One condition at a level, of all queries or of a segment."""

    name: ConditionName
    level: float
    alpha: float | None = None
    segment: str | None = None

    @property
    def condition(self) -> ConditionKind:
        """What kind of condition it is."""
        return condition_named(self.name)

    @property
    def words(self) -> str:
        """As in `risk ≤ 0.02`, `share of badly hurt queries ≤ 10 %` or `U_Risk(5) > 0`."""
        condition = self.condition
        figure = condition.title + (f"({self.alpha:g})" if condition.has_alpha else "")
        level = f"{100 * self.level:g} %" if condition.is_share else f"{self.level:g}"
        return f"{figure} {'≤' if condition.at_most else '>'} {level}"

    def to_dict(self) -> ConditionRuleData:
        """Plain data that JSON can hold."""
        return {"name": self.name, "segment": self.segment, "level": self.level, "alpha": self.alpha}


def confidence(delta: float) -> str:
    """1 − δ in percent.

    >>> confidence(0.05), confidence(0.0076)
    ('95 %', '99.24 %')
    """
    return f"{100 * (1 - delta):.4g} %"
