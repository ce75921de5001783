"""An assessment as text: a terminal's tables, Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot.errors import visible
from surefoot.report.columns import (
    ABSENT,
    INTERVAL_WORDS,
    SUMMARY_COLUMNS,
    SYSTEM_COLUMN,
    FigureColumn,
    all_columns,
    at_alpha,
    churn_columns,
    intervals_at,
    ordinary_columns,
    ranked_at,
    segment_columns,
    segment_rows,
    summary_columns,
)
from surefoot.report.escapes import csv_name, csv_text, markdown
from surefoot.report.notes import too_few_elsewhere, traffic_weights
from surefoot.report.numbers import fixed
from surefoot.report.ordinary_tests import ordinary_caption, ordinary_heading
from surefoot.report.tables import (
    FigureTable,
    NamedRow,
    StyledTexts,
    cell_width,
    latex_table,
    markdown_table,
    rendered,
)
from surefoot.report.words import absences, advice, alpha_title, baseline_name, cautions, default_alpha, notes, title
from surefoot.risk.assessment_data import AssessmentData, SystemData
from surefoot.risk.tradeoff import alpha_key
from surefoot.significance import SIGNIFICANCE

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, ConsoleOptions, RenderableType

_NARROWEST_NAME = 14  # letters of a system's name that stay together however narrow the terminal
_SIGNS_NOTE = (
    f"Small number: rank. U low and U high: {INTERVAL_WORDS} of U_Risk. p skewness: p-value corrected for skewed "
    "losses. p robust: the same with one more query as bad as the worst. "
    f"p: p robust, corrected for the number of systems (Holm). *: p < {SIGNIFICANCE:g}"
)
_IN_PAPERS = ("mean", "risk", "losses", "loss_over_20", "u_risk", "p_holm")  # columns of the LaTeX table
_LEADING_COLUMN_ORDER = {  # columns of the one table, those that a narrow terminal has no room for last
    "mean": 0, "u_risk": 0, "risk": 1, "t_risk": 2, "p_holm": 2, "loss_over_20": 3, "losses": 4, "gain": 5,
    "traffic_losses": 5, "geo_risk": 6, "reward": 7,
}  # fmt: skip


def _leading_note(data: AssessmentData) -> str:
    tested = sum(row["alpha"][alpha_key(data["alphas"][0])]["p_holm"] is not None for row in data["systems"])
    systems = f", and {tested} systems (Holm)" if tested > 1 else ""
    return (
        ">20%: queries that lose more than 20 % of the baseline's score. Small number: rank. p: how often chance alone "
        f"gives such a difference. It allows for skewed losses{',' if systems else ' and'} one more query as bad as "
        f"the worst{systems}. *: p < {SIGNIFICANCE:g}"
    )


def tables(data: AssessmentData, rows: Sequence[SystemData]) -> list[RenderableType]:
    """What a terminal shows: the summary, a table for each α, how far rankings moved and agree, and notes."""
    from rich.text import Text

    parts = [*_outcome(data, default_alpha(data["alphas"])), Text("")]
    summary = summary_columns(data)
    explained = [
        column for column in summary if column.key in ("loss_over_20", "worst_mean") or column not in SUMMARY_COLUMNS
    ]
    parts.append(_FittedTable(rows, summary, ". ".join(_explanation(column, data) for column in explained)))
    for alpha in data["alphas"]:
        parts += [Text(""), Text(alpha_title(alpha), style="bold")]
        parts.append(_FittedTable(rows, at_alpha(alpha), _SIGNS_NOTE, significant=alpha_key(alpha)))
        parts += _bootstrap_table(data, rows, alpha)
    parts += [*_ordinary_table(data, rows), *_segment_tables(data)]
    if churn := churn_columns(data):
        depth = data["systems"][0]["churn"]["depth"]
        how = f"down to rank {depth}" if depth else "over the full lists"
        heading = f"How much the rankings differ from the baseline's ranking, {how}"
        share = "queries" if traffic_weights(data) is None else "traffic"
        caption = f"re-ranked: share of {share} whose ranking changed. τ: Kendall's τ, 1 if nothing moved"
        parts += [Text(""), Text(heading, style="bold"), _FittedTable(rows, churn, caption)]
    if len(rows) > 2:
        heading = "How well the order of the systems by each measure agrees with their order by mean (Kendall's τ)"
        parts += [Text(""), Text(heading, style="bold"), _agreement(data)]
    parts += [Text(""), *(Text(visible(note), style="dim") for note in [*notes(data), *absences(data)])]
    return parts


def overview(
    parts: Sequence[tuple[AssessmentData, Sequence[SystemData]]], alpha: float | None = None
) -> list[RenderableType]:
    """What fits a screen: by each measure the outcome, one table at its α, and what was asked for besides.

    Of the measures after the first only what is new. `alpha` is one that was assessed; by default the smallest above 0.
    """
    from rich.text import Text

    blocks: list[RenderableType] = []
    said: list[str] = []
    for number, (data, rows) in enumerate(parts):
        leading = default_alpha(data["alphas"]) if alpha is None else alpha
        blocks += [Text("")] if number else []
        blocks += _outcome(data, leading, most=1 if number else None)
        signs_note = "" if number else _leading_note(data)
        blocks.append(_FittedTable(rows, _leading_columns(data, leading), signs_note, significant=alpha_key(leading)))
        blocks += _bootstrap_table(data, rows, leading)
        blocks += [*_ordinary_table(data, rows), *_segment_tables(data)]
        here: AssessmentData = {**data, "alphas": [leading]}  # what is said of another α is said beside its table
        new = [note for note in [*notes(here), *absences(here)] if note not in said]
        said += new
        blocks += [Text(visible(" ".join(new)), style="dim")] if new else []
    return blocks


def left_out(data: AssessmentData) -> str:
    """What `tables` show beyond `overview`, in a few words.

    >>> import surefoot as sf
    >>> scores = sf.Scores([[0.5, 0.4], [0.6, 0.2]], ["a", "b"], ["1", "2"])
    >>> left_out(sf.assess(scores, "a", [0, 1, 5]).to_dict())
    'wins and ties, α = 0, α = 5, p-values and intervals'
    """
    first = default_alpha(data["alphas"])
    others = [f"α = {alpha:g}" for alpha in data["alphas"] if alpha != first]
    words = ["wins and ties", *others, "p-values and intervals"]
    if churn_columns(data):
        words.append("how much rankings differ")
    if len(data["systems"]) > 2:
        words.append("how well orders agree")
    return ", ".join(words)


def _leading_columns(data: AssessmentData, alpha: float) -> list[FigureColumn]:
    """What one table shows of the summary and of α; the least that a narrow terminal has is the mean and U_Risk."""
    columns = (column for column in [*summary_columns(data), *at_alpha(alpha)] if column.name in _LEADING_COLUMN_ORDER)
    return [replace(column, drop_order=_LEADING_COLUMN_ORDER[column.name]) for column in columns]


def _outcome(data: AssessmentData, alpha: float, most: int | None = None) -> list[RenderableType]:
    """The title, what to know first, what to do at α, in `most` paragraphs, and cautions on outcomes at other α."""
    from rich.text import Text

    parts: list[RenderableType] = [Text(visible(title(data)), style="bold")]
    parts += [Text(visible(caution), style="bold yellow") for caution in cautions(data)]
    parts += [Text(alpha_title(alpha), style="bold")]
    parts += [Text(visible(sentence)) for sentence in advice(data, alpha)[:most]]
    return [*parts, *(Text(visible(caution), style="bold yellow") for caution in too_few_elsewhere(data, alpha))]


def _bootstrap_table(data: AssessmentData, rows: Sequence[SystemData], alpha: float) -> list[RenderableType]:
    """The bootstrap's intervals at α; nothing without a bootstrap."""
    if data["bootstrap"] is None:
        return []
    caption = f"{data['bootstrap']['confidence']:.0%} intervals (bootstrap)"
    return [_FittedTable(rows, intervals_at(data, alpha), caption)]


