"""The study as text: the paper's Table 2 for a terminal, in Markdown, LaTeX and notebooks; all figures as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from surefoot.choose.recommendation import CHOICES
from surefoot.data.notebook import NotebookTable, NotebookView, more_rows
from surefoot.errors import visible
from surefoot.learn.measured_queries import EVALUATION_PARTS
from surefoot.personal.options import METHOD_TITLES
from surefoot.personal.recommendation import recommendation
from surefoot.report.escapes import csv_text, latex, markdown
from surefoot.report.metrics import decision_metrics, flat_metrics
from surefoot.report.numbers import fixed, measure_note, measure_title, percent, signed
from surefoot.report.tables import latex_table, markdown_table, terminal_table
from surefoot.risk.assessment_data import Json
from surefoot.significance import CONFIDENCE_PERCENT, SIGNIFICANCE

if TYPE_CHECKING:
    from rich.console import RenderableType

_TYPICAL_POSITION = 5  # that the sentence on position bias speaks of, or the last that is known
_NAMES = {"AP": "MAP", "RR": "MRR"}  # what the mean of a measure is called
_ROWS = 20


def measure_name(data: Json) -> str:
    """The measure as the paper heads its columns."""
    measure = str(data["measure"])
    return _NAMES.get(measure, measure_title(measure))


def headings(data: Json) -> list[str]:
    """The columns of the paper's Table 2."""
    name = measure_name(data)
    return [
        "method", "parameter", name, "Δ", "Δ/R", "% re-ranked", "% risk", "% gain", "K-τ", "K-τ|R",
    ]  # fmt: skip


def cells(row: Json, part: str = "test") -> list[str]:
    """A row's texts; measures are in hundredths, as in the paper, and * marks a significant change."""
    figures = row[part]
    star = "*" if figures.get("p") is not None and figures["p"] < SIGNIFICANCE else ""
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


def table_rows(data: Json) -> list[Json]:
    """The rows of the paper's Table 2, each model once."""
    return [row for row, _ in distinct_rows(data["chosen"])]


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
        recommendation(data).note(data["recommendation"].get("label", ""), "the test lists"),
        *repeated_rows(data),
        "Measures and shares are in hundredths. Δ is the change against the shown order. R is the share of lists whose "
        "order changed. “% risk” and “% gain” are "
        "relative to the standard model. K-τ is Kendall's τ with the shown order, over all lists; K-τ|R is the same "
        "over the lists that changed.",
        f"* differs from the shown order (p < {SIGNIFICANCE:g} by a paired test corrected for skewness, after Holm "
        "over all models).",
        f"Models were trained on {lists['train']:,} lists and chosen on {lists['valid']:,} lists, split by "
        f"{data['split']}. The chosen model has the largest area under the curve of gain against the share of "
        "re-ranked lists. “Lowest click plus one” was chosen by the largest gain. Random mixing, “least risk at equal "
        "gain” and “most gain at equal re-ranking” are matched to the weighted model with the larger area. Lists "
        "without a satisfied click are not judged.",
        "“By regression” means: trained by least squares on each result's share of nDCG. All other models are trained "
        "by LambdaMART.",
        *filter(None, [measure_note(data["measure"]), bias_note(data)]),
    ]
    left = {**counts["rejected"], **counts["set_aside"]}
    reasons = [
        f"{number:,} {'line or click' if number == 1 else 'lines or clicks'} ({reason})"
        for reason, number in left.items()
    ]
    if counts["repeated"]:
        reasons.append(f"{counts['repeated']:,} lines that repeat another")
    lines.append(
        f"Of the log, {counts['lists']:,} lists and {counts['clicks']:,} clicks were used"
        + (f"; left out: {', '.join(reasons)}." if reasons else "; nothing was left out.")
    )
    return lines


def bias_note(data: Json) -> str:
    """What the log says of position bias, under its condition."""
    bias = data["position_bias"]
    if bias["reason"] is not None:
        return f"Position bias cannot be estimated from this log: {bias['reason']}."
    position = min(_TYPICAL_POSITION, len(bias["p"]))
    p, low, high = (percent(bias[key][position - 1]) for key in ("p", "low", "high"))
    refuted = "Position alone does not explain this. " if bias["position_alone_refuted"] else ""
    return (
        f"Position bias {'is present' if bias['status'] == 'present' else 'was not found'}: if looking depends on "
        f"position alone, a result at position {position} was looked at {p} as often as the first "
        f"({CONFIDENCE_PERCENT} interval: {low} to {high}). surefoot shows this and does not use it. {refuted}Where "
        "the order depends on the user, as in the log of a personal ranker, this estimate is wrong and the data cannot "
        "show it."
    )


