"""A certificate as a page: what to serve, what each threshold loses and gains, what is assumed, and a line to sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from surefoot.decide.evidence.conditions import condition_named, confidence
from surefoot.decide.guard.certificate_text import figure_rows
from surefoot.errors import visible, without_middle
from surefoot.report.family import Chip, Front, Tile, family_page
from surefoot.report.line_chart import AxisMark, ChartLine, line_chart
from surefoot.report.numbers import percent, short, signed
from surefoot.report.provenance import Provenance
from surefoot.risk.assessment_data import Json

_FOLDER = "surefoot.decide.guard/assets"
_LONGEST = 80  # letters of a name in the front
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
    return without_middle(visible(text), _LONGEST)


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
