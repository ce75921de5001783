"""The front of a decision's page: the headline, the decision as a chip, what to be careful about, and the figures."""

from __future__ import annotations

from surefoot.decide.evidence.conditions import confidence
from surefoot.decide.evidence.nothing_to_lose import nothing_to_lose_notes
from surefoot.decide.gate.decision_text import record_cautions, worst_first
from surefoot.decide.gate.decision_words import (
    DECISION_TITLES,
    condition_name,
    figure_of,
    headline,
    proved_bound,
    shown_name,
)
from surefoot.report.family import Chip, ChipKind, Front, Tile
from surefoot.report.numbers import signed
from surefoot.risk.assessment_data import Json

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
