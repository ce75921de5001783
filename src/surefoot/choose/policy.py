"""Which of a sweep's candidates to ship: a policy chooses on validation data, and test data say what it is worth."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot.arguments import finite_number
from surefoot.choose.options import MODEL
from surefoot.choose.rows import chosen_in_words, gain_only, pooled
from surefoot.choose.store import Store
from surefoot.choose.tradeoffs import TradeOffs
from surefoot.choose.trainings import Trainings
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.learn.ranker import Ranker
from surefoot.report.measure_names import measure_title
from surefoot.report.numbers import signed
from surefoot.report.plain_json import to_json
from surefoot.risk.assess import alpha_key
from surefoot.risk.plain_data import Json

SCHEMA = "surefoot/choice/1"
POLICIES = {
    "max_risk": "most gain with a risk of at most {level:g}",
    "keep_gain": "least risk that keeps {level:.0%} of the gain-only model's gain",
    "largest_area": "largest area under the gain by share of queries re-ranked",
    "geo_risk": "highest GeoRisk at α = {level:g}",
}


@dataclass(frozen=True)
class SelectionPolicy:
    """A rule, and its level: the greatest risk, the share of the gain to keep, or GeoRisk's α."""

    name: str
    level: float = 0.0

    def __post_init__(self) -> None:
        """Reject unknown rules, and levels that mean nothing."""
        if self.name not in POLICIES:
            raise ArgumentError(f"there is no policy {shortened(self.name)}; known are: {', '.join(POLICIES)}")
        level = finite_number(self.level)
        if level is None or level < 0 or (self.name == "keep_gain" and level > 1):
            raise ArgumentError(
                f"{self.name} is {shortened(self.level)}; it must be a number of at least 0"
                + (", and at most 1" if self.name == "keep_gain" else "")
            )

    @property
    def words(self) -> str:
        """What is wanted."""
        return POLICIES[self.name].format(level=self.level)

    def choose(self, rows: Sequence[Json], gain: Json, fold: str) -> tuple[Json, int]:
        """The row that does best on a fold's validation data, and how many satisfy the policy there."""

        def on(row: Json) -> Json:
            figures: Json = row["folds"][fold]["valid"]
            return figures

        match self.name:
            case "max_risk":
                fit = [row for row in rows if on(row)["risk"] <= self.level]
                least = min(rows, key=lambda row: float(on(row)["risk"]))
                self._require(fit, fold, f"the least risk is {on(least)['risk']:.4f}, of {least['name']}")
                return max(fit, key=lambda row: float(on(row)["gain"])), len(fit)
            case "keep_gain":
                if on(gain)["gain"] <= 0:
                    self._require([], fold, f"the gain-only model does not gain there ({signed(on(gain)['gain'], 4)})")
                least_gain = self.level * on(gain)["gain"]
                fit = [row for row in rows if on(row)["gain"] >= least_gain]
                most = max(rows, key=lambda row: float(on(row)["gain"]))
                self._require(
                    fit, fold, f"{least_gain:.4f} is wanted, the greatest is {on(most)['gain']:.4f}, of {most['name']}"
                )
                return min(fit, key=lambda row: (on(row)["risk"], -on(row)["gain"])), len(fit)
            case "largest_area":
                fit = [row for row in rows if "area" in on(row)]
                self._require(fit, fold, "none re-ranks at most as many queries as the gain-only model does")
                return max(fit, key=lambda row: float(on(row)["area"])), len(fit)
            case _:
                key = alpha_key(self.level)
                fit = [row for row in rows if on(row).get("geo_risk", {}).get(key) is not None]
                known = ", ".join(on(rows[0]).get("geo_risk", {}))
                self._require(
                    fit, fold, f"the sweep has GeoRisk at α = {known}" if known else "GeoRisk needs several baselines"
                )
                return max(fit, key=lambda row: float(on(row)["geo_risk"][key])), len(fit)

    def _require(self, fit: Sequence[Json], fold: str, why: str) -> None:
        if not fit:
            raise ArgumentError(
                f"no candidate satisfies the policy ({self.words}) on the validation data of {fold}: {why}"
            )


