"""A certificate as people see it: what is proved in a sentence, the figures beside it, the page and the notebook.

The page has what to serve, what each threshold loses and gains, what is assumed, and a line to sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from surefoot.data.notebook import NotebookTable, NotebookView
from surefoot.decide.evidence.conditions import ConditionRule, condition_named, confidence
from surefoot.errors import DataError, visible, without_middle
from surefoot.report.family import Chip, Front, Tile, family_page
from surefoot.report.line_chart import AxisMark, ChartLine, line_chart
from surefoot.report.numbers import fixed, measure_note, measure_title, percent, short, signed
from surefoot.report.provenance import Provenance
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


def to_notebook(data: Json, rows: Sequence[tuple[str, str]]) -> str:
    """The view of a certificate's plain data, with the rows of its figures."""
    nowhere = data["threshold"] is None
    levels = " and ".join(ConditionRule(one["name"], one["level"]).words for one in data["conditions"])
    headline = (
        f"Only {data['baseline']} is shown."
        if nowhere
        else f"{data['candidate']} keeps to {levels} where it is shown instead of {data['baseline']}."
    )
    guarded = data["guarded"]
    tiles = [
        ("Judged queries", f"{data['queries']:,}"),
        ("Lists of the candidate", percent(guarded["share_shown"], 1)),
        ("Gain", signed(guarded["gain"], 4)),
        *([("Gain kept", percent(data["gain_kept"]))] if data["gain_kept"] is not None else []),
        ("Risk observed", f"{guarded['risk']:.4f}"),
    ]
    table = NotebookTable(["figure", "value"], [list(row) for row in rows], left=2)
    return NotebookView(
        "Certificate", headline, tiles, table, "" if nowhere else "helped", lead=[data["sentence"]],
        notes=[f"It assumes: {assumption}" for assumption in data["assumptions"]],
    ).to_html()  # fmt: skip


_FOLDER = "surefoot.decide.guard/assets"
_LONGEST_NAME = 80  # letters of a name in the front
_HEADINGS = ["threshold", "lists of the candidate", "gain", "gain kept"]


def front(data: Json) -> Front:
    """What to serve, in one sentence, with what is proved of it."""
    return Front(headline(data), _chip(data), caution(data), _tiles(data))


def headline(data: Json) -> str:
    """As in: Serve new where the score is at least 0.31: risk at most 0.05 with 95 % confidence, 88 % of the gain."""
    if data["threshold"] is None:
        return f"Serve {_name(data['baseline'])} alone: {data['reason']}."
    losses = " and ".join(f"{_heading(loss)} at most {loss['level']:g}" for loss in data["conditions"])
    gain_shown = data["guarded"]["gain"]
    gain_words = (
        f"a gain of {signed(gain_shown, 4)}"
        if data["gain_kept"] is None
        else f"{percent(data['gain_kept'])} of the gain"
    )
    return (
        f"Serve {_name(data['candidate'])} where the score is at least {short(data['threshold'])}: {losses} "
        f"with {confidence(data['delta'])} confidence, {gain_words}."
    )


def caution(data: Json) -> str | None:
    """What must be known before it is signed, where there is something."""
    if data["threshold"] is None:
        return None
    if not data["training_known"]:
        return (
            f"surefoot does not know which queries {_name(data['candidate'])} was trained on. The proof is valid only "
            "if none of the judged queries was used for training."
        )
    if data["record"] is not None and data["record"]["number"] > 1:
        return f"This is question {data['record']['number']:,} about these queries. δ was lowered for that reason."
    return None


def gain_note(data: Json) -> str | None:
    """Why more than the whole gain can be kept, where it is."""
    kept = data["gain_kept"]
    if data["threshold"] is None or kept is None or round(100 * kept) <= 100:
        return None
    candidate, baseline = _name(data["candidate"]), _name(data["baseline"])
    shown, everywhere = data["guarded"]["gain"], data["unguarded"]["gain"]
    return (
        f"Why {percent(kept)} of the gain? If {candidate} is shown for every query, it gains {signed(everywhere, 4)}. "
        f"This is 100 %. The threshold leaves out a group of queries on which {candidate} loses more than it gains "
        f"({signed(everywhere - shown, 4)} over all judged queries). These queries get {baseline} instead, so the gain "
        f"is {signed(shown, 4)}. The threshold was chosen on the judged queries, so expect a little less on new "
        "queries."
    )


def to_page(data: Json, provenance: Provenance | None = None) -> str:
    """The page of a certificate's plain data."""
    return family_page(
        f"{_FOLDER}/certificate.html.j2",
        front(data),
        provenance,
        page_kind="certificate",
        title=f"{_name(data['candidate'])} instead of {_name(data['baseline'])}: what is proved",
        sentence=visible(data["sentence"]),
        gain_note=visible(gain_note(data) or ""),
        threshold_charts=_threshold_charts(data),
        is_served=data["threshold"] is not None,
        has_bounds=any(None not in point["bound"].values() for point in data["thresholds"]),
        level_chart=_level_chart(data),
        headings=[
            *_HEADINGS,
            *(f"{_heading(loss)}, {what}" for loss in data["conditions"] for what in ("observed", "bound")),
        ],
        points=_threshold_rows(data),
        rows=[(visible(name), visible(value)) for name, value in figure_rows(data)],
        assumptions=[visible(assumption) for assumption in data["assumptions"]],
        sha256=visible(data["sha256"]),
    )


