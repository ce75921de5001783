"""What a terminal shows; tables of many rows are drawn cell by cell: Rich's own takes milliseconds for each row."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.segment import Segment

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
