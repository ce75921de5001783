"""Which of a sweep's candidates to ship: a policy chooses on validation data, and test data say what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot.arguments import number_of
from surefoot.choose.candidates import Candidates
from surefoot.choose.store import Store
from surefoot.choose.tradeoffs import TradeOffs
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.learn.ranker import Ranker
from surefoot.risk.plain_data import Json

SCHEMA = "surefoot/choice/1"
POLICIES = {
    "max_risk": "most gain with a risk of at most {level:g}",
    "keep_gain": "least risk that keeps {level:.0%} of the gain-only model's gain",
    "largest_area": "largest area under the gain by share of queries re-ranked",
    "geo_risk": "highest GeoRisk at α = {level:g}",
}


@dataclass(frozen=True)
class Policy:
    """A rule, and its level: the greatest risk, the share of the gain to keep, or GeoRisk's α."""

    name: str
    level: float = 0.0

    def __post_init__(self) -> None:
        """Reject unknown rules, and levels that mean nothing."""
        if self.name not in POLICIES:
            raise ArgumentError(f"there is no policy {shortened(self.name)}; known are: {', '.join(POLICIES)}")
        level = number_of(self.level)
        if level is None or level < 0 or (self.name == "keep_gain" and level > 1):
            raise ArgumentError(
                f"{self.name} is {shortened(self.level)}; it must be a number of at least 0"
                + (", and at most 1" if self.name == "keep_gain" else "")
            )

    @property
    def words(self) -> str:
        """What is wanted."""
        return POLICIES[self.name].format(level=self.level)

    def choose(self, rows: Sequence[Json], gain: Json) -> tuple[Json, int]:
        """The row that does best on validation data, and how many satisfy the policy."""
        match self.name:
            case "max_risk":
                fit = [row for row in rows if row["valid"]["risk"] <= self.level]
                least = min(rows, key=lambda row: row["valid"]["risk"])
                self._need(fit, f"the least risk is {least['valid']['risk']:.4f}, of {least['name']}")
                return max(fit, key=lambda row: row["valid"]["gain"]), len(fit)
            case "keep_gain":
                if gain["valid"]["gain"] <= 0:
                    raise ArgumentError(
                        "the gain-only model gains nothing on validation data: there is no gain to keep"
                    )
                wanted = self.level * gain["valid"]["gain"]
                fit = [row for row in rows if row["valid"]["gain"] >= wanted]
                most = max(rows, key=lambda row: row["valid"]["gain"])
                self._need(fit, f"{wanted:.4f} is wanted, and the greatest gain is {most['valid']['gain']:.4f}")
                return min(fit, key=lambda row: (row["valid"]["risk"], -row["valid"]["gain"])), len(fit)
            case "largest_area":
                fit = [row for row in rows if "area" in row["valid"]]
                self._need(fit, "none re-ranks at most as many queries as the gain-only model does")
                return max(fit, key=lambda row: row["valid"]["area"]), len(fit)
            case _:
                key = f"{self.level:g}"
                fit = [row for row in rows if key in row["valid"].get("geo_risk", {})]
                known = ", ".join(rows[0]["valid"].get("geo_risk", {}))
                self._need(fit, f"the sweep has GeoRisk at α = {known}" if known else "GeoRisk needs several baselines")
                return max(fit, key=lambda row: row["valid"]["geo_risk"][key]), len(fit)

    def _need(self, fit: Sequence[Json], why: str) -> None:
        if not fit:
            raise ArgumentError(f"no candidate satisfies the policy ({self.words}) on validation data: {why}")


@dataclass(frozen=True)
class Choice:
    """The candidate that a policy chose, and why."""

    policy: Policy
    row: Json
    gain: Json
    satisfied: int
    among: int
    measure: str

    @property
    def name(self) -> str:
        """The candidate's name."""
        return str(self.row["name"])

    def to_dict(self) -> Json:
        """Plain data that JSON can hold."""

        def shown(row: Json) -> Json:
            return {key: row[key] for key in ("name", "kind", "objective", "alpha", "parameters", "valid", "test")}

        return {
            "schema": SCHEMA,
            "policy": {"name": self.policy.name, "level": self.policy.level, "words": self.policy.words},
            "measure": self.measure, "candidates": self.among, "satisfied": self.satisfied, "chosen": shown(self.row),
            "gain_only": shown(self.gain), "why": self.words,
        }  # fmt: skip

    @property
    def words(self) -> list[str]:
        """Why it was chosen, and what test data say."""
        mine, full = self.row, self.gain
        said = [
            f"{self.name}: {self.policy.words}, by {self.measure} on validation data.",
            f"{self.satisfied} of {self.among} candidates satisfy the policy. On validation data this one gains "
            f"{mine['valid']['gain']:+.4f} at a risk of {mine['valid']['risk']:.4f}; the gain-only model "
            f"{full['valid']['gain']:+.4f} at {full['valid']['risk']:.4f}.",
            f"On test data it gains {mine['test']['gain']:+.4f} at a risk of {mine['test']['risk']:.4f}, and hurts "
            f"{mine['test']['loss_over_20']:.0f} queries by more than 20 %; the gain-only model "
            f"{full['test']['gain']:+.4f} at {full['test']['risk']:.4f}, and hurts {full['test']['loss_over_20']:.0f}.",
        ]
        if self.policy.name == "max_risk" and mine["test"]["risk"] > self.policy.level:
            said.append(
                f"On test data its risk is above {self.policy.level:g}: validation data promise nothing certain."
            )
        return said


def select(result: TradeOffs, policy: Policy, kinds: Sequence[str] = ("model",)) -> Choice:
    """The candidate that the policy takes, of these kinds."""
    data = result.to_dict()
    rows = [row for row in data["rows"] if row["kind"] in kinds]
    gain = next((row for row in data["rows"] if row["kind"] == "model" and row["objective"] == "gain"), None)
    if gain is None or not rows:
        raise DataError("the sweep has no gain-only model, or none of the candidates asked for; run it again")
    chosen, satisfied = policy.choose(rows, gain)
    return Choice(policy, chosen, gain, satisfied, len(rows), data["measure"])


def copy_model(store: Store, choice: Choice, target: Path, fold: str | None = None) -> tuple[str, int]:
    """Save the chosen model of a fold (by default the first) with the first seed; says which fold and seed it is."""
    found = Candidates(store)
    setting = next((one for one in found.settings if one.name == choice.name), None)
    if setting is None:
        raise DataError.at(
            store.folder, None, f"has no model {shortened(choice.name)} on every fold; run the sweep again"
        )
    jobs = found.jobs(setting)[0]
    job = next((job for job in jobs if job.fold == (fold or jobs[0].fold)), None)
    if job is None:
        raise ArgumentError(f"there is no fold {shortened(fold)}; there are {', '.join(one.fold for one in jobs)}")
    Ranker.load(store.place(job)).save(target)
    return job.fold, job.seed
