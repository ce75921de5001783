"""A sweep as one page: which model to choose, risk and gain, two models side by side, the papers' questions."""

from __future__ import annotations

from surefoot.choose.candidate_figures import CONVERGED_SHARE
from surefoot.choose.findings import LESS_RISK
from surefoot.choose.recommendation import Recommendation, gain_only, kept_in_words, recommendation, share_tile
from surefoot.choose.tables import columns, is_weighted, notes, significance_signs, title, value_of
from surefoot.errors import visible
from surefoot.learn.measured_queries import EVALUATION_PARTS
from surefoot.report.family import Tile, family_page
from surefoot.report.notes import traffic_percent
from surefoot.report.numbers import fixed, measure_title, signed
from surefoot.report.provenance import Provenance
from surefoot.risk.assessment_data import Json

_FOLDER = "surefoot.choose/assets"
_SHARED = "surefoot.report/assets"
_SCRIPTS = (
    f"{_FOLDER}/data.js", f"{_SHARED}/chart.js", f"{_FOLDER}/labels.js", f"{_FOLDER}/plane.js", f"{_FOLDER}/answers.js",
    f"{_FOLDER}/learning.js", f"{_FOLDER}/table.js", f"{_FOLDER}/compare.js", f"{_SHARED}/selects.js",
    f"{_FOLDER}/main.js",
)  # fmt: skip
_HOLDS = {"yes": ("Yes", "ship"), "in part": ("In part", "wait"), "no": ("No", "neutral")}


def _tiles(data: Json, recommended: Recommendation) -> list[Tile]:
    choice = recommended.choice
    rows = {row["name"]: row for row in data["rows"]}
    best, gain_row = rows.get(choice["name"]), gain_only(data["rows"])
    tiles: list[Tile] = []
    if best is not None:
        mine, shares, beside, more_risk = best["test"], choice["test"], ["", "", ""], False
        if gain_row is not None:
            alone = gain_row["test"]
            texts = (signed(alone["gain"], 4), f"{alone['risk']:.4f}", f"{alone['loss_over_20']:.0f}")
            beside, more_risk = [f" (gain alone: {text})" for text in texts], mine["risk"] > alone["risk"]
        of_traffic = ""
        if "traffic_shares" in mine:
            of_traffic = f", {traffic_percent(mine['traffic_shares']['loss_over_20'])} of traffic"
        tiles += [
            recommended.gain_tile(
                shares["share_of_gain"], signed(mine["gain"], 4),
                f"{signed(mine['gain'], 4)} {measure_title(data['measure'])} per query{beside[0]}",
            ),
            share_tile(
                "Risk", "left", shares["share_of_risk"], fixed(mine["risk"], 4),
                f"mean loss {mine['risk']:.4f} per query{beside[1]}",
            )._replace(kind="keep" if more_risk else None),
            Tile(
                "Hurt by more than 20 %", f"{mine['loss_over_20']:.0f}",
                f"of {data['queries']['test']:,} queries{of_traffic}{beside[2]}",
            ),
        ]  # fmt: skip
    folds = choice.get("by_fold")
    if folds is not None and len(data["folds"]) > 1:
        agree = sum(name == choice["name"] for name in folds["chosen"].values())
        tiles.append(
            Tile(
                "Folds that take it", f"{agree} of {len(folds['chosen'])}",
                f"if each fold uses its own choice, the result {kept_in_words(folds['test'])}",
            )
        )  # fmt: skip
    several = [f"{len(data['folds'])} folds"] * (len(data["folds"]) > 1)
    several += [f"{len(data['seeds'])} seeds"] * (len(data["seeds"]) > 1)
    tiles.append(Tile("Test queries", f"{data['queries']['test']:,}", ", ".join([*several, f"{len(rows)} candidates"])))
    if best is None and data["rows"]:
        tiles += _tiles_without_choice(data)
    return tiles


def _tiles_without_choice(data: Json) -> list[Tile]:
    """How near the candidates came on validation queries, where no model gains."""
    most = max(data["rows"], key=lambda row: float(row["valid"]["gain"]))
    least = min(data["rows"], key=lambda row: float(row["valid"]["risk"]))
    return [
        Tile(
            "Validation queries",
            f"{data['queries']['valid']:,}",
            f"chosen on these, by {measure_title(data['measure'])}",
        ),
        Tile("Most gain there", signed(most["valid"]["gain"], 4), most["name"]),
        Tile("Least risk there", fixed(least["valid"]["risk"], 4), least["name"]),
    ]


def page_payload(data: Json) -> Json:
    """What the page's scripts read: the result, and the cells of its table."""
    shown = columns(data)
    rows = [*data["baselines"], *data["rows"]]
    keys = ("baselines", "rows", "names", "alphas", "curves", "measure")
    choice = data["recommendation"]
    return {
        **{key: data[key] for key in keys},
        "counts": data["counts"] if is_weighted(data) else None,
        "recommended": choice["name"],
        "tag": recommendation(data).tag,
        "strategy": (choice.get("strategy") or {}).get("name"),
        "title": measure_title(data["measure"]),
        "less_risk": LESS_RISK,
        "answers": [answer.get("about") for answer in data["answers"]],
        "headings": [column.heading for column in shown],
        "digits": [column.digits for column in shown],
        "cells": {
            part: [[value_of(column, row[part]) for column in shown] for row in rows] for part in EVALUATION_PARTS
        },
        "marks": {part: [significance_signs(row[part]) for row in rows] for part in EVALUATION_PARTS},
        "round_name": data.get("round_name", "trees"),
        "reached": f"{CONVERGED_SHARE:.0%}".replace("%", " %"),
    }


def to_page(data: Json, provenance: Provenance | None = None) -> str:
    """The page of a sweep's plain data: HTML that needs nothing else, no network and no server."""
    recommended = recommendation(data)
    return family_page(
        f"{_FOLDER}/sweep.html.j2",
        recommended.front(_tiles(data, recommended)),
        provenance,
        page_kind="trade-offs",
        title=title(data),
        css=[f"{_FOLDER}/sweep.css"],
        scripts=_SCRIPTS,
        data=page_payload(data),
        rule=visible(recommended.choice["rule"]),
        compared=visible(title(data)),
        tag=recommended.tag,
        round_name=data.get("round_name", "trees"),
        has_intervals=any("interval" in row[part] for row in data["rows"] for part in EVALUATION_PARTS),
        name=visible(recommended.point) or None,
        answers=[
            {"question": visible(answer["question"]), "answer": visible(answer["answer"])}
            | {"about": answer.get("about"), "holds": _HOLDS.get(answer.get("holds", ""))}
            for answer in data["answers"]
        ],
        notes=[visible(note) for note in notes(data)],
    )