def _ordinary_table(data: AssessmentData, rows: Sequence[SystemData]) -> list[RenderableType]:
    """The usual tests; nothing where they were not made."""
    from rich.text import Text

    if not (columns := ordinary_columns(data, shown=True)):
        return []
    compared = [row for row in rows if not row["is_baseline"]]
    heading = Text(visible(ordinary_heading(data)), style="bold")
    return [Text(""), heading, _FittedTable(compared, columns, visible(ordinary_caption(data)))]


def _explanation(column: FigureColumn, data: AssessmentData) -> str:
    meaning = column.explain(data, by_traffic=traffic_weights(data) is not None)
    return f"{column.heading}: {meaning[0].lower()}{meaning[1:]}"


def _segment_tables(data: AssessmentData) -> list[RenderableType]:
    """For each column of segments and the first systems, how each segment fares at the α looked at first."""
    from rich.text import Text

    parts: list[RenderableType] = []
    alpha = default_alpha(data["alphas"])
    for column, system, rows in segment_rows(data):
        heading = f"{system} by {column['column']}, against {baseline_name(data)}, at α = {alpha:g}"
        parts += [Text(""), Text(visible(heading), style="bold")]
        caption = "p: corrected for all segments and systems (Holm)"
        if column["unassigned"]:
            caption += f". {column['unassigned']:,} queries have no {visible(column['column'])}"
        parts.append(_FittedTable(rows, segment_columns(alpha), caption, alpha_key(alpha), name="segment"))
    return parts


