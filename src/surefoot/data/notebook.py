"""What a notebook shows of an object: a headline, a few tiles and one table, as a piece of HTML that stands alone.

Its style holds for the piece only, it has no script and loads nothing, and whatever is in it stays text. The colours
are those of the pages; a test holds them to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Literal

from surefoot.errors import visible, without_middle

SHOWN_ROWS = 10  # of a table of data
_NAME, _TEXT, _NOTE = 80, 1_000, 500  # letters of a cell, of a sentence and of a note
_COLUMNS, _NOTES = 20, 10

Tone = Literal["", "helped", "hurt"]
Look = Literal["", "helped", "hurt", "baseline"]


@dataclass(frozen=True)
class NotebookTable:
    """The first rows of a table, and how many more there are; its first `left` columns are names.

    `looks` says of each row whether it is good or bad news, which colours the cell in `coloured_column`, or of a
    baseline.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    left: int = 1
    more: str = ""
    looks: Sequence[Look] = ()
    coloured_column: int | None = None


@dataclass(frozen=True)
class NotebookView:
    """All that a notebook shows of an object; `kind` says what it is, and stands above the headline."""

    kind: str
    headline: str
    tiles: Sequence[tuple[str, str]]
    table: NotebookTable | None = None
    tone: Tone = ""
    cautions: Sequence[str] = ()
    lead: Sequence[str] = ()
    notes: Sequence[str] = ()

    def to_html(self) -> str:
        """The piece of HTML.

        >>> print(NotebookView("Run", "<b>", [("Queries", "2")]).to_html().partition("</style>")[2])
        <p class="kind"><bdi>Run</bdi></p>
        <p class="headline" data-tone=""><bdi>&lt;b&gt;</bdi></p>
        <dl class="tiles"><div><dt><bdi>Queries</bdi></dt><dd><bdi>2</bdi></dd></div></dl>
        </div>
        """
        parts = [
            f'<div class="surefoot"><style>{_style()}</style>{_paragraph("kind", self.kind)}',
            f'<p class="headline" data-tone="{self.tone}">{_text(self.headline)}</p>',
            *(_paragraph("caution", caution) for caution in self.cautions),
            *(_paragraph("lead", sentence) for sentence in self.lead),
        ]
        if self.tiles:
            tiles = (f"<div><dt>{_name(label)}</dt><dd>{_name(value)}</dd></div>" for label, value in self.tiles)
            parts.append(f'<dl class="tiles">{"".join(tiles)}</dl>')
        if self.table is not None:
            parts.append(_table(self.table))
        if self.notes:
            notes = "".join(f"<li>{_escaped(note, _NOTE)}</li>" for note in self.notes[:_NOTES])
            parts.append(f"<details><summary>How to read it</summary><ul>{notes}</ul></details>")
        return "\n".join([*parts, "</div>"])


def more_rows(count: int, shown: int = SHOWN_ROWS, what: str = "") -> str:
    """The line below a table of which so many rows are shown; nothing where all are.

    >>> more_rows(1_210), more_rows(12, 10, "systems"), more_rows(3)
    ('… 1,200 more', '… 2 more systems', '')
    """
    return f"… {count - shown:,} more {what}".rstrip() if count > shown else ""


@cache
def _style() -> str:
    return files("surefoot.data").joinpath("assets/notebook.css").read_text(encoding="utf-8")


def _escaped(text: str, most: int) -> str:
    return f"<bdi>{escape(without_middle(visible(text), most))}</bdi>"


def _name(text: str) -> str:
    return _escaped(text, _NAME)


def _text(text: str) -> str:
    return _escaped(text, _TEXT)


def _paragraph(kind: str, text: str) -> str:
    return f'<p class="{kind}">{_text(text)}</p>'


def _table(table: NotebookTable) -> str:
    def classes(column: int) -> str:
        words = ["left"] * (column < table.left) + ["coloured"] * (column == table.coloured_column)
        return f' class="{" ".join(words)}"' if words else ""

    def row(number: int, cells: Sequence[str]) -> str:
        look = table.looks[number] if table.looks else ""
        first = f'<th scope="row"{classes(0)}>{_name(cells[0])}</th>'
        rest = (f"<td{classes(column)}>{_name(cell)}</td>" for column, cell in enumerate(cells) if column)
        return f"<tr{f' data-look={chr(34)}{look}{chr(34)}' if look else ''}>{first}{''.join(rest)}</tr>"

    heads = (f'<th scope="col"{classes(column)}>{_name(heading)}</th>' for column, heading in enumerate(table.headings))
    return "\n".join(
        [
            '<div class="scroll"><table>',
            *([f"<caption>{_text(table.caption)}</caption>"] if table.caption else []),
            f"<thead><tr>{''.join([*heads][:_COLUMNS])}</tr></thead><tbody>",
            *(row(number, cells[:_COLUMNS]) for number, cells in enumerate(table.rows)),
            "</tbody></table></div>",
            *([_paragraph("more", table.more)] if table.more else []),
        ]
    )
