"""A history as plain data: the types of its JSON; and where its dates come from."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, TypedDict

from surefoot.decide.gate.decision_data import ReleaseDecision
from surefoot.risk.assessment_data import Count, NotNegative

SCHEMA: Literal["surefoot/history/1"] = "surefoot/history/1"

ComparisonKind = Literal["decision", "assessment"]


class ReleaseData(TypedDict):
    """A candidate against what was live, at a date."""

    date: Annotated[str, "ISO 8601; with the time of day where it is known."]
    file: Annotated[str, "Relative to the folder."]
    kind: ComparisonKind
    measure: str
    baseline: str
    candidate: str
    decision: Annotated[ReleaseDecision | None, "null of an assessment, which decides nothing."]
    queries: Annotated[int, ("minimum", 1)]
    gain: Annotated[float | None, "null where queries were drawn for risk, which says nothing of gain."]
    risk: NotNegative
    u_risk: Annotated[dict[str, float], "By α, for those that the file has."]
    losses: Annotated[NotNegative, "How many queries are hurt at all; a mean over baselines where there are several."]
    loss_over_20: Annotated[NotNegative, "How many of them lose more than 20 % of the baseline's score."]
    series: Annotated[Count, "The place of its series."]


class ReleaseSeries(TypedDict):
    """Releases whose figures may be compared: of one kind, by one measure, against one baseline."""

    kind: ComparisonKind
    measure: str
    baseline: str
    system: Annotated[str | None, "Where files compare several candidates, the one that this is about; else null."]
    by_traffic: Annotated[
        bool, "Whether queries count by how often they are asked (traffic, or strata with shares of it)."
    ]
    same_queries: Annotated[bool | None, "Whether all were judged on the same queries; null where files do not say."]
    releases: Annotated[list[int], "The places of its releases, by date."]


class HurtRepeatedly(TypedDict):
    """A query that was hurt in at least two comparisons by one measure against one baseline."""

    query: str
    text: str | None
    measure: str
    baseline: str
    compared: Annotated[int, "How many comparisons have the query; the same one in two files counts once."]
    hurt: Annotated[int, "In how many of them it lost."]
    hurt_shipped: Annotated[int, "In how many of them it lost and the decision was to ship."]
    loss_over_20: Annotated[int, "In how many of them it lost more than 20 % of the baseline's score."]
    mean_difference: Annotated[float, "Over all that have it."]
    worst_difference: float
    last_hurt: Annotated[str, "The date."]


class LeftOutFile(TypedDict):
    """A JSON file that is not part of the history, and why."""

    file: str
    reason: str


class HistoryData(TypedDict):
    """Past decisions and assessments."""

    schema: Literal["surefoot/history/1"]
    date_from: Annotated[
        Literal["name", "modified"], "Whether dates are in the names of files and folders, or when files were changed."
    ]
    releases: Annotated[list[ReleaseData], ("minItems", 1)]
    series: list[ReleaseSeries]
    comparisons: Annotated[
        Count, "Those whose file has the figures of each query; the same one in two files counts once."
    ]
    without_queries: Annotated[Count, "Releases whose file does not have them: write them with --per-query."]
    hurt_repeatedly: Annotated[list[HurtRepeatedly], "The most often hurt first."]
    left_out: list[LeftOutFile]


class DateSource(StrEnum):
    """Where dates come from."""

    auto = "auto"
    name = "name"
    modified = "modified"


DATES_FROM = tuple(map(str, DateSource))
