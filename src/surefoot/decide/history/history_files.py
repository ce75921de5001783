"""The files of a history: found, dated and read, and what each of them compares; others are left out."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.hashes import json_hash
from surefoot.data.reading.files import OPENERS, as_text, inner_ending, read_json
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.proof import evidence_of
from surefoot.decide.gate.decision_data import SCHEMA as DECISION
from surefoot.decide.gate.decision_data import DecisionData, ReleaseDecision
from surefoot.decide.history.history_data import DATES_FROM, ComparisonKind, LeftOutFile
from surefoot.errors import MISSHAPEN_ERRORS, ArgumentError, DataError, did_you_mean, expecting, name_list, shortened
from surefoot.report.kinds import check_shape
from surefoot.report.words import baseline_name
from surefoot.risk.assessment_data import SCHEMA as ASSESSMENT
from surefoot.risk.assessment_data import AssessmentData, Json
from surefoot.risk.tradeoff import difference_of, which_lose_over_20

ScorePairs = dict[str, tuple[float, float]]  # of each query the baseline's score and the candidate's


@dataclass(frozen=True)
class ReleaseComparison:
    """What one file says of one candidate by one measure."""

    kind: ComparisonKind
    measure: str
    baseline: str
    candidate: str
    queries: int
    gain: float | None  # None where queries were drawn for risk: those that can only gain are never drawn
    risk: float
    losses: float
    loss_over_20: float
    by_traffic: bool
    u_risk: dict[str, float] = field(default_factory=dict)
    decision: ReleaseDecision | None = None
    pairs: ScorePairs | None = None  # None where the file does not have them
    texts: dict[str, str] = field(default_factory=dict)
    population: tuple[str, ...] = ()  # where the baseline is their mean, median or max


def of_decision(data: Json) -> Iterator[ReleaseComparison]:
    """The comparison that was decided on."""
    sample = JudgedQueries.from_dict(data["per_query"])
    could_lose_mean = float(data["sample"].get("could_lose_mean", 1.0))

    def figure(name: str, alpha: float | None = None) -> float:
        """A figure as a condition of this name would have observed it."""
        evidence = evidence_of(ConditionRule(name, 0.5, alpha), sample, data["measure"], could_lose_mean)
        return evidence.figure(float(evidence.x.mean()))

    # A query that was drawn several times counts once.
    pairs = dict(
        zip(sample.queries, zip(sample.baseline.tolist(), sample.candidate.tolist(), strict=True), strict=True)
    )
    scores = np.array(list(pairs.values()))
    difference = difference_of(scores[:, 1], scores[:, 0])
    whole = [condition for condition in data["conditions"] if condition["segment"] is None]
    yield ReleaseComparison(
        kind="decision",
        measure=data["measure"],
        baseline=data["baseline"],
        candidate=data["candidate"],
        queries=data["queries"],
        gain=None if data["sample"].get("to_prove") == "risk" else figure("gain"),
        risk=figure("risk"),
        losses=int((difference < 0).sum()),
        loss_over_20=int(which_lose_over_20(difference, scores[:, 0]).sum()),
        by_traffic="by_traffic" in data["sample"] or sample.stratum_weight is not None,
        u_risk={f"{one['alpha']:g}": figure("u_risk", one["alpha"]) for one in whole if one["name"] == "u_risk"},
        decision=data["decision"],
        pairs=pairs,
        texts={one["query"]: one["text"] for one in data["most_hurt"] if one["text"]},
    )


def of_assessment(data: Json) -> Iterator[ReleaseComparison]:
    """A comparison for each measure and each system but the baseline."""
    for part in data.get("measures", [data]):
        systems = {row["system"] for row in part["systems"]}
        given = [part["baseline"]] if isinstance(part["baseline"], str) else part["baseline"]
        by_query = part.get("per_query")
        for row in part["systems"]:
            if row["is_baseline"]:
                continue
            yield ReleaseComparison(
                kind="assessment",
                measure=part["measure"],
                baseline=baseline_name(part),
                candidate=row["system"],
                queries=part["queries"],
                gain=row["gain"],
                risk=row["risk"],
                losses=row["losses"],
                loss_over_20=row["loss_over_20"],
                by_traffic="traffic" in part,
                u_risk={alpha: figures["u_risk"] for alpha, figures in row["alpha"].items()},
                pairs=_pairs(by_query, row["system"]),
                population=() if set(given) <= systems else tuple(part["population"]),
            )


def _pairs(by_query: Any, system: str) -> ScorePairs | None:
    """Of each query both scores; None where there are none, and against several baselines, which have no one score."""
    if by_query is None or by_query["baseline"] is None:
        return None
    scores = by_query["systems"][system]["score"]
    if not len(scores) == len(by_query["baseline"]) == len(by_query["queries"]):
        raise DataError("the columns of per_query have different lengths")
    return dict(zip(by_query["queries"], zip(by_query["baseline"], scores, strict=True), strict=True))


def is_hurt(baseline: float, candidate: float) -> bool:
    """Whether a query is worse off with the candidate."""
    return bool(_difference(baseline, candidate)[0] < 0)


def is_hurt_over_20(baseline: float, candidate: float) -> bool:
    """Whether it loses more than 20 % of the baseline's score."""
    return bool(which_lose_over_20(_difference(baseline, candidate), np.array([baseline]))[0])


def _difference(baseline: float, candidate: float) -> Floats:
    return difference_of(np.array([candidate]), np.array([baseline]))


# As in 2026-11-15, 2026-11-15T0930, 2026-11-15_09-30: not part of a longer row of digits.
_DATE = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?:[T_ ](\d\d)[:.\-]?(\d\d)(?:[:.\-]?\d\d)?Z?)?(?!\d)", re.ASCII)


