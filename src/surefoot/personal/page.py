"""The study as one page: gain by share re-ranked, the paper's table, and sessions to look at."""

from __future__ import annotations

from surefoot.errors import visible
from surefoot.personal.options import METHODS
from surefoot.personal.tables import cells, headings, measure_name, notes, segment_tables, title
from surefoot.report.html import json_for_script, render_page, script_constants, script_of, trusted
from surefoot.risk.plain_data import Json

_FOLDER = "surefoot.personal/assets"
_SHARED = "surefoot.report/assets"
_SCRIPTS = (
    f"{_FOLDER}/data.js", f"{_SHARED}/dom.js", f"{_SHARED}/chart.js", f"{_FOLDER}/curves.js",
    f"{_FOLDER}/sessions.js", f"{_SHARED}/selects.js", f"{_FOLDER}/main.js",
)  # fmt: skip
_FIGURES = ("gain", "risk", "share_reranked", "share_of_gain", "share_of_risk", "tau")


def page_payload(data: Json) -> Json:
    """What the page's scripts read."""

    def brief(row: Json) -> Json:
        parts = {part: {key: row[part][key] for key in _FIGURES} for part in ("valid", "test")}
        return {key: row[key] for key in ("name", "method", "parameters")} | parts

    return {
        "rows": [brief(row) for row in data["rows"]],
        "chosen": [brief(row) | {"label": row["label"]} for row in data["chosen"]],
        "methods": METHODS,
        "selective": data["selective"],
        "sessions": data["sessions"],
        "measure": measure_name(data),
        **script_constants(),
    }


def to_page(data: Json) -> str:
    """The page of a study's plain data: HTML that needs nothing else, no network and no server."""
    return render_page(
        f"{_FOLDER}/personal.html.j2",
        [f"{_SHARED}/page.css", f"{_FOLDER}/personal.css"],
        script_of(_SCRIPTS),
        title=visible(title(data)),
        data=trusted(json_for_script(page_payload(data))),
        headings=[visible(one) for one in headings(data)],
        rows=[[visible(cell) for cell in cells(row)] for row in data["chosen"]],
        segments=[
            (visible(column), [visible(head) for head in heads], [[visible(cell) for cell in row] for row in body])
            for column, heads, body in segment_tables(data)
        ],
        notes=[visible(note) for note in notes(data)],
    )
