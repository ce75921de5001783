"""The certificate: what a guard proves, made of a calibration's outcome, as plain data, as text and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefoot.data.hashes import check_seal, seal
from surefoot.decide.evidence.conditions import CONDITIONS
from surefoot.decide.evidence.evidence_data import SampleData, UnansweredData
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.nothing_to_lose import nothing_to_lose_notes
from surefoot.decide.guard.calibration import GuardSettings
from surefoot.decide.guard.certificate_data import (
    ANYTIME,
    SCHEMA,
    CertificateRecordData,
    Figures,
)
from surefoot.decide.guard.certificate_view import figure_rows, sentence, to_notebook, to_page
from surefoot.decide.guard.thresholds import Calibration, SafeThreshold, curve, share_of_gain, threshold_curve
from surefoot.errors import DataError, name_list, visible
from surefoot.report.escapes import csv_text
from surefoot.report.kinds import KINDS
from surefoot.report.provenance import Provenance
from surefoot.report.result import PlainResult
from surefoot.risk.assessment_data import Json


class Certificate(PlainResult, Mapping[str, Any]):
    """What is proved of the lists that a guard shows; its fields are also reached as those of a dict.

    `print` it for people, `write` it as JSON and as a page for the record. One that was changed is not read back.
    """

    _kind = KINDS["certificate"]

    @classmethod
    def from_dict(cls, data: Json) -> Self:
        """The certificate whose plain data this is, if it is as it was written."""
        cls._check_schema(data)
        check_seal(data, "the certificate")
        absent = [name for name in cls._kind.json_schema()["$defs"]["CertificateData"]["required"] if name not in data]
        if absent:
            raise DataError(f"is damaged or incomplete: as {cls._kind.called} it lacks {name_list(absent)}")
        return super().from_dict(data)

    def __getitem__(self, name: str) -> Any:
        """A field."""
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        """The fields' names."""
        return iter(self._data)

    def __len__(self) -> int:
        """How many fields there are."""
        return len(self._data)

    def __repr__(self) -> str:
        """The sentence."""
        return f"<Certificate: {self._data['sentence']}>"

    def to_text(self) -> str:  # type: ignore[override]  # no table: its lines have no width
        """The sentence, the figures, and what is assumed."""
        rows = figure_rows(self._data)
        width = max(len(name) for name, _ in rows)
        lines = [
            self._data["sentence"],
            "",
            *(f"  {name:<{width}}  {value}" for name, value in rows),
            "",
            "It assumes:",
        ]
        return "\n".join(visible(line) for line in [*lines, *(f"  - {one}" for one in self._data["assumptions"])])

    def to_csv(self) -> str:
        """The curve of level against gain kept."""
        points = self._data["curve"]
        header = ["condition", "level", "gain", "gain_kept", "share_shown"]
        lines = [
            [name, level, point["gain"], point["gain_kept"], point["share_shown"]]
            for point in points
            for name, level in point["level"].items()
        ]
        return csv_text(header, lines)

    def _repr_html_(self) -> str:
        """What a notebook shows: what is proved, and the figures."""
        return to_notebook(self._data, figure_rows(self._data))

    def to_html(self, *, provenance: Provenance | None = None) -> str:
        """One page: what to serve, the curves, the figures, what is assumed, and a line to sign."""
        return to_page(self._data, provenance)


@dataclass(frozen=True, kw_only=True)
class CalibrationOutcome:
    """What a calibration came to; `result` is None where there were too few queries to look for a threshold."""

    settings: GuardSettings
    scorer: str
    calibration: Calibration
    judged: JudgedQueries  # in the calibration's order
    result: SafeThreshold | None
    sampling: SampleData
    largest: float
    record: CertificateRecordData | None = None
    nothing_to_lose: UnansweredData
    budget: int | None = None  # of the anytime form
    least: int | None = None  # of that form, too


