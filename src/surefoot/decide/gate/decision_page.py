"""A decision as one page: what to do, each condition as a picture, and the queries hurt most with their rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.data.types.scores import Scores
from surefoot.decide.evidence.conditions import condition_named, confidence
from surefoot.decide.evidence.nothing_to_lose import nothing_to_lose_notes
from surefoot.decide.gate.decision_text import (
    STATUS_HEADING,
    cells,
    headings,
    hurt_headings,
    notes,
    record_cautions,
    worst_first,
)
from surefoot.decide.gate.decision_words import (
    DECISION_TITLES,
    condition_name,
    figure_of,
    headline,
    judged_words,
    proved_bound,
    queries_needed_note,
    sentence,
    shown_name,
    unit_of,
)
from surefoot.errors import visible
from surefoot.report.family import Chip, ChipKind, Front, Tile, family_page
from surefoot.report.numbers import measure_title, short, signed
from surefoot.report.page_results import measure_terms, packed_results, page_texts
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


STATUS_KINDS: dict[str, ChipKind] = {"holds": "ship", "fails": "keep", "open": "wait"}
_DECISION_KINDS: dict[str, ChipKind] = {"ship": "ship", "stop": "keep", "undecided": "wait"}
_MOST_TILES = 6  # the conditions among them are the worst


def front(data: Json) -> Front:
    """What a reader sees first, from a decision's plain data."""
    decision = data["decision"]
    return Front(
        headline(data), Chip(DECISION_TITLES[decision], _DECISION_KINDS[decision]), caution(data), _tiles(data)
    )


def caution(data: Json) -> str | None:
    """What could make the decision wrong, where something about these queries could."""
    if data["record"] is not None and (cautions := record_cautions(data["record"])):
        return " ".join(cautions)
    if data["dropped"]:
        return (
            f"{data['dropped']:,} judged queries were left out, because a run does not answer them. The decision says "
            "nothing about them."
        )
    unanswered = data["unanswered"]
    if unanswered["treatment"] == "count" and (notes := nothing_to_lose_notes(unanswered)):
        return notes[0]
    few = [
        condition
        for condition in data["conditions"]
        if condition["least_queries"] and condition["least_queries"] > condition["queries"]
    ]
    if data["decision"] == "undecided" and few:
        condition = max(few, key=lambda condition: condition["least_queries"])
        return f"You need at least {condition['least_queries']:,} judged queries to prove {condition_name(condition)}."
    return None


def _tiles(data: Json) -> list[Tile]:
    hurt = data["most_hurt"][0] if data["most_hurt"] else None
    most = (
        "no query lost anything"
        if hurt is None
        else f"the worst is {shown_name(hurt['query'])}: {signed(hurt['difference'], 4)}"
    )
    share = f"at most {100 * data['delta']:.4g} % of bad candidates pass"
    others = [
        Tile("Queries hurt", f"{data['hurt']:,}", most),
        _judged_tile(data),
        *_judge_tiles(data),
        Tile("Confidence", confidence(data["delta"]), share),
        *_look_tile(data),
    ]
    conditions = [
        Tile(
            condition_name(condition),
            proved_bound(condition),
            f"{condition['status']}; observed {figure_of(condition, condition['observed'])}",
            STATUS_KINDS[condition["status"]],
        )
        for condition in worst_first(data)[: _MOST_TILES - len(others)]
    ]
    return [*conditions, *others]


def _judged_tile(data: Json) -> Tile:
    if data["sample"]["kind"] != "draws":
        return Tile("Judged queries", f"{data['queries']:,}")
    return Tile("Judged queries", f"{data['sample']['people_queries']:,}", f"{data['queries']:,} draws")


def _look_tile(data: Json) -> list[Tile]:
    """Which look this is, where a record remembers them."""
    use = data["record"]
    if use is None:
        return [Tile("Look", "alone", "without a record")]
    return [Tile("Look", f"{len(use['looks'])}", f"question {use['question']} of record {use['sha256'][:12]}")]


def _judge_tiles(data: Json) -> list[Tile]:
    """What would be without the automatic judge, where there is one."""
    automatic = data.get("automatic")
    if automatic is None:
        return []
    without, needed = automatic["without"], automatic["without"]["queries_needed"]
    more = f"about {needed:,} judged queries needed" if needed is not None else "for comparison only"
    return [Tile("Without the automatic judge", DECISION_TITLES[without["decision"]], more)]


def hurt_rankings(data: Json, scores: Scores | None, documents: Any = None) -> Json | None:
    """Systems, queries, both lists of each and the documents' texts; None where no ranking is known.

    `scores` are those that were decided on, with their runs. A query of an earlier batch is not among them.
    """
    systems = [data["baseline"], data["candidate"]]
    runs = {} if scores is None else {run.name: run for run in scores.runs}
    scored_queries = frozenset() if scores is None else frozenset(scores.queries)
    hurt_queries = [hurt_query for hurt_query in data["most_hurt"] if hurt_query["query"] in scored_queries]
    if scores is None or not hurt_queries or not runs.keys() >= set(systems):
        return None
    values = np.array([[hurt_query[side] for hurt_query in hurt_queries] for side in ("baseline", "candidate")])
    queries = [hurt_query["query"] for hurt_query in hurt_queries]
    hurt_scores = Scores(
        values, systems, queries, scores.measure, runs=[runs[system] for system in systems], qrels=scores.qrels,
        tie_rule=scores.tie_rule,
    )  # fmt: skip
    results = packed_results(hurt_scores, systems[0], [values - values[0]], len(hurt_queries))
    if results is None:
        return None
    ids = results.pop("documents")
    return {
        "systems": systems,
        "queries": queries,
        "scores": values.tolist(),
        "texts": {
            "queries": [hurt_query["text"] or "" for hurt_query in hurt_queries],
            "documents": page_texts(documents, ids),
        },
        "results": results,
        "terms": measure_terms(scores.measure, results["levels"]),
    }
