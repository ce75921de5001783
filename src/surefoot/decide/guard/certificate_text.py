"""A certificate in words: what is proved, and the figures beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.decide.evidence.conditions import condition_named, confidence
from surefoot.errors import DataError
from surefoot.report.numbers import fixed, measure_note, measure_title, percent, short, signed
from surefoot.risk.assessment_data import Json


def sentence(data: Mapping[str, Any]) -> str:
    """What is proved and what was observed, in a few short sentences."""
    base, measure = data["baseline"], measure_title(data["measure"])
    if data["threshold"] is None:
        return f"Only {base} is shown, so nothing can be lost. The reason: {data['reason']}."
    losses = " and ".join(_promise(one["name"], one["level"], measure) for one in data["conditions"])
    traffic = {
        "plain": f"like the {data['queries']:,} judged queries",
        "draws": f"that from which these {judged_words(data)} come",
        "strata": f"has the given shares of the strata, judged on {data['queries']:,} queries",
    }[data["sample"]["kind"]]
    if "by_traffic" in data["sample"]:
        traffic += ", in which a query counts as often as it is asked"
    if "unit" in data:
        unit = data["unit"]["name"]
        traffic = f"like the {data['queries']:,} {unit}s whose lists were judged, one list of each {unit}"
    sure = f"This holds with {confidence(data['delta'])} confidence, if traffic is {traffic}."
    guarded, candidate = data["guarded"], data["candidate"]
    kept = "" if data["gain_kept"] is None else f" ({percent(data['gain_kept'])} of the gain if all queries got it)"
    return (
        f"{candidate} is shown only for queries with a score of at least {short(data['threshold'])}. Used in this way, "
        f"it {losses} compared with {base}. {sure} Of the judged queries, {percent(guarded['share_shown'])} got the "
        f"list of {candidate}. Over all judged queries, the loss was {guarded['risk']:.4f} and the net gain was "
        f"{fixed(guarded['gain'], 4)}{kept}."
    )


def judged_words(data: Mapping[str, Any]) -> str:
    """How many queries were judged; a query that was drawn twice is two draws."""
    if data["sample"]["kind"] == "draws":
        return f"{data['queries']:,} draws of {data['sample']['people_queries']:,} judged queries"
    return f"{data['queries']:,} judged queries"


def _promise(loss: str, level: float, measure: str) -> str:
    promise = condition_named(loss).promise
    if promise is None:
        raise DataError(f"is about {loss}, which a guard cannot guarantee")
    return promise(level, measure)


def _unit_rows(data: Json) -> list[tuple[str, str]]:
    if "unit" not in data:
        return []
    unit = data["unit"]
    return [("unit", f"the {unit['name']}: one list of each, {unit['left_out']:,} other lists left out")]


def figure_rows(data: Json) -> list[tuple[str, str]]:
    """The figures that text and page show, each with its name."""
    rows = [("measure", measure_note(data["measure"]) or data["measure"])]
    for one in data["conditions"]:
        rows += [
            (
                condition_named(one["name"]).heading,
                f"observed {one['observed']:.4f}, proved ≤ {one['bound']:g}, level {one['level']:g}",
            )
        ]
    guarded, unguarded = data["guarded"], data["unguarded"]
    least = "" if data["least_queries"] is None else f" (a proof needs at least {data['least_queries']:,})"
    rows += [
        ("δ and method", f"{data['delta']:g}, {data['method']}"),
        ("judged", f"{judged_words(data)}{least}"),
        *_unit_rows(data),
        ("scorer", data["scorer"]),
        ("threshold", "none: the baseline alone" if data["threshold"] is None else short(data["threshold"], 6)),
        ("thresholds proved", f"{data['thresholds_proved']:,} of {data['thresholds_tried']:,}"),
        ("lists of the candidate", percent(guarded["share_shown"], 1)),
        (
            "gain",
            f"{signed(guarded['gain'], 4)} (unguarded {signed(unguarded['gain'], 4)}, at a risk of "
            f"{unguarded['risk']:.4f})",
        ),
    ]
    if data["gain_kept"] is not None:
        rows += [("gain kept", percent(data["gain_kept"]))]
    if data["blend"] is not None:
        rows += [("blending weight", f"{data['blend']:g}")]
    if (record := data["record"]) is not None:
        level = f"{data['delta']:.4g} of δ = {record['delta_requested']:g}"
        rows += [("question", f"{record['question']} of record {record['sha256'][:12]}, at {level}")]
    return [*rows, ("set of queries", f"{data['queries_sha256'][:12]}…")]
