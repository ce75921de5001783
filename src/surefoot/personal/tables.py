"""The study as text: the paper's Table 2 for a terminal, in Markdown, in LaTeX, and all figures as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot.errors import visible
from surefoot.learn.held_out import EVALUATED
from surefoot.report.escapes import csv_text, latex, markdown
from surefoot.report.measure_names import measure_note, measure_title
from surefoot.report.numbers import fixed
from surefoot.report.tables import latex_table, markdown_table, terminal_table
from surefoot.report.text import rendered
from surefoot.risk.plain_data import Json
from surefoot.significance import LEVEL

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAMES = {"AP": "MAP", "RR": "MRR"}  # what the mean of a measure is called


def measure_name(data: Json) -> str:
    """The measure as the paper heads its columns."""
    measure = str(data["measure"])
    return _NAMES.get(measure, measure_title(measure))


def headings(data: Json) -> list[str]:
    """The columns of the paper's Table 2."""
    name = measure_name(data)
    return [
        "method", "parameter", name, f"Δ{name}", f"Δ{name}/R", "% re-ranked", "% risk", "% gain", "K-τ", "K-τ|R",
    ]  # fmt: skip


def cells(row: Json, part: str = "test") -> list[str]:
    """A row's texts; measures are in hundredths, as in the paper, and * marks a significant change."""
    figures = row[part]
    star = "*" if figures.get("p") is not None and figures["p"] < LEVEL else ""
    values = [
        ("mean", 2), ("gain", 3), ("gain_per_reranked", 2), ("share_reranked", 2), ("share_of_risk", 2),
        ("share_of_gain", 2), ("tau", 2), ("tau_reranked", 2),
    ]  # fmt: skip
    texts = ["–" if figures[key] is None else _hundredths(figures[key], digits) for key, digits in values]
    texts[1] += star
    return [row["label"], row["parameters"] or "–", *texts]


def _hundredths(value: float, digits: int) -> str:
    """A share or measure in hundredths.

    >>> _hundredths(0.12345, 2), _hundredths(-0.0, 2)
    ('12.35', '0.00')
    """
    return fixed(100 * value, digits)


def title(data: Json) -> str:
    """What was compared, on how much."""
    return (
        f"Personalized re-ranking of {data['lists']['test']:,} test lists: {measure_name(data)} of the shown order "
        f"{100 * data['shown']['test']:.2f}"
    )


def notes(data: Json) -> list[str]:
    """How to read the table, and what was left out."""
    counts, lists = data["counts"], data["lists"]
    lines = [
        "Measures and shares are in hundredths. R is the share of lists whose order changed; % risk and % gain are of "
        "the standard model's. K-τ is Kendall's τ with the shown order, of all lists, and |R of those that changed.",
        f"* differs from the shown order (p < {LEVEL:g} by a paired test corrected for skewness, after Holm over all "
        "models).",
        f"Models were trained on {lists['train']:,} lists and chosen on {lists['valid']:,}, split by {data['split']}: "
        "by the largest area under gain by share re-ranked; lowest click plus one by the greatest gain. Naïve mixing "
        "and the two rows below risk-sensitive training are matched with the weighted model of the larger area. Lists "
        "without a satisfied click are not judged.",
        "By regression: by least squares on each result's share of NDCG; all others by LambdaMART.",
        *filter(None, [measure_note(data["measure"])]),
    ]
    left = {**counts["rejected"], **counts["set_aside"]}
    reasons = [f"{number:,} {'that' if number == 1 else 'of which each'} {reason}" for reason, number in left.items()]
    if counts["repeated"]:
        reasons.append(f"{counts['repeated']:,} lines that repeat another")
    lines.append(
        f"Of the log, {counts['lists']:,} lists and {counts['clicks']:,} clicks were used"
        + (f"; left out: {', '.join(reasons)}." if reasons else "; nothing was left out.")
    )
    return lines


def segment_tables(data: Json) -> list[tuple[str, list[str], list[list[str]]]]:
    """For each column of segments: its name, headings, and what each method does in each segment."""
    rows = [row for row in data["chosen"] if "segments" in row]
    if not rows:
        return []
    tables_by_column = []
    for column, kinds in rows[0]["segments"].items():
        heads = ["method", *(part for kind in kinds for part in (f"{kind}: % re-ranked", f"{kind}: gain"))]
        body = []
        for row in rows:
            texts = [row["label"]]
            for figures in row["segments"][column].values():
                texts += [_hundredths(figures["share_reranked"], 2), _hundredths(figures["gain"], 3)]
            body.append(texts)
        tables_by_column.append((column, heads, body))
    return tables_by_column


def tables(data: Json) -> list[RenderableType]:
    """What a terminal shows."""
    from rich.text import Text

    parts: list[RenderableType] = [Text(visible(title(data)), style="bold"), Text("")]
    parts.append(terminal_table(headings(data), [cells(row) for row in data["chosen"]], left=2))
    for column, heads, body in segment_tables(data):
        parts += [Text(visible(f"By {column}"), style="bold"), terminal_table(heads, body)]
    return [*parts, *(Text(visible(note), style="dim") for note in notes(data))]


def to_text(data: Json, width: int = 120) -> str:
    """The table without colour."""
    return rendered(tables(data), width)


def to_markdown(data: Json) -> str:
    """The table on test lists."""
    parts = [f"**{markdown(title(data))}**"]
    parts.append(markdown_table([markdown(one) for one in headings(data)], [cells(row) for row in data["chosen"]]))
    for column, heads, body in segment_tables(data):
        parts += [f"By {markdown(column)}", markdown_table([markdown(one) for one in heads], body)]
    parts.append("\n".join(f"- {markdown(note)}" for note in notes(data)))
    return "\n\n".join(parts) + "\n"


def to_latex(data: Json) -> str:
    """A booktabs table of the test lists."""
    heads = [latex(one).replace("τ", r"$\tau$").replace("Δ", r"$\Delta$") for one in headings(data)]
    return latex_table(title(data), heads, [cells(row) for row in data["chosen"]])


def to_csv(data: Json) -> str:
    """One line per model and part of the data."""
    keys = (
        "mean", "gain", "reward", "risk", "wins", "losses", "share_reranked", "gain_per_reranked", "share_of_gain",
        "share_of_risk", "tau", "tau_reranked", "area", "p",
    )  # fmt: skip
    chosen = {row["name"]: row["label"] for row in data["chosen"]}
    lines: list[list[Any]] = [
        [row["name"], row["method"], row["beta"], row["alpha"], chosen.get(row["name"]), part]
        + [row[part].get(key) for key in keys]
        for row in data["rows"]
        for part in EVALUATED
    ]
    return csv_text(["model", "method", "beta", "alpha", "chosen_as", "part", *keys], lines)