def repeated_rows(data: Json) -> list[str]:
    """Which rows are left out because they repeat another, if any are."""
    repeated = [
        f"“{label}” is {row['label']}" + (f", {row['parameters']}" if row["parameters"] else "")
        for row, also in distinct_rows(data["chosen"])
        for label in also
    ]
    return [f"Each model is listed once: {'; '.join(repeated)}."] if repeated else []


def segment_tables(data: Json) -> list[tuple[str, list[str], list[list[str]]]]:
    """For each column of segments: its name, headings, and what each method does in each segment."""
    rows = [row for row in table_rows(data) if "segments" in row]
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

    recommended = recommendation(data)
    parts: list[RenderableType] = [Text(visible(recommended.headline), style="bold")]
    parts += [*map(Text, recommended.cautions), Text(""), Text(visible(title(data))), Text("")]
    parts.append(terminal_table(headings(data), [cells(row) for row in table_rows(data)], left=2))
    for column, heads, body in segment_tables(data):
        parts += [Text(visible(f"By {column}"), style="bold"), terminal_table(heads, body)]
    return [*parts, *(Text(visible(note), style="dim") for note in notes(data))]


def to_markdown(data: Json) -> str:
    """The table on test lists."""
    recommended = recommendation(data)
    parts = [f"**{markdown(recommended.headline)}**", *map(markdown, recommended.cautions), markdown(title(data))]
    parts.append(markdown_table([markdown(one) for one in headings(data)], [cells(row) for row in table_rows(data)]))
    for column, heads, body in segment_tables(data):
        parts += [f"By {markdown(column)}", markdown_table([markdown(heading) for heading in heads], body)]
    parts.append("\n".join(f"- {markdown(note)}" for note in notes(data)))
    return "\n\n".join(parts) + "\n"


def to_latex(data: Json) -> str:
    """A booktabs table of the test lists."""
    heads = [latex(one).replace("τ", r"$\tau$").replace("Δ", r"$\Delta$") for one in headings(data)]
    return latex_table(title(data), heads, [cells(row) for row in table_rows(data)])


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
        for part in EVALUATION_PARTS
    ]
    return csv_text(["model", "method", "beta", "alpha", "chosen_as", "part", *keys], lines)


def full_label(row: Json, label: str | None = None) -> str:
    """A row's label, or another one of its model, that needs no other row before it.

    >>> full_label({"method": "risk", "label": "… least risk at equal gain"})
    'Risk-sensitive: least risk at equal gain'
    """
    label = row["label"] if label is None else label
    return f"{METHOD_TITLES.get(row['method'], row['method'])}: {label[2:]}" if label.startswith("… ") else label


def distinct_rows(rows: Sequence[Json]) -> list[tuple[Json, list[str]]]:
    """Each model once, with the labels of its other rows: two rules may choose one model.

    >>> rows = [{"name": "a", "label": "A"}, {"name": "b", "label": "B"}, {"name": "a", "label": "… again"}]
    >>> [(row["label"], also) for row, also in distinct_rows(rows)]
    [('A', ['… again']), ('B', [])]
    """
    others: dict[str, list[str]] = {}
    first: dict[str, Json] = {}
    for row in rows:
        if row["name"] in first:
            others[row["name"]].append(row["label"])
        else:
            first[row["name"]], others[row["name"]] = row, []
    return [(row, others[name]) for name, row in first.items()]


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
        "Personalization", title(data), tiles, table, lead=[recommendation(data).headline], notes=notes(data)
    ).to_html()


def to_metrics(data: Json) -> dict[str, float]:
    """Every figure of the models under a name of its own, for MLflow and DVC.

    A name is `measure/models/model/valid/figure` (or `test`); the shown order's is `measure/shown/valid`, that of the
    model to serve `measure/recommended/figure`, on test lists.
    """
    choice = data["recommendation"]
    figures = {
        "choice": decision_metrics(choice["choice"], CHOICES),
        "recommended": choice,
        "models": {row["name"]: {part: row[part] for part in EVALUATION_PARTS} for row in data["rows"]},
        "shown": data["shown"],
        "lists": data["lists"],
    }
    return flat_metrics({data["measure"]: figures})
