"""A decision as one page: what to do, each condition as a picture, and the queries hurt most with their rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot.data.types.scores import Scores
from surefoot.decide.evidence.conditions import condition_named
from surefoot.decide.gate.decision_front import STATUS_KINDS, front
from surefoot.decide.gate.decision_text import STATUS_HEADING, cells, headings, hurt_headings, notes, worst_first
from surefoot.decide.gate.decision_words import (
    DECISION_TITLES,
    condition_name,
    judged_words,
    queries_needed_note,
    sentence,
    shown_name,
    unit_of,
)
from surefoot.decide.gate.hurt_rankings import hurt_rankings
from surefoot.errors import visible
from surefoot.report.family import ChipKind, family_page
from surefoot.report.measure_names import measure_title
from surefoot.report.numbers import short, signed
from surefoot.report.provenance import Provenance
from surefoot.risk.assessment_data import Json

_FOLDER = "surefoot.decide.gate/assets"
_SHARED = "surefoot.report/assets"
_SCRIPTS = [f"{_SHARED}/packed.js", f"{_SHARED}/rankings.js", f"{_FOLDER}/decision.js"]
_WIDTH, _MARGIN = 330.0, 12.0  # small enough for a phone, with letters that can be read
_APART = 60.0  # how near two numbers may stand
_MOST = 60  # conditions that have a picture; the table has all


@dataclass(frozen=True)
class ConditionPicture:
    """One condition on a line: what is allowed, the level, what was observed and what the queries leave possible."""

    title: str
    sentence: str
    kind: ChipKind
    allowed: tuple[float, float]
    possible: tuple[float, float]
    level: float
    observed: float | None  # None where no query was judged
    ends: tuple[str, str]
    level_text: str


def condition_picture(condition: Json, unit: str = "queries") -> ConditionPicture:
    """Where everything of a condition stands on its line."""
    at_most = condition_named(condition["name"]).at_most
    edges = condition["bound"], condition["bound_fails"]
    known = [condition["level"], *([condition["observed"]] if condition["queries"] else []), *edges]
    low, high = min(known + ([0.0] if at_most else [])), max(known)
    pad = 0.12 * (high - low or 1.0)
    low, high = (low if at_most and low >= 0 else low - pad), high + pad

    def place(value: float) -> float:
        return float(round(_MARGIN + (_WIDTH - 2 * _MARGIN) * (value - low) / (high - low), 1))

    level = place(condition["level"])
    span = sorted(map(place, edges))
    return ConditionPicture(
        condition_name(condition), sentence(condition, unit), STATUS_KINDS[condition["status"]],
        (_MARGIN, level) if at_most else (level, _WIDTH - _MARGIN), (span[0], span[1]), level,
        place(condition["observed"]) if condition["queries"] else None,
        (_end(condition, low, _MARGIN, level), _end(condition, high, _WIDTH - _MARGIN, level)),
        _short(condition, condition["level"], 6),
    )  # fmt: skip


def _end(condition: Json, value: float, at: float, level: float) -> str:
    """What stands at an end of the line; nothing where the level's own number stands there."""
    return _short(condition, value, 3) if abs(at - level) > _APART else ""


def _short(condition: Json, value: float, digits: int) -> str:
    share = condition_named(condition["name"]).is_share
    return f"{short(100 * value, digits)} %" if share else short(value, digits)


def to_page(
    data: Json, provenance: Provenance | None = None, scores: Scores | None = None, documents: Any = None
) -> str:
    """The page of a decision's plain data.

    With the `scores` that were decided on, the queries hurt most lead to their two rankings, where these are known;
    `documents` are texts to show there, a file, a dict or a table.
    """
    rankings = hurt_rankings(data, scores, documents)
    places = {query: at for at, query in enumerate(rankings["queries"])} if rankings else {}
    return family_page(
        f"{_FOLDER}/decision.html.j2",
        front(data),
        provenance,
        page_kind="release gate",
        title=f"{DECISION_TITLES[data['decision']]}: {shown_name(data['candidate'])} "
        f"against {shown_name(data['baseline'])}",
        css=[f"{_FOLDER}/decision.css", *([f"{_SHARED}/rankings.css"] if rankings else [])],
        scripts=_SCRIPTS if rankings else [],
        data=rankings,
        needed=queries_needed_note(data),
        about=visible(
            f"{shown_name(data['candidate'])} against {shown_name(data['baseline'])}: "
            f"{measure_title(data['measure'])} on {judged_words(data)}"
        ),
        pictures=[condition_picture(one, unit_of(data)) for one in worst_first(data)[:_MOST]],
        rows=[(STATUS_KINDS[one["status"]], cells(one)) for one in data["conditions"]],
        headings=headings(data),
        status_column=headings(data).index(STATUS_HEADING),
        width=_WIDTH,
        margin=_MARGIN,
        losses=data["hurt"],
        hurt_headings=hurt_headings(data)[1:],
        hurt=[_hurt_row(one, places.get(one["query"])) for one in data["most_hurt"]],
        has_rankings=rankings is not None,
        notes=[visible(note) for note in [*_full_names(data), *notes(data)]],
    )


def _hurt_row(one: Json, place: int | None) -> Json:
    """A query that was hurt; `place` is its number among those with rankings."""
    return {
        "query": shown_name(one["query"]),
        "full": visible(one["query"]),
        "text": visible(one["text"] or ""),
        "place": place,
        "baseline": f"{one['baseline']:.4f}",
        "candidate": f"{one['candidate']:.4f}",
        "difference": signed(one["difference"], 4),
    }


def _full_names(data: Json) -> list[str]:
    """The names of systems that the page shows without their middle."""
    systems = (("candidate", data["candidate"]), ("baseline", data["baseline"]))
    return [f"The {role}'s full name: {text}." for role, text in systems if shown_name(text) != visible(text)]
