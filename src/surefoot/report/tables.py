"""Tables of texts as a terminal, Markdown and LaTeX take them; what is in a cell stays text.

Tables of many rows are drawn cell by cell in a terminal: Rich's own takes milliseconds for each row.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from surefoot.errors import visible
from surefoot.report.escapes import LETTER, latex, markdown

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.segment import Segment
    from rich.table import Table

StyledTexts: TypeAlias = Sequence[tuple[str, str]]  # texts side by side, each with the name of its style, "" for none
GAP = 2  # between columns


class NamedRow(NamedTuple):
    """A row of figures, by name."""

    name: str
    cells: Sequence[StyledTexts]
    style: str = ""


def cell_width(cells: Sequence[StyledTexts], heading: str) -> int:
    """The width that a column of figures takes, the gap before it included."""
    return GAP + max(len(heading), *(sum(len(text) for text, _ in cell) for cell in cells), 0)


def plain_console(**options: Any) -> Console:
    """A console that shows text as it is: names such as `x[/bold]` and `:cat:` are no markup."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, **options)


def rendered(parts: Iterable[RenderableType], width: int) -> str:
    """What a terminal of that width would show, without colour and without blanks at the ends of lines."""
    stream = io.StringIO()
    console = plain_console(file=stream, width=width, color_system=None, force_terminal=False)
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in stream.getvalue().removesuffix("\n").split("\n"))


@dataclass(frozen=True)
class FigureTable:
    """Names to the left, folded where there is little room, and columns of figures to the right.

    `least` letters of a name stay together however narrow the terminal is.
    """

    heading: str
    headings: Sequence[str]
    rows: Sequence[NamedRow]
    least: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What Rich prints: a blank line, the headings, a rule, the rows, a blank line."""
        from rich.cells import cell_len, chop_cells, set_cell_size
        from rich.segment import Segment

        widths = [cell_width([row.cells[at] for row in self.rows], text) for at, text in enumerate(self.headings)]
        longest = max(cell_len(name) for name in [self.heading, *(row.name for row in self.rows)])
        room = options.max_width - 1 - sum(widths)
        width = min(longest, max(room, self.least))
        yield from self._lines([""])
        heads = "".join(text.rjust(own) for text, own in zip(self.headings, widths, strict=True))
        yield from self._lines([f" {set_cell_size(self.heading, width)}{heads}"], console, "bold")
        yield from self._lines([" " + "─" * (width + sum(widths))])
        for row in self.rows:
            first, *more = chop_cells(row.name, width) or [""]
            yield Segment(f" {set_cell_size(first, width)}", console.get_style(row.style or "none"))
            for cell, own in zip(row.cells, widths, strict=True):
                yield Segment(" " * (own - sum(len(text) for text, _ in cell)))
                for text, style in cell:
                    yield Segment(text, console.get_style(f"{row.style} {style}".strip() or "none"))
            yield Segment.line()
            yield from self._lines([f" {part}" for part in more], console, row.style)
        yield from self._lines([""])

    @staticmethod
    def _lines(texts: Sequence[str], console: Console | None = None, style: str = "") -> Iterator[Segment]:
        from rich.segment import Segment

        for text in texts:
            yield Segment(text, console.get_style(style or "none") if console else None)
            yield Segment.line()


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