def _heading(loss: Json) -> str:
    return condition_named(loss["name"]).heading


def _name(text: str) -> str:
    return without_middle(visible(text), _LONGEST_NAME)


def _chip(data: Json) -> Chip:
    if data["threshold"] is None:
        return Chip("Baseline alone", "keep")
    return Chip("Certified", "ship")


def _tiles(data: Json) -> list[Tile]:
    guarded, unguarded, nowhere = data["guarded"], data["unguarded"], data["threshold"] is None
    least, scorer = data["least_queries"], f"by {data['scorer'].replace(':', ': ')}"  # so that it can wrap
    tiles = [
        Tile("Score of a query", "none" if nowhere else f"≥ {short(data['threshold'])}", scorer),
        *(
            Tile(
                f"Proved {_heading(loss)}",
                "0" if nowhere else f"≤ {loss['bound']:g}",
                "the baseline loses nothing"
                if nowhere
                else f"observed {loss['observed']:.4f}, level {loss['level']:g}",
                None if nowhere else "ship",
            )
            for loss in data["conditions"]
        ),
        Tile(
            "Gain" if data["gain_kept"] is None else "Gain kept",
            signed(guarded["gain"], 4) if data["gain_kept"] is None else percent(data["gain_kept"]),
            f"{signed(guarded['gain'], 4)}; unguarded {signed(unguarded['gain'], 4)}",
        ),
        Tile("Queries that get it", percent(guarded["share_shown"]), "the others get the baseline's list"),
        Tile(*_judged(data), "" if least is None else f"at least {least:,} are needed"),
        Tile("Confidence", confidence(data["delta"]), f"by {data['method']}"),
    ]  # fmt: skip
    return tiles[:6]


def _judged(data: Json) -> tuple[str, str]:
    return "Draws" if data["sample"]["kind"] == "draws" else "Judged queries", f"{data['queries']:,}"


def _threshold_charts(data: Json) -> list[Json]:
    """Each loss, and what is kept, against the threshold; with the level and the chosen threshold marked."""
    points = data["thresholds"]
    if not points:
        return []
    x = [point["threshold"] for point in points]
    threshold_marks = (
        [] if data["threshold"] is None else [AxisMark(data["threshold"], f"chosen: {short(data['threshold'])}")]
    )

    def chart(lines: Sequence[ChartLine], label: str, y_label: str, y_marks: Sequence[AxisMark] = ()) -> Any:
        return line_chart(
            x, lines, label=label, x_label="threshold of the score",
            y_label=y_label, from_zero=True, y_marks=y_marks, x_marks=threshold_marks,
        )  # fmt: skip

    charts = []
    for loss in data["conditions"]:
        title, bounds = _heading(loss), [point["bound"][loss["name"]] for point in points]
        lines = [ChartLine("observed", [point["observed"][loss["name"]] for point in points])]
        if None not in bounds:
            lines.append(ChartLine(f"at most, with {confidence(data['delta'])} confidence", bounds))
        charts.append(
            {
                "title": f"Threshold against {title}",
                "caption": "With a higher threshold, fewer queries get the candidate's list, and less is lost.",
                "drawing": chart(
                    lines, f"{title} at each threshold", title, [AxisMark(loss["level"], f"level {loss['level']:g}")]
                ),
            }
        )
    lines, y_label = (
        [ChartLine("queries that get the candidate's list", [100 * point["share_shown"] for point in points])],
        "%",
    )
    if data["unguarded"]["gain"] > 0:
        kept = [100 * point["gain"] / data["unguarded"]["gain"] for point in points]
        lines.append(ChartLine("gain kept", kept))
    charts.append(
        {
            "title": "Threshold against what is kept",
            "caption": "The share of queries that get the candidate's list, and the share that is kept of the gain "
            "that it has when it is shown for all queries.",
            "drawing": chart(lines, "What each threshold keeps", y_label),
        }
    )
    return charts


def _level_chart(data: Json) -> Any:
    """What other levels would have kept, with the certificate's own marked; None where that is not known."""
    points, first = data["curve"], data["conditions"][0]
    if not points:
        return None
    in_percent = all(point["gain_kept"] is not None for point in points)
    gain: Callable[[Json], float] = lambda point: 100 * point["gain_kept"] if in_percent else point["gain"]  # noqa: E731
    y_label = "% of the gain kept" if in_percent else "gain"
    return line_chart(
        [point["level"][first["name"]] for point in points], [ChartLine(y_label, [gain(point) for point in points])],
        label="Level against gain kept", from_zero=True, x_label=f"level of {_heading(first)}", y_label=y_label,
        x_marks=[AxisMark(first["level"], f"level {first['level']:g}")],
    )  # fmt: skip


def _threshold_rows(data: Json) -> list[Json]:
    """A row for each threshold of the curve; the chosen one is marked."""
    everywhere = data["unguarded"]["gain"]
    return [
        {
            "chosen": point["threshold"] == data["threshold"],
            "cells": [
                short(point["threshold"]), percent(point["share_shown"], 1), signed(point["gain"], 4),
                percent(point["gain"] / everywhere) if everywhere > 0 else "–",
                *(
                    "–" if value is None else f"{value:.4f}"
                    for observed_and_bound in zip(point["observed"].values(), point["bound"].values(), strict=True)
                    for value in observed_and_bound
                ),
            ],
        }
        for point in data["thresholds"]
    ]  # fmt: skip
