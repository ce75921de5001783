"""A certificate in words: what is proved, and the figures beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.decide.evidence.conditions import condition_named
from surefoot.errors import DataError
from surefoot.report.measure_names import measure_note, measure_title
from surefoot.report.numbers import fixed, percent, short, signed
from surefoot.risk.assessment_data import Json


def sentence(data: Mapping[str, Any]) -> str:
    """What is proved and what was observed, in a few short sentences."""
    base, measure = data["baseline"], measure_title(data["measure"])
    if data["threshold"] is None:
        return f"Only {base} is shown, so nothing can be lost. The reason: {data['reason']}."
    losses_and_levels = [{"loss": data["loss"], "level": data["level"]}, *data["other_losses"]]
    losses = " and ".join(_promise(loss["loss"], loss["level"], measure) for loss in losses_and_levels)
    traffic = {
        "plain": f"traffic like the {data['queries']:,} judged queries",
        "drawn": f"the traffic that the {data['queries']:,} judged queries were drawn from",
        "strata": f"traffic with the given shares of the strata, judged on {data['queries']:,} queries",
    }[data["weights"]["kind"]]
    if "by_traffic" in data["weights"]:
        traffic += ", in which a query counts as often as it is asked"
    if "unit" in data:
        unit = data["unit"]["name"]
        traffic = f"{unit}s like the {data['queries']:,} whose lists were judged, one list of each {unit}"
    drift = f", even if queries become {data['drift']:g} times as frequent" if data["drift"] > 1 else ""
    if data["method"] == "crc":
        sure = "This is true on average over many calibrations; a single one may lose more (conformal risk control)."
    else:
        chance = f"{100 * data['delta']:.3g} %"
        sure = (
            f"This claim is wrong for at most {chance} of query sets that are drawn in the same way ({data['method']})."
        )
    shown, candidate = data["shown"], data["candidate"]
    kept = "" if data["gain_kept"] is None else f" ({percent(data['gain_kept'])} of the gain if all queries got it)"
    return (
        f"{candidate} is shown only for queries with a score of at least {short(data['threshold'])}. Used in this way, "
        f"it {losses} compared with {base}, over {traffic}{drift}. {sure} Of the judged queries, "
        f"{percent(shown['share_shown'])} got the list of {candidate}. Over all judged queries, the loss was "
        f"{shown['risk']:.4f} and the net gain was {fixed(shown['gain'], 4)}{kept}."
    )


def _promise(loss: str, level: float, measure: str) -> str:
    promise = condition_named(loss).promise
    if promise is None:
        raise DataError(f"is about {loss}, which a guard cannot guarantee")
    return promise(level, measure)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _unit_rows(data: Json) -> list[tuple[str, str]]:
    if "unit" not in data:
        return []
    unit = data["unit"]
    return [("unit", f"the {unit['name']}: one list of each, {unit['left_out']:,} other lists left out")]


def figure_rows(data: Json) -> list[tuple[str, str]]:
    """The figures that text and page show, each with its name."""
    rows = [("measure", measure_note(data["measure"]) or data["measure"])]
    for loss in (data, *data["other_losses"]):
        rows += [
            (
                condition_named(loss["loss"]).heading,
                f"observed {loss['observed']:.4f}, proved ≤ {loss['bound']:g}, level {loss['level']:g}",
            )
        ]
    shown, everywhere = data["shown"], data["everywhere"]
    least = "" if data["least_queries"] is None else f" (a proof needs at least {data['least_queries']:,})"
    rows += [
        ("δ and method", f"{data['delta']:g}, {data['method']}"),
        ("judged queries", f"{data['queries']:,}{least}"),
        *_unit_rows(data),
        ("scorer", data["scorer"]),
        ("threshold", "none: the baseline alone" if data["threshold"] is None else short(data["threshold"], 6)),
        ("thresholds certified", f"{data['certified']:,} of {data['tried']:,}"),
        ("lists of the candidate", percent(shown["share_shown"], 1)),
        (
            "gain",
            f"{signed(shown['gain'], 4)} (everywhere {signed(everywhere['gain'], 4)}, at a risk of "
            f"{everywhere['risk']:.4f})",
        ),
    ]
    if data["gain_kept"] is not None:
        rows += [("gain kept", percent(data["gain_kept"]))]
    if data["blend"] is not None:
        rows += [("blending weight", f"{data['blend']:g}")]
    if data["movement_cap"] is not None:
        rows += [("moves at most", f"{data['movement_cap']} places")]
    if data["drift"] > 1:
        rows += [("drift allowed", f"{data['drift']:g} times")]
    if (record := data.get("record")) is not None:
        level = f"{data['delta']:.4g} of δ = {record['delta_requested']:g}"
        rows += [("question", f"{record['question']} of record {record['sha256'][:12]}, at {level}")]
    return [*rows, ("set of queries", f"{data['queries_sha256'][:12]}…, used {_times(data['uses'])}")]
