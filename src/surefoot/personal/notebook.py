"""A personalization as a notebook shows it: what was compared, and the paper's table."""

from __future__ import annotations

from surefoot.data.notebook import NotebookTable, NotebookView, more_rows
from surefoot.personal.recommendation import headline
from surefoot.personal.tables import cells, headings, measure_name, notes, table_rows, title
from surefoot.report.numbers import signed
from surefoot.risk.assessment_data import Json

_ROWS = 20


def to_notebook(data: Json) -> str:
    """The view of a study's plain data, on its test lists."""
    chosen = table_rows(data)
    table = NotebookTable(
        headings(data), [cells(row) for row in chosen[:_ROWS]], "On test lists, in hundredths", left=2,
        more=more_rows(len(chosen), _ROWS, "methods"),
    )  # fmt: skip
    tiles = [
        ("Test lists", f"{data['lists']['test']:,}"),
        ("Users", f"{data['counts']['users']:,}"),
        ("Models trained", f"{len(data['rows']):,}"),
        (f"{measure_name(data)} as shown", f"{100 * data['shown']['test']:.2f}"),
    ]
    if chosen:
        tiles.append(("Greatest change", signed(100 * max(row["test"]["gain"] for row in chosen), 3)))
    return NotebookView(
        "Personalization", title(data), tiles, table, lead=[headline(data)], notes=notes(data)
    ).to_html()
