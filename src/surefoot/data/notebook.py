"""What a notebook shows of an object: a headline, a few tiles and one table, as a piece of HTML that stands alone.

Its style holds for the piece only, it has no script and loads nothing, and whatever is in it stays text. The colours
are those of the pages; a test holds them to it. Runs, judgments, scores and labelled documents show how much there is,
and their first rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import visible, without_middle

if TYPE_CHECKING:
    from surefoot.data.types.ranking_data import RankingData
    from surefoot.data.types.runs import Qrels, RankedTable, Run
    from surefoot.data.types.scores import Scores

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


_SYSTEMS, _FEATURES, _LEVELS = 25, 6, 5  # systems that are shown, features, and grades that have a tile each


def run_view(run: Run) -> NotebookView:
    """A run's name, size and first results."""
    lengths = run.ranking.lengths
    tiles = [("Queries", f"{len(run.queries):,}"), ("Results", f"{len(run):,}")]
    if len(lengths):
        tiles.append(("Results of a query", _span(int(lengths.min()), int(lengths.max()))))
    return NotebookView("Run", run.name, tiles, _first_rows(run, "score"))


def qrels_view(qrels: Qrels) -> NotebookView:
    """How many documents were judged, of how many queries, and with which grades."""
    tiles = [("Queries", f"{len(qrels.queries):,}"), ("Judged", f"{len(qrels):,}"), *_levels(qrels.grades, "Grade")]
    return NotebookView("Judgments", qrels.name, tiles, _first_rows(qrels, "grade"))


def scores_view(scores: Scores) -> NotebookView:
    """The measure, the size, and each system's mean, the best first."""
    means, values = scores.mean(), scores.values
    best = np.argsort(-means, kind="stable")[:_SYSTEMS].tolist()
    rows = [
        [
            scores.systems[row], *(_score(value) for value in (means[row], values[row].min(), values[row].max())),
            f"{scores.missing.get(scores.systems[row], 0):,}",
        ]
        for row in best
    ]  # fmt: skip
    headings = ["system", "mean", "lowest", "highest", "queries lacked"]
    tiles = [
        ("Systems", f"{len(scores.systems):,}"),
        ("Queries", f"{len(scores.queries):,}"),
        ("Best mean", _score(means.max())),
    ]
    lead = [f"{scores.dropped:,} judged queries that a system lacks are left out."] if scores.dropped else []
    if scores._relative_weights is not None:
        lead.append("Means are weighted by traffic.")
    size = f"{len(scores.systems):,} systems × {len(scores.queries):,} queries"
    table = NotebookTable(headings, rows, more=more_rows(len(means), _SYSTEMS, "systems"))
    return NotebookView("Scores", f"{scores.measure}: {size}", tiles, table, lead=lead)


def ranking_data_view(data: RankingData) -> NotebookView:
    """Size, labels and baselines, and the first documents with their first features."""
    tiles = [
        ("Queries", f"{len(data.queries):,}"),
        ("Documents", f"{len(data):,}"),
        ("Features", f"{data.n_features:,}"),
        *_levels(data.y, "Label"),
    ]
    count = min(SHOWN_ROWS, len(data))
    features = min(_FEATURES, data.n_features)
    names = data.feature_names or [f"feature {number}" for number in range(1, data.n_features + 1)]
    baselines = list(data.baselines)[:_FEATURES]
    queries = np.searchsorted(data.offsets, np.arange(count), side="right") - 1
    rows = [
        [
            data.queries[int(queries[row])],
            str(row + 1) if data.doc_ids is None else str(data.doc_ids[row]),
            f"{data.y[row]:g}",
            *(_number(float(data.baselines[name][row])) for name in baselines),
            *(_number(float(value)) for value in data.X[row, :features]),
        ]
        for row in range(count)
    ]
    document = "row" if data.doc_ids is None else "document"
    headings = ["query", document, "label", *baselines, *names[:features]]
    hidden = data.n_features - features
    caption = f"The first {features} of {data.n_features:,} features" if hidden else ""
    known = f"Baselines: {', '.join(data.baselines)}" if data.baselines else "No baseline yet; with_baseline adds one"
    size = f"{len(data):,} labelled documents of {len(data.queries):,} queries"
    table = NotebookTable(headings, rows, caption, left=2, more=more_rows(len(data), what="documents"))
    return NotebookView("Ranking data", size, tiles, table, lead=[f"{known}."])


def _first_rows(table: RankedTable, number: str) -> NotebookTable:
    count = min(SHOWN_ROWS, len(table))
    positions = np.arange(count)
    ranking = table.ranking
    documents = table.documents(positions).to_list() if count else []
    queries, ranks = ranking.query_at(positions), ranking.rank_at(positions) if count else positions
    rows = [
        [table.queries[int(query)], document, str(rank), _number(value, 6)]
        for query, document, rank, value in zip(queries, documents, ranks, ranking.scores[:count], strict=True)
    ]
    return NotebookTable(["query", "document", "rank", number], rows, left=2, more=more_rows(len(table)))


def _levels(values: Floats, what: str) -> list[tuple[str, str]]:
    """How often each grade or label occurs, the lowest first; where there are many, how far they reach."""
    levels, counts = np.unique(values, return_counts=True)
    if len(levels) > _LEVELS:
        return [(f"{what}s", f"{levels[0]:g} to {levels[-1]:g}")]
    return [(f"{what} {level:g}", f"{count:,}") for level, count in zip(levels, counts, strict=True)]


def _number(value: float, digits: int = 4) -> str:
    """A number with at most so many digits, and a true minus sign."""
    return "–" if np.isnan(value) else f"{value:.{digits}g}".replace("-", "−")


def _score(value: float) -> str:
    """A score with four digits after the point, where it is of a usual size."""
    return f"{value:.4f}".replace("-", "−") if abs(value) < 1e6 else _number(value)


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
