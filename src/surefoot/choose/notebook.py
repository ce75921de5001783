"""A sweep's result as a notebook shows it: what the papers' questions get for an answer, and the candidates."""

from __future__ import annotations

from surefoot.choose.recommendation import headline
from surefoot.choose.tables import columns, notes, significance_signs, title, value_of
from surefoot.data.notebook import NotebookTable, NotebookView, more_rows
from surefoot.report.columns import ABSENT, FigureColumn
from surefoot.report.numbers import measure_title
from surefoot.risk.assessment_data import Json

_ROWS, _ANSWERS = 15, 3


def to_notebook(data: Json) -> str:
    """The view of a sweep's plain data, on its test queries."""
    rows = [*data["baselines"], *data["rows"]]
    figure_columns = columns(data)
    table = NotebookTable(
        ["candidate", *(column.heading for column in figure_columns)],
        [
            [row["name"] + significance_signs(row["test"]), *(_cell(column, row["test"]) for column in figure_columns)]
            for row in rows[:_ROWS]
        ],
        "On test queries; baselines first", more=more_rows(len(rows), _ROWS, "candidates"),
        looks=["baseline" if number < len(data["baselines"]) else "" for number in range(len(rows[:_ROWS]))],
    )  # fmt: skip
    best = max((row["test"]["mean"] for row in data["rows"]), default=None)
    tiles = [
        ("Candidates", f"{len(data['rows']):,}"),
        ("Test queries", f"{data['queries']['test']:,}"),
        ("Folds", f"{len(data['folds']):,}"),
        ("Seeds", f"{len(data['seeds']):,}"),
        *([] if best is None else [(f"Best {measure_title(data['measure'])}", f"{best:.4f}")]),
    ]
    lead = [headline(data)]
    lead += [f"{answer['question']} {answer['answer']}" for answer in data["answers"][:_ANSWERS]]
    return NotebookView("Trade-offs", title(data), tiles, table, lead=lead, notes=notes(data)).to_html()


def _cell(column: FigureColumn, figures: Json) -> str:
    return ABSENT if value_of(column, figures) is None else column.text(figures)  # type: ignore[arg-type]
