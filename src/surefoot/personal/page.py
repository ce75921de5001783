"""The study as one page: which re-ranker to serve, the paper's table, gain by share re-ranked, sessions to look at."""

from __future__ import annotations

from markupsafe import Markup

from surefoot.choose.recommendation import Recommendation, share_tile
from surefoot.errors import visible
from surefoot.personal.options import METHOD_LINES, METHOD_TITLES, STANDARD
from surefoot.personal.recommendation import recommendation
from surefoot.personal.tables import (
    bias_note,
    cells,
    distinct_rows,
    full_label,
    headings,
    measure_name,
    notes,
    segment_tables,
    title,
)
from surefoot.report.family import Tile, family_page
from surefoot.report.line_chart import ChartLine, line_chart
from surefoot.report.numbers import fixed, percent, signed
from surefoot.report.provenance import Provenance
from surefoot.risk.assessment_data import Json

_FOLDER = "surefoot.personal/assets"
_SHARED = "surefoot.report/assets"
_SCRIPTS = (
    f"{_FOLDER}/data.js", f"{_SHARED}/chart.js", "surefoot.choose/assets/labels.js", f"{_FOLDER}/curves.js",
    f"{_FOLDER}/sessions.js", f"{_SHARED}/selects.js", f"{_FOLDER}/main.js",
)  # fmt: skip
_FIGURES = ("gain", "risk", "share_reranked", "share_of_gain", "share_of_risk", "tau")
_FIRST_ROWS = 3  # of the table; the others on asking
_COLUMNS = (0, 1, 7, 6, 5, 2, 3, 4, 8, 9)  # of the paper's table: what decides comes first


def _tiles(data: Json, recommended: Recommendation) -> list[Tile]:
    choice = recommended.choice
    lists = Tile(
        "Test lists", f"{data['lists']['test']:,}",
        f"chosen on {data['lists']['valid']:,}, trained on {data['lists']['train']:,}",
    )  # fmt: skip
    shown = Tile(
        f"{measure_name(data)} as shown", fixed(100 * data["shown"]["test"], 2), "of the order without a model"
    )
    standard = next((row["test"] for row in data["rows"] if row["method"] == STANDARD), None)
    if choice["name"] is None or standard is None:
        most = max(data["rows"], key=lambda row: float(row["valid"]["gain"]), default=None)
        return [
            Tile("Models trained", f"{len(data['rows']):,}"), shown, lists,
            *([] if most is None else [_most_gain_tile(most)]),
        ]  # fmt: skip
    gain = signed(100 * choice["gain"], 3)
    return [
        recommended.gain_tile(
            choice["share_of_gain"], gain,
            f"{gain} {measure_name(data)}, in hundredths; standard gain {signed(100 * standard['gain'], 3)}",
        ),
        share_tile(
            "Risk", "left", choice["share_of_risk"], fixed(100 * choice["risk"], 3),
            f"mean loss {fixed(100 * choice['risk'], 3)}; standard gain {fixed(100 * standard['risk'], 3)}",
        ),
        Tile(
            "Lists moved", percent(choice["share_reranked"]),
            f"standard gain moves {percent(standard['share_reranked'])}",
        ),
        shown, lists,
    ]  # fmt: skip


def _most_gain_tile(row: Json) -> Tile:
    """How near the models came on validation lists, where none gains."""
    return Tile("Most gain", signed(100 * row["valid"]["gain"], 3), f"on validation lists: {row['name']}")


def page_rows(data: Json) -> list[Json]:
    """The table's rows, each model once: the recommended one, standard gain, other models by validation area."""
    best = data["recommendation"]["name"]

    def rank(row: Json) -> tuple[bool, bool, bool, float]:
        area = row["valid"]["area"]
        served = row["name"] in data["models"]  # what has no model only shows what the others are worth
        return row["name"] != best, row["method"] != STANDARD, not served, -(float("-inf") if area is None else area)

    return [
        {
            "cells": [visible(full_label(row)), *(visible(cells(row)[column]) for column in _COLUMNS[1:])],
            "also": [visible(full_label(row, label)) for label in also],
            "line": METHOD_LINES.get(row["method"], ""),
            "is_best": row["name"] == best,
        }
        for row, also in sorted(distinct_rows(data["chosen"]), key=lambda one: rank(one[0]))
    ]


def opening_list(data: Json) -> list[int]:
    """The session and list to open at: where the recommended model raises a satisfied result most."""
    label = data["recommendation"].get("label")

    def raised(shown: Json) -> tuple[int, int]:
        order = shown["orders"].get(label, [])
        up = [place - now for now, place in enumerate(order) if shown["grade"][place] > 0]
        return max(up, default=0), sum(place != now for now, place in enumerate(order))

    places = [
        (raised(shown), [number, at])
        for number, session in enumerate(data["sessions"])
        for at, shown in enumerate(session["lists"])
    ]
    return max(places, key=lambda one: one[0], default=((0, 0), [0, 0]))[1]


def page_payload(data: Json) -> Json:
    """What the page's scripts read."""

    def brief(row: Json) -> Json:
        parts = {part: {key: row[part][key] for key in _FIGURES} for part in ("valid", "test")}
        return {key: row[key] for key in ("name", "method", "parameters")} | parts

    choice = data["recommendation"]
    rows = [row for row, _ in distinct_rows(data["chosen"])]
    return {
        "rows": [brief(row) for row in data["rows"]],
        "chosen": [brief(row) | {"label": row["label"]} for row in rows],
        "models": [row["label"] for row in rows if row["name"] in data["models"]],
        "recommended": choice["name"],
        "tag": recommendation(data).tag,
        "label": choice.get("label"),
        "names": {row["label"]: full_label(row) for row in rows},
        "opening": opening_list(data),
        "methods": METHOD_TITLES,
        "selective": data["selective"],
        "sessions": data["sessions"],
        "measure": measure_name(data),
    }


def _position_chart(data: Json) -> Markup | None:
    """How often each position is looked at; None where that cannot be estimated."""
    bias = data.get("position_bias", {})
    if not bias.get("p"):
        return None
    p, low, high = ([100 * one for one in bias[key]] for key in ("p", "low", "high"))
    return line_chart(
        range(1, len(p) + 1), [ChartLine("looked at, in % of the first position", p, low, high)], from_zero=True,
        label="How often each position is looked at", x_label="position", y_label="%",
    )  # fmt: skip


def to_page(data: Json, provenance: Provenance | None = None) -> str:
    """The page of a study's plain data: HTML that needs nothing else, no network and no server."""
    recommended, heads, bias = recommendation(data), headings(data), bias_note(data)
    choice = recommended.choice
    return family_page(
        f"{_FOLDER}/personal.html.j2",
        recommended.front(_tiles(data, recommended)),
        provenance,
        page_kind="personalize",
        title=title(data),
        css=[f"{_FOLDER}/personal.css"],
        scripts=_SCRIPTS,
        data=page_payload(data),
        rule=visible(choice["rule"]),
        model=choice["name"] and visible(choice["model"]),
        compared=visible(title(data)),
        headings=[visible(heads[column]) for column in _COLUMNS],
        rows=page_rows(data),
        tag=recommended.tag,
        first_rows=_FIRST_ROWS,
        segments=[
            (visible(column), [visible(head) for head in heads], [[visible(cell) for cell in row] for row in body])
            for column, heads, body in segment_tables(data)
        ],
        notes=[visible(note) for note in notes(data) if note != bias],
        bias=bias and visible(bias),
        position_chart=_position_chart(data),
    )