class _FittedTable:
    """A table of systems that leaves out columns, rather than letters of names, where a terminal is narrow."""

    def __init__(
        self,
        rows: Sequence[SystemData],
        columns: Sequence[FigureColumn],
        caption: str,
        significant: str | None = None,
        name: str = SYSTEM_COLUMN.heading,
    ) -> None:
        self._rows = rows
        self._name = name
        self._columns = columns
        self._caption = caption
        self._cells = {column.key: [self._cell(column, row, significant) for row in rows] for column in columns}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.cells import cell_len
        from rich.text import Text

        names = [visible(row["system"]) for row in self._rows]
        least = min(max(map(cell_len, [self._name, *names])), _NARROWEST_NAME)
        visible_columns = self._fitting(options.max_width - least - 1)  # a blank at the edge
        rows = [
            NamedRow(
                names[i],
                [self._cells[column.key][i] for column in visible_columns],
                "italic" if row["is_baseline"] else "",
            )
            for i, row in enumerate(self._rows)
        ]
        yield FigureTable(self._name, [column.heading for column in visible_columns], rows, least)
        notes = [self._caption] if self._caption else []
        if hidden := [column.heading for column in self._columns if column not in visible_columns]:
            notes.append(f"Columns that did not fit: {', '.join(hidden)}")
        if notes:
            yield Text(f" {'. '.join(notes)}.", style="dim italic")

    def _fitting(self, width: int) -> list[FigureColumn]:
        """The columns there is room for, by rising `drop_order`; those of one number stay or go together."""
        chosen: list[FigureColumn] = []
        for number in sorted({column.drop_order for column in self._columns}):
            group = [column for column in self._columns if column.drop_order == number]
            needed = sum(cell_width(self._cells[column.key], column.heading) for column in group)
            if needed <= width or not chosen:
                chosen += group
                width -= needed
        return [column for column in self._columns if column in chosen]

    @staticmethod
    def _cell(column: FigureColumn, row: SystemData, significant: str | None) -> StyledTexts:
        tone = (column.tone(row) or 0.0) if column.tone else 0.0
        cell = [(visible(column.text(row)), "green" if tone > 0 else "red" if tone < 0 else "")]
        rank = column.rank(row) if column.rank else None
        if rank is not None:
            cell.append((f" {rank:>2}", "dim"))
        if significant and column.name == "t_risk":
            cell.append(("*" if row["alpha"][significant]["outcome"] in ("better", "worse") else " ", ""))
        return cell


def _agreement(data: AssessmentData) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("α")
    columns = ranked_at(0)
    for column in columns:
        table.add_column(column.heading, justify="right")
    for key, taus in data["agreement"].items():
        values = [taus[f"mean~{column.name}"] for column in columns]
        table.add_row(key, *(ABSENT if value is None else fixed(value, 3) for value in values))
    return table


