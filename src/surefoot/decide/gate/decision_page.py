"""A decision as one page: the verdict, each condition as a picture, and the queries hurt most."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.decide.evidence.conditions import condition_named
from surefoot.decide.gate.decision_text import (
    HEADINGS,
    VERDICTS,
    cells,
    condition_name,
    headline,
    hurt_headings,
    hurt_rows,
    name,
    notes,
    queries_needed_note,
    sentence,
    worst_first,
)
from surefoot.errors import visible
from surefoot.report.html import render_page
from surefoot.report.measure_names import measure_title
from surefoot.report.numbers import short
from surefoot.risk.plain_data import Json

_FOLDER = "surefoot.decide.gate/assets"
_WIDTH, _MARGIN = 640.0, 16.0
_APART = 90.0  # how near two numbers may stand
_MOST = 60  # conditions that have a picture; the table has all


@dataclass(frozen=True)
class Picture:
    """One condition on a line: what is allowed, the level, what was observed and what the queries leave possible."""

    title: str
    sentence: str
    status: str
    allowed: tuple[float, float]
    possible: tuple[float, float]
    level: float
    observed: float
    ends: tuple[str, str]
    level_text: str


def picture(condition: Json) -> Picture:
    """Where everything of a condition stands on its line."""
    at_most = condition_named(condition["name"]).at_most
    edges = condition["bound"], condition["bound_fails"]
    known = [condition["level"], condition["observed"], *edges]
    low, high = min(known + ([0.0] if at_most else [])), max(known)
    pad = 0.12 * (high - low or 1.0)
    low, high = (low if at_most and low >= 0 else low - pad), high + pad

    def place(value: float) -> float:
        return float(round(_MARGIN + (_WIDTH - 2 * _MARGIN) * (value - low) / (high - low), 1))

    level = place(condition["level"])
    span = sorted(map(place, edges))
    return Picture(
        condition_name(condition), sentence(condition), condition["status"],
        (_MARGIN, level) if at_most else (level, _WIDTH - _MARGIN), (span[0], span[1]), level,
        place(condition["observed"]), (_end(low, _MARGIN, level), _end(high, _WIDTH - _MARGIN, level)),
        f"{condition['level']:g}".replace("-", "−"),
    )  # fmt: skip


def _end(value: float, at: float, level: float) -> str:
    """What stands at an end of the line; nothing where the level's own number stands there."""
    return short(value, 3) if abs(at - level) > _APART else ""


def to_page(data: Json) -> str:
    """The page of a decision's plain data: HTML that needs nothing else, no network, no server and no script."""
    return render_page(
        f"{_FOLDER}/decision.html.j2",
        ["surefoot.report/assets/page.css", f"{_FOLDER}/decision.css"],
        title=visible(f"{VERDICTS[data['decision']]}: {name(data['candidate'])} against {name(data['baseline'])}"),
        decision=data["decision"],
        headline=headline(data),
        needed=queries_needed_note(data),
        about=visible(f"{measure_title(data['measure'])} on {data['queries']:,} judged queries"),
        pictures=[picture(one) for one in worst_first(data)[:_MOST]],
        rows=[[one["status"], cells(one)] for one in data["conditions"]],
        headings=HEADINGS,
        width=_WIDTH,
        margin=_MARGIN,
        losses=data["losses"],
        hurt_headings=hurt_headings(data),
        hurt=hurt_rows(data, len(data["hurt"])),
        notes=[visible(note) for note in notes(data)],
    )
