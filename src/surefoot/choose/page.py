"""A sweep as one page: the plane of risk and gain, how models learn and move, two of them side by side."""

from __future__ import annotations

from surefoot.choose.figures import REACHED
from surefoot.choose.tables import columns, marks, notes, title, value_of
from surefoot.errors import visible
from surefoot.learn.held_out import EVALUATED
from surefoot.report.html import json_for_script, render_page, script_constants, script_of, trusted
from surefoot.risk.plain_data import Json

_FOLDER = "surefoot.choose/assets"
_SHARED = "surefoot.report/assets"
_SCRIPTS = (
    f"{_FOLDER}/data.js", f"{_SHARED}/dom.js", f"{_SHARED}/chart.js", f"{_FOLDER}/plane.js", f"{_FOLDER}/learning.js",
    f"{_FOLDER}/table.js", f"{_FOLDER}/compare.js", f"{_SHARED}/selects.js", f"{_FOLDER}/main.js",
)  # fmt: skip


def page_payload(data: Json) -> Json:
    """What the page's scripts read: the result, and the cells of its table."""
    shown = columns(data)
    rows = [*data["baselines"], *data["rows"]]
    keys = ("baselines", "rows", "names", "alphas", "curves", "measure")
    return {
        **{key: data[key] for key in keys},
        "headings": [column.heading for column in shown],
        "digits": [column.digits for column in shown],
        "cells": {part: [[value_of(column, row[part]) for column in shown] for row in rows] for part in EVALUATED},
        "marks": {part: [marks(row[part]) for row in rows] for part in EVALUATED},
        "reached": f"{REACHED:.0%}".replace("%", " %"),
        **script_constants(),
    }


def to_page(data: Json) -> str:
    """The page of a sweep's plain data: HTML that needs nothing else, no network and no server."""
    return render_page(
        f"{_FOLDER}/sweep.html.j2",
        [f"{_SHARED}/page.css", f"{_FOLDER}/sweep.css"],
        script_of(_SCRIPTS),
        title=visible(title(data)),
        data=trusted(json_for_script(page_payload(data))),
        answers=[{key: visible(text) for key, text in answer.items()} for answer in data["answers"]],
        notes=[visible(note) for note in notes(data)],
    )