def to_text(data: AssessmentData, rows: Sequence[SystemData], width: int = 120) -> str:
    """The terminal's tables without colour."""
    return rendered(tables(data, rows), width)


def to_csv(parts: Sequence[tuple[AssessmentData, Sequence[SystemData]]]) -> str:
    """One line per system, every figure at full precision, absent ones empty; of several measures, named first."""
    columns = all_columns(parts[0][0])
    header, lines = [column.key for column in columns], []
    for data, rows in parts:
        named = [data["measure"]] if len(parts) > 1 else []
        lines += [[*named, *(column.value(row) for column in columns)] for row in rows]
    return csv_text([*(["measure"] if len(parts) > 1 else []), *header], lines)


def queries_csv(frame: pl.DataFrame) -> str:
    """One line per system and query, from `Assessment.per_query`."""
    for column in ("query", "system"):
        csv_names = {name: csv_name(name) for name in frame[column].unique()}
        frame = frame.with_columns(
            frame[column].replace({name: safe for name, safe in csv_names.items() if name != safe})
        )
    return frame.write_csv()


def to_markdown(data: AssessmentData, rows: Sequence[SystemData]) -> str:
    """A Markdown table of the summary, and one for each α."""
    parts = [f"**{markdown(title(data))}**", *(f"**{markdown(caution)}**" for caution in cautions(data))]
    first = default_alpha(data["alphas"])
    parts += [f"**{alpha_title(first)}.** {markdown(' '.join(advice(data, first)))}"]
    parts += [f"**{markdown(caution)}**" for caution in too_few_elsewhere(data, first)]
    parts.append(_markdown_table(rows, [SYSTEM_COLUMN, *summary_columns(data)]))
    for alpha in data["alphas"]:
        parts += [
            alpha_title(alpha),
            _markdown_table(rows, [SYSTEM_COLUMN, *at_alpha(alpha), *intervals_at(data, alpha)]),
        ]
    if tested := ordinary_columns(data, shown=True):
        parts += [markdown(ordinary_heading(data)), _markdown_table(rows, [SYSTEM_COLUMN, *tested])]
        parts.append(ordinary_caption(data))
    for column, system, segments in segment_rows(data):
        named = replace(SYSTEM_COLUMN, heading="segment")
        parts.append(f"{markdown(system)} by {markdown(column['column'])}, at α = {first:g}")
        parts.append(_markdown_table(segments, [named, *segment_columns(first)]))
    if churn := churn_columns(data):
        parts += [
            "How much the rankings differ from the baseline's ranking",
            _markdown_table(rows, [SYSTEM_COLUMN, *churn]),
        ]
    parts.append("\n".join(f"- {markdown(note)}" for note in [*notes(data), *absences(data)]))
    return "\n\n".join(parts) + "\n"


def _markdown_table(rows: Sequence[SystemData], columns: Sequence[FigureColumn]) -> str:
    cells = [[column.text(row) for column in columns] for row in rows]
    return markdown_table([column.heading for column in columns], cells)


def to_latex(data: AssessmentData, rows: Sequence[SystemData]) -> str:
    """A booktabs table of the few columns that a paper prints: mean, risk, losses, and U_Risk with its p at each α."""
    per_alpha = [[column for column in at_alpha(alpha) if column.name in _IN_PAPERS] for alpha in data["alphas"]]
    columns = [SYSTEM_COLUMN, *(column for column in summary_columns(data) if column.key in _IN_PAPERS)]
    flat = [*columns, *(column for group in per_alpha for column in group)]
    spans = " & ".join(
        [rf"\multicolumn{{{len(columns)}}}{{l}}{{}}"]
        + [rf"\multicolumn{{2}}{{c}}{{$\alpha = {alpha:g}$}}" for alpha in data["alphas"]]
    )
    cells = [[column.text(row) for column in flat] for row in rows]
    return latex_table(title(data), [column.latex for column in flat], cells, spans)