@dataclass(frozen=True)
class Choice:
    """What a policy chose on each fold's validation data, and what that comes to on all test data."""

    policy: SelectionPolicy
    chosen: dict[str, Json]
    satisfied: dict[str, int]
    gain: Json
    among: int
    measure: str
    origin: str

    @property
    def test(self) -> Json:
        """The figures of the choices on all test queries."""
        return pooled(self.chosen)

    def to_dict(self) -> Json:
        """Plain data that JSON can hold."""
        folds = [
            {"fold": fold, "chosen": row["name"], "satisfied": self.satisfied[fold], **row["folds"][fold]}
            for fold, row in self.chosen.items()
        ]
        return {
            "schema": SCHEMA,
            "policy": {"name": self.policy.name, "level": self.policy.level, "words": self.policy.words},
            "measure": self.measure, "candidates": self.among, "folds": folds, "test": self.test,
            "gain_only": pooled(dict.fromkeys(self.chosen, self.gain)), "why": self.words,
        }  # fmt: skip

    def to_json(self) -> str:
        """The data as JSON text."""
        return to_json(self.to_dict())

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json`, all or nothing."""
        write_text(path, self.to_json())

    @property
    def words(self) -> list[str]:
        """What was chosen and why, and what test data say."""
        mine, full = self.test, pooled(dict.fromkeys(self.chosen, self.gain))
        fit = " to ".join(map(str, sorted({min(self.satisfied.values()), max(self.satisfied.values())})))
        sentences = [
            f"{chosen_in_words(self.chosen)}: {self.policy.words}, by {measure_title(self.measure)} on each fold's "
            f"validation data, where {fit} of {self.among} candidates satisfy the policy.",
            f"On all {mine['queries']:,} test queries it gains {signed(mine['gain'], 4)} at a risk of "
            f"{mine['risk']:.4f}, and hurts {mine['loss_over_20']:.0f} queries by more than 20 %; the gain-only model "
            f"{signed(full['gain'], 4)} at {full['risk']:.4f}, and hurts {full['loss_over_20']:.0f}.",
        ]
        if self.policy.name == "max_risk" and mine["risk"] > self.policy.level:
            sentences.append(
                f"On test data its risk is above {self.policy.level:g}: validation data promise nothing certain."
            )
        return sentences


def select(result: TradeOffs, policy: SelectionPolicy, kinds: Sequence[str] = (MODEL,)) -> Choice:
    """What the policy takes of these kinds, fold by fold: a fold's validation queries are other folds' test queries."""
    data = result.to_dict()
    rows = [row for row in data["rows"] if row["kind"] in kinds]
    gain = gain_only(data["rows"])
    if gain is None or not rows:
        raise DataError("the sweep has no gain-only model, or none of these candidates; run it again")
    choices = {fold: policy.choose(rows, gain, fold) for fold in data["folds"]}
    chosen = {fold: row for fold, (row, _) in choices.items()}
    satisfied = {fold: count for fold, (_, count) in choices.items()}
    return Choice(policy, chosen, satisfied, gain, len(rows), data["measure"], data["origin"])


def copy_model(store: Store, choice: Choice, target: Path, fold: str | None = None) -> tuple[str, str, int]:
    """Save a fold's choice (by default the first's) with the first seed; says whose and which model it is."""
    name = next(iter(choice.chosen)) if fold is None else fold
    if name not in choice.chosen:
        raise ArgumentError(f"there is no fold {shortened(name)}; there are {', '.join(choice.chosen)}")
    row = choice.chosen[name]
    if row["kind"] != MODEL:
        raise ArgumentError(
            f"{row['name']} was chosen, which is made of the gain-only model and more; only single models can be "
            "copied: choose among models"
        )
    if store.origin != choice.origin:
        raise DataError.at(store.folder, None, "was begun anew since its result was written; run the sweep to its end")
    jobs = [job for job in Trainings(store, finished=True).points(name) if job.setting.name == row["name"]]
    Ranker.load(store.place(jobs[0])).save(target)
    return name, str(row["name"]), jobs[0].seed
