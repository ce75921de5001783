"""An assessment as a notebook shows it: what was found, what it means, and the table."""

from __future__ import annotations

from surefoot.data.notebook import Look, NotebookTable, NotebookView, Tone, more_rows
from surefoot.report.columns import SYSTEM_COLUMN, at_alpha, summary_columns
from surefoot.report.notes import too_few_elsewhere
from surefoot.report.numbers import signed
from surefoot.report.words import (
    absences,
    advice,
    alpha_title,
    cautions,
    default_alpha,
    describe,
    headline,
    notes,
    recommended_system,
    title,
)
from surefoot.risk.assessment_data import AssessmentData, SystemData
from surefoot.risk.tradeoff import alpha_key

_ROWS = 25
_AT_ALPHA = ("u_risk", "t_risk", "p_holm", "geo_risk")
_TONES: dict[str | None, Tone] = {"better": "helped", "worse": "hurt"}


def to_notebook(data: AssessmentData, rows: list[SystemData]) -> str:
    """A small view without scripts: the advice in plain words, and the table."""
    alpha = default_alpha(data["alphas"])
    key = alpha_key(alpha)
    columns = [
        SYSTEM_COLUMN,
        *summary_columns(data),
        *(column for column in at_alpha(alpha) if column.name in _AT_ALPHA),
    ]
    about = recommended_system(data, alpha)
    lead = [] if about["is_baseline"] else [describe(data, about, alpha), *advice(data, alpha)[1:]]
    tone: Tone = _TONES.get(about["alpha"][key]["outcome"], "")
    looks: list[Look] = [
        "baseline" if row["is_baseline"] else _TONES.get(row["alpha"][key]["outcome"], "") for row in rows[:_ROWS]
    ]
    coloured_column = next(number for number, column in enumerate(columns) if column.name == "t_risk")
    table = NotebookTable(
        [column.heading for column in columns], [[column.text(row) for column in columns] for row in rows[:_ROWS]],
        alpha_title(alpha), more=more_rows(len(rows), _ROWS, "systems"), looks=looks, coloured_column=coloured_column,
    )  # fmt: skip
    return NotebookView(
        title(data), f"{headline(data, alpha)[0]}.", _tiles(data, about), table, tone, cautions(data), lead,
        [*too_few_elsewhere(data, alpha), *notes(data), *absences(data)],
    ).to_html()  # fmt: skip


def _tiles(data: AssessmentData, row: SystemData) -> list[tuple[str, str]]:
    size = [("Queries", f"{data['queries']:,}"), ("Systems", f"{len(data['systems']):,}")]
    if row["is_baseline"]:
        return size
    return [
        *size,
        (f"Gain of {row['system']}", signed(row["gain"], 4)),
        ("Its risk", f"{row['risk']:.4f}"),
        ("Queries hurt", f"{row['losses']:,g}"),
        ("By more than 20 %", f"{row['loss_over_20']:,g}"),
    ]
