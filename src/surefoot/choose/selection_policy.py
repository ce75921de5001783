"""Policies by which one of a sweep's candidates is chosen: what they require, and what they prefer of what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.arguments import finite_number
from surefoot.choose.options import CROSS_VALIDATION
from surefoot.errors import ArgumentError, shortened
from surefoot.report.numbers import percent, signed
from surefoot.risk.assessment_data import Json
from surefoot.risk.tradeoff import alpha_key

POLICIES = {
    "max_risk": "the most gain with a risk of at most {level:g}",
    "keep_gain": "the least risk that keeps {share} of the gain-only model's gain",
    "less_risk": "the most gain of those with more gain and at least {share} less risk than the gain-only model",
    "largest_area": "the largest area under the curve of gain by the share of re-ranked queries",
    "geo_risk": "the highest GeoRisk at α = {level:g}",
}
_TAKEN = {  # of which models one is taken, and which one
    "max_risk": (" with a risk of at most {level:g}", "the most gain"),
    "keep_gain": (" that keep {share} of the gain", "the least risk"),
    "less_risk": (" with more gain and at least {share} less risk than gain alone", "the most gain"),
    "largest_area": ("", "the largest area under the curve of gain by the share of re-ranked queries"),
    "geo_risk": ("", "the highest GeoRisk at α = {level:g}"),
}
_SHARES = ("keep_gain", "less_risk")  # whose levels are at most 1
_RULES = ("max_risk", "keep_gain", "less_risk")  # of gain and risk alone, which have standard errors
CHOSEN_ON = {"valid": "validation data", CROSS_VALIDATION: "training queries (cross-validation)"}


@dataclass(frozen=True)
class SelectionPolicy:
    """A rule, and its level: the greatest risk, the share of the gain to keep or of the risk to save, or GeoRisk's α.

    With `one_se`, of what does the best within one standard error: that of least risk, or of most gain where the rule
    is for least risk. With `nearest`, where nothing satisfies the rule, what comes nearest.
    """

    name: str
    level: float = 0.0
    one_se: bool = False
    nearest: bool = False

    def __post_init__(self) -> None:
        """Reject unknown rules, and levels that mean nothing."""
        if self.name not in POLICIES:
            raise ArgumentError(f"there is no policy {shortened(self.name)}; the policies are: {', '.join(POLICIES)}")
        level = finite_number(self.level)
        if level is None or level < 0 or (self.name in _SHARES and level > 1):
            raise ArgumentError(
                f"{self.name} is {shortened(self.level)}; it must be a number of at least 0"
                + (", and at most 1" if self.name in _SHARES else "")
            )
        if self.name not in _RULES and (self.one_se or self.nearest):
            what = "one_se" if self.one_se else "nearest"
            raise ArgumentError(f"{what} works only with {', '.join(_RULES)}; leave it out for {self.name}")

    @property
    def words(self) -> str:
        """What is wanted."""
        within = ", within one standard error" if self.one_se else ""
        return POLICIES[self.name].format(level=self.level, share=percent(self.level)) + within

    @property
    def taken(self) -> tuple[str, str]:
        """Of which models one is taken, and which one, in words."""
        those, which = (words.format(level=self.level, share=percent(self.level)) for words in _TAKEN[self.name])
        if self.one_se:
            second = "the most gain" if which == "the least risk" else "the least risk"
            which = f"{second} within one standard error of {which}"
        return those, which

    def holds(self, gain: Any, risk: Any, full_gain: Any, full_risk: Any) -> Any:
        """Whether gain and risk satisfy the rule beside the gain-only model's: figures, or arrays of them."""
        match self.name:
            case "max_risk":
                return risk <= self.level
            case "keep_gain":
                return (full_gain > 0) & (gain >= self.level * full_gain)
            case _:
                return (gain > full_gain) & (risk <= (1 - self.level) * full_risk)

    def choose(self, rows: Sequence[Json], gain_row: Json, fold: str, part: str = "valid") -> tuple[Json, int]:
        """The row that does best on a fold's data to choose by, and how many satisfy the policy there."""

        def on(row: Json) -> Json:
            figures: Json = row["folds"][fold][part]
            return figures

        if self.name not in _RULES:
            return self._choose_highest(rows, on, fold, part)
        gain_only_figures = on(gain_row)
        eligible = [
            row for row in rows
            if self.holds(on(row)["gain"], on(row)["risk"], gain_only_figures["gain"], gain_only_figures["risk"])
        ]  # fmt: skip
        if not eligible:
            nearest, why = self._nearest(rows, gain_only_figures, on)
            if not self.nearest:
                raise self._refusal(fold, part, why)
            return nearest, 0
        return self._best(eligible, on), len(eligible)

    def _best(self, eligible: Sequence[Json], on: Callable[[Json], Json]) -> Json:
        """What the rule prefers; with `one_se`, of what is within one standard error of that."""

        def by_gain(row: Json) -> tuple[float, float]:
            return -on(row)["gain"], on(row)["risk"]

        def by_risk(row: Json) -> tuple[float, float]:
            return on(row)["risk"], -on(row)["gain"]

        first, second = (by_risk, by_gain) if self.name == "keep_gain" else (by_gain, by_risk)
        best = min(eligible, key=first)
        if not self.one_se:
            return best
        error = on(best).get("standard_error", {}).get("risk" if self.name == "keep_gain" else "gain")
        if error is None:
            raise ArgumentError("the sweep's result has no standard errors; run the sweep again (it trains nothing)")
        return min((row for row in eligible if first(row)[0] <= first(best)[0] + error), key=second)

    def _nearest(self, rows: Sequence[Json], gain_only_figures: Json, on: Callable[[Json], Json]) -> tuple[Json, str]:
        """What comes nearest to the rule, and how far it is."""
        least = min(rows, key=lambda row: float(on(row)["risk"]))
        most = max(rows, key=lambda row: float(on(row)["gain"]))
        if self.name == "max_risk":
            return least, f"the least risk is {on(least)['risk']:.4f} ({least['name']})"
        if self.name == "keep_gain":
            if gain_only_figures["gain"] <= 0:
                return most, f"the gain-only model does not gain there ({signed(gain_only_figures['gain'], 4)})"
            wanted = self.level * gain_only_figures["gain"]
            return (
                most,
                f"a gain of {wanted:.4f} is required, and the greatest is {on(most)['gain']:.4f} ({most['name']})",
            )
        safe = [row for row in rows if on(row)["risk"] <= (1 - self.level) * gain_only_figures["risk"]]
        if not safe:
            return least, (
                f"a risk of at most {(1 - self.level) * gain_only_figures['risk']:.4f} is required, and the least is "
                f"{on(least)['risk']:.4f} ({least['name']})"
            )
        near = max(safe, key=lambda row: float(on(row)["gain"]))
        return near, (
            f"of the candidates with so little risk, {near['name']} gains most, {signed(on(near)['gain'], 4)}; the "
            f"gain-only model gains {signed(gain_only_figures['gain'], 4)}"
        )

    def _choose_highest(
        self, rows: Sequence[Json], on: Callable[[Json], Json], fold: str, part: str
    ) -> tuple[Json, int]:
        """The row of the largest area, or of the highest GeoRisk."""
        if self.name == "largest_area":
            eligible = [row for row in rows if "area" in on(row)]
            if not eligible:
                why = "every candidate re-ranks more queries than the gain-only model"
                raise self._refusal(fold, part, why)
            return max(eligible, key=lambda row: float(on(row)["area"])), len(eligible)
        key = alpha_key(self.level)
        eligible = [row for row in rows if on(row).get("geo_risk", {}).get(key) is not None]
        if not eligible:
            known = ", ".join(on(rows[0]).get("geo_risk", {}))
            why = f"the sweep has GeoRisk at α = {known}" if known else "GeoRisk needs several baselines"
            raise self._refusal(fold, part, why)
        return max(eligible, key=lambda row: float(on(row)["geo_risk"][key])), len(eligible)

    def _refusal(self, fold: str, part: str, why: str) -> ArgumentError:
        return ArgumentError(
            f"no candidate satisfies the policy ({self.words}) on the {CHOSEN_ON[part]} of {fold}: {why}"
        )
