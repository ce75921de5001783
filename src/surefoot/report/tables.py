"""Tables of texts as Markdown, LaTeX and a terminal take them; what is in a cell stays text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.errors import visible
from surefoot.report.escapes import LETTER, latex, markdown

if TYPE_CHECKING:
    from rich.table import Table

Cells = Sequence[Sequence[str]]


def markdown_table(headings: Sequence[str], rows: Cells) -> str:
    """A Markdown table, its first column to the left."""
    lines = ["| " + " | ".join(headings) + " |", "|:---|" + "---:|" * (len(headings) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(map(markdown, row)) + " |" for row in rows)])


def latex_table(title: str, headings: Sequence[str], rows: Cells, spans: str | None = None) -> str:
    """A booktabs table; headings, and the line of `spans` above them, are LaTeX already."""
    body = [" & ".join(map(latex, row)) + r" \\" for row in rows]
    lines = [
        f"% {latex(title)}",
        r"% needs \usepackage{booktabs}",
        *([LETTER] if any(r"\surefootletter" in line for line in body) else []),
        rf"\begin{{tabular}}{{l{'r' * (len(headings) - 1)}}}",
        r"\toprule",
        *([] if spans is None else [rf"{spans} \\"]),
        " & ".join(headings) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def terminal_table(headings: Sequence[str], rows: Cells, left: int = 1) -> Table:
    """A terminal's table, its first `left` columns to the left; long names are folded."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(Text(visible(heading)), justify="left" if number < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table