def certify(outcome: CalibrationOutcome, names: Mapping[str, Any]) -> Certificate:
    """The certificate of an outcome; `names` has those of the systems and of the set of queries."""
    settings, calibration, result = outcome.settings, outcome.calibration, outcome.result
    threshold = None if result is None else result.threshold
    guarded, unguarded = figures(outcome, threshold), figures(outcome, -np.inf)
    least = calibration.least() if outcome.budget is None else outcome.least
    losses = [
        {"name": name, "level": level, "observed": dict(guarded)[name], "bound": 0.0 if threshold is None else level}
        for name, level in settings.levels.items()
    ]
    exact = all(evidence.method == "binomial" for evidence in calibration.evidence)  # in place of bets
    no_curve = result is None or outcome.budget is not None
    data = {
        "schema": SCHEMA,
        "candidate": names["candidate"],
        "baseline": names["baseline"],
        "measure": str(settings.measure),
        "conditions": losses,
        "delta": calibration.delta,
        "method": ANYTIME if outcome.budget is not None else "binomial" if exact else "betting",
        "budget": outcome.budget,
        "scorer": outcome.scorer,
        "blend": settings.blend,
        "threshold": threshold,
        "thresholds_proved": 0 if result is None else result.certified,
        "thresholds_tried": 0 if result is None else result.tried,
        "queries": len(calibration),
        "unanswered": outcome.nothing_to_lose,
        "least_queries": least,
        "guarded": guarded,
        "unguarded": unguarded,
        "gain_kept": share_of_gain(guarded["gain"], unguarded["gain"]),
        "largest_loss": outcome.largest,
        "sample": outcome.sampling,
        **({"unit": names["unit"]} if "unit" in names else {}),
        "queries_sha256": names["queries_sha256"],
        "record": outcome.record,
        "training_known": names["training_known"],
        "assumptions": assumptions(outcome, names["training_known"], names.get("unit")),
        "reason": reason(outcome, least),
        "curve": [] if no_curve else curve(calibration, settings.levels, unguarded["gain"]),
        "thresholds": threshold_curve(calibration, threshold, bounded=outcome.budget is None),
    }
    return Certificate(seal(data | {"sentence": sentence(data)}))


def figures(outcome: CalibrationOutcome, threshold: float | None) -> Figures:
    """What the judged queries said of showing the candidate from a threshold on."""
    calibration, judged = outcome.calibration, outcome.judged
    taken = (
        np.zeros(len(calibration))
        if threshold is None
        else (calibration.scores >= threshold) * calibration.traffic_weight
    )

    def mean(name: str) -> float:
        values = CONDITIONS[name].values(judged.candidate, judged.baseline, 0.0)
        return float((values * taken).sum() / len(calibration))

    return {
        "share_shown": min(1.0, float(taken.sum() / len(calibration))),
        "risk": mean("risk"),
        "share_hurt": min(1.0, mean("share_hurt")),
        "gain": mean("gain"),
    }


def reason(outcome: CalibrationOutcome, least: int | None) -> str | None:
    """Why nothing but the baseline is shown, if so."""
    result, n = outcome.result, len(outcome.calibration)
    if result is not None and result.threshold is not None:
        return None
    levels = " and ".join(f"{name} at most {level:g}" for name, level in outcome.settings.levels.items())
    if result is None or (outcome.budget is not None and least is not None and n < least):
        return f"{n:,} judged queries cannot prove {levels} even without a single loss; at least {least:,} are needed"
    if not result.certified:
        return f"the {n:,} judged queries do not prove {levels} at any threshold"
    return "on the judged queries, the candidate gained nothing at the thresholds that are proved to be safe"


def assumptions(outcome: CalibrationOutcome, training_known: bool, unit: Mapping[str, Any] | None = None) -> list[str]:
    """What must be true for the certificate to hold, in plain words."""
    kind = outcome.sampling["kind"]
    drawn = {
        "plain": "The judged queries were drawn at random from the traffic that will be served.",
        "draws": "The queries were drawn as the file of draws says, from all traffic, and all of them were judged.",
        "strata": "Within each stratum the judged queries were drawn at random, and the strata have the shares given.",
    }[kind]
    if "by_traffic" in outcome.sampling:
        drawn += " Queries are asked as often as the traffic given to the draw says."
    if unit is not None:
        drawn = (
            f"The unit is the {unit['name']}: lists of one {unit['name']} are not independent, so one list of each was "
            f"drawn (seed {unit['seed']}), and {unit['left_out']:,} other lists were left out. The "
            f"{unit['name']}s are drawn at random from those that will be served, each with one of their lists."
        )
    trained = "Neither the candidate nor the scorer has seen these queries" + (
        " (the model stores the queries that it was trained on)."
        if training_known
        else "; surefoot does not know which queries the candidate was trained on."
    )
    many = (
        "The candidate, the scorer and the level were chosen before the judgments were looked at."
        if outcome.record is None or outcome.record["number"] == 1
        else f"This is question {outcome.record['number']} about these queries; δ was lowered for that reason."
    )
    return [
        drawn,
        "The traffic stays as it was when they were drawn.",
        "The judgments say what users want, for every document that either list shows.",
        trained,
        many,
        "The promise is about the average over traffic. Single queries, or kinds of queries, may lose more."
        if unit is None
        else f"The promise is about the average over {unit['name']}s. Single lists, or {unit['name']}s, may lose more.",
        *nothing_to_lose_notes(outcome.nothing_to_lose),
    ]
