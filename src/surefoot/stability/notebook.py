"""A study of stability as a notebook shows it: what was found, and its table."""

from __future__ import annotations

from surefoot.data.notebook import NotebookTable, NotebookView, more_rows
from surefoot.risk.assessment_data import Json
from surefoot.stability.study_data import kind
from surefoot.stability.text import findings, functions_table, title

_ROWS, _FINDINGS = 20, 4


def to_notebook(data: Json) -> str:
    """The view of a study's plain data."""
    headings, rows, left = _table(data)
    table = NotebookTable(headings, rows[:_ROWS], left=left, more=more_rows(len(rows), _ROWS))
    found = findings(data)
    tiles = [
        ("Queries", f"{data['queries']:,}"),
        ("Systems", f"{len(data['systems']):,}"),
        ("Measures", f"{len(data['measures']):,}"),
    ]
    view = NotebookView(
        f"Study of {kind(data)}", title(data), tiles, table, lead=found[:_FINDINGS], notes=found[_FINDINGS:]
    )
    return view.to_html()


def _table(data: Json) -> tuple[list[str], list[list[str]], int]:
    """Headings and rows, and how many of the first columns are names."""
    if kind(data) == "functions":
        headings, rows = functions_table(data)
        order = [2, 0, 1, 3, 4, 5]  # the system first
        return [headings[column] for column in order], [[row[column] for column in order] for row in rows], 2
    if kind(data) == "noise":
        rows = [
            [system["system"], f"{size:g}"]
            + [
                f"{measure['mean'][size_number]:.4f} ± {measure['deviation'][size_number]:.4f}"
                for measure in system["measures"].values()
            ]
            for system in data["systems"]
            for size_number, size in enumerate(data["sizes"])
        ]
        return ["system", "noise", *data["measures"]], rows, 1
    by_time = kind(data) == "time"
    heads = [period["period"] for period in data["periods"]] if by_time else [f"{size:,}" for size in data["sizes"]]
    picks = [data["results"][measure] for measure in data["measures"]]
    rows = [[head, *(f"{pick['rate'][row_number]:.3f}" for pick in picks)] for row_number, head in enumerate(heads)]
    first = data["period"] if by_time else "queries"
    return [first, *(f"winner picked, {measure}" for measure in data["measures"])], rows, 1
