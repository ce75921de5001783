"""An assessment as a notebook shows it: which system to ship, what that gains and risks, and the table."""

from __future__ import annotations

from surefoot.data.notebook import Look, NotebookTable, NotebookView, Tone, more_rows
from surefoot.report.columns import SYSTEM_COLUMN, at_alpha, summary_columns
from surefoot.report.few_queries import too_few_elsewhere
from surefoot.report.numbers import signed
from surefoot.report.words import (
    CLOSEST_SYSTEM_PREFIX,
    absences,
    advice,
    alpha_title,
    cautions,
    default_alpha,
    effect,
    leader,
    notes,
    title,
)
from surefoot.risk.assessment_data import AssessmentData, SystemData
from surefoot.risk.assessment_figures import alpha_key

_ROWS = 25
_AT_ALPHA = ("u_risk", "t_risk", "p_holm", "geo_risk")
_LOOKS: dict[str | None, Look] = {"reward": "helped", "risk": "hurt"}


def to_notebook(data: AssessmentData, rows: list[SystemData]) -> str:
    """A small view without scripts: the advice in plain words, and the table."""
    alpha = default_alpha(data["alphas"])
    key = alpha_key(alpha)
    columns = [
        SYSTEM_COLUMN,
        *summary_columns(data),
        *(column for column in at_alpha(alpha) if column.name in _AT_ALPHA),
    ]
    headline, lead, about = _advice(data, alpha)
    verdict = about["alpha"][key]["verdict"]
    tone: Tone = "helped" if verdict == "reward" else "hurt" if verdict == "risk" else ""
    looks: list[Look] = [
        "baseline" if row["is_baseline"] else _LOOKS.get(row["alpha"][key]["verdict"], "") for row in rows[:_ROWS]
    ]
    coloured_column = next(number for number, column in enumerate(columns) if column.name == "t_risk")
    table = NotebookTable(
        [column.heading for column in columns], [[column.text(row) for column in columns] for row in rows[:_ROWS]],
        alpha_title(alpha), more=more_rows(len(rows), _ROWS, "systems"), looks=looks, coloured_column=coloured_column,
    )  # fmt: skip
    return NotebookView(
        title(data), headline, _tiles(data, about), table, tone, cautions(data), lead,
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


def _advice(data: AssessmentData, alpha: float) -> tuple[str, list[str], SystemData]:
    """What to do in one sentence, what is to be said of it, and the system that this is about."""
    first, *rest = advice(data, alpha)
    for row in data["systems"]:
        what, found, why = first.partition(effect(data, row))
        if found:
            short = what.strip().removesuffix(CLOSEST_SYSTEM_PREFIX).strip()
            nearest = f"{CLOSEST_SYSTEM_PREFIX} " if what.strip() != short else ""
            return short, [nearest + found + why, *rest], row
    return first, rest, leader(data)