class HistoryFile(NamedTuple):
    """A file with its name in the folder, its date, and what it compares."""

    name: str
    date: str
    comparisons: list[ReleaseComparison]


def read_files(
    folder: str | os.PathLike[str], date_from: str
) -> tuple[list[HistoryFile], list[LeftOutFile], Literal["name", "modified"]]:
    """The files of a folder and of the folders in it by date, those left out, and where dates come from."""
    if date_from not in DATES_FROM:
        raise ArgumentError(f"date_from is {shortened(date_from)}; choose {', '.join(DATES_FROM)}"
                            f"{did_you_mean(date_from, DATES_FROM)}")  # fmt: skip
    root = Path(folder)
    if not root.is_dir():
        raise DataError.at(
            folder, None, "is not a folder; give the folder that holds decisions and assessments as JSON"
        )
    left_out: list[LeftOutFile] = []
    found: dict[str, tuple[Path, list[ReleaseComparison]]] = {}
    contents: dict[str, str] = {}
    for path in _json_files(root):
        name = as_text(path.relative_to(root).as_posix())
        content = read_json(path)
        read = _reader(content)
        if read is None:
            left_out.append({"file": name, "reason": _other(content)})
            continue
        with expecting("a decision or an assessment", path, "write it again, or move it elsewhere"):
            comparisons = _checked(content, path)
        if not comparisons:
            left_out.append({"file": name, "reason": "has no system besides the baseline"})
            continue
        same = contents.setdefault(json_hash(content), name)
        if same != name:
            left_out.append({"file": name, "reason": f"holds the same as {same}"})
            continue
        found[name] = (path, comparisons)
    if not found:
        raise DataError.at(
            folder, None, "holds no decision and no assessment; write some with surefoot gate --json FILE or surefoot "
            "evaluate --per-query --json FILE",
        )  # fmt: skip
    source, dates = _dates({name: path for name, (path, _) in found.items()}, folder, date_from)
    files = [HistoryFile(name, dates[name], comparisons) for name, (_, comparisons) in found.items()]
    return sorted(files, key=lambda file: (file.date, file.name)), left_out, source


def _json_files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if path.name.startswith(".") or not path.is_file():
            continue
        if inner_ending(path) == ".json" and path.suffix.lower() in (".json", *OPENERS):
            yield path


def _reader(content: Any) -> Any:
    """What makes comparisons of the content; None where it is neither a decision nor an assessment."""
    if not isinstance(content, Mapping):
        return None
    several = content.get("measures")
    first = several[0] if isinstance(several, list) and several and isinstance(several[0], Mapping) else content
    schema = content.get("schema", first.get("schema"))
    return {DECISION: of_decision, ASSESSMENT: of_assessment}.get(str(schema))


def _checked(content: Any, path: Path) -> list[ReleaseComparison]:
    """The comparisons of a file, which must be what its schema says."""
    if _reader(content) is of_decision:
        try:
            check_shape(content, DecisionData)
        except DataError as error:
            raise DataError.at(path, None, f"is damaged or incomplete: {error}") from error
        return list(of_decision(content))
    for part in content.get("measures", [content]):
        try:
            check_shape(part, AssessmentData)
        except DataError as error:
            raise DataError.at(path, None, f"is damaged or incomplete: {error}") from error
    try:
        return list(of_assessment(content))
    except DataError as error:
        raise DataError.at(path, None, str(error)) from error


def _other(content: Any) -> str:
    schema = content.get("schema") if isinstance(content, Mapping) else None
    if isinstance(schema, str) and schema.startswith("surefoot/"):
        return f"is neither a decision nor an assessment, but {shortened(schema)}"
    return "is neither a decision nor an assessment"


def _dates(
    paths: Mapping[str, Path], folder: str | os.PathLike[str], date_from: str
) -> tuple[Literal["name", "modified"], dict[str, str]]:
    """A date for each file: all from names, or all from when files were changed."""
    if date_from != "modified":
        named = {name: date_in(name) for name in paths}
        dates = {name: date for name, date in named.items() if date is not None}
        if len(dates) == len(paths):
            return "name", dates
        without = [name for name in named if named[name] is None]
        if date_from == "name" or dates:
            raise DataError.at(
                folder, None, f"{len(without):,} of {len(paths):,} files have no date in their name "
                f"({_few(without)}); write it as in 2026-11-15-gate.json, or use --date-from modified for all",
            )  # fmt: skip
    moments = {
        name: datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC) for name, path in paths.items()
    }
    return "modified", {name: moment.strftime("%Y-%m-%dT%H:%MZ") for name, moment in moments.items()}


def date_in(name: str) -> str | None:
    """The date in a file's name, or in that of the nearest folder that has one; two different ones are refused.

    >>> date_in("shop/2026-11-15-gate.json"), date_in("2026-11-15T0930/gate.json"), date_in("v20261115.json")
    ('2026-11-15', '2026-11-15T09:30', None)
    """
    for part in reversed(name.split("/")):
        found = list(dict.fromkeys(filter(None, map(_iso, _DATE.finditer(part)))))
        if len(found) > 1:
            raise DataError(f"{name}: its name has two dates, {found[0]} and {found[1]}; keep one, or use --date-from "
                            "modified")  # fmt: skip
        if found:
            return found[0]
    return None


def _iso(match: re.Match[str]) -> str | None:
    day, hour, minute = match.groups()
    try:
        moment = datetime.datetime.fromisoformat(day if hour is None else f"{day}T{hour}:{minute}")
    except MISSHAPEN_ERRORS:
        return None
    return f"{moment:%Y-%m-%d}" if hour is None else f"{moment:%Y-%m-%dT%H:%M}"


def _few(names: Sequence[str]) -> str:
    return name_list(names, 3)
