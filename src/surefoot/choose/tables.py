"""A sweep's result as text: a terminal's table, the papers' tables, a notebook's view, flat metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot.choose.options import RANDOM
from surefoot.choose.recommendation import CHOICES, gain_only, gain_only_rows, recommendation
from surefoot.data.notebook import NotebookTable, NotebookView, more_rows
from surefoot.errors import visible
from surefoot.learn.measured_queries import EVALUATION_PARTS
from surefoot.report.columns import MORE_COLUMNS, SUMMARY_COLUMNS, FigureColumn
from surefoot.report.escapes import csv_text, markdown
from surefoot.report.metrics import decision_metrics, flat_metrics
from surefoot.report.notes import traffic_note
from surefoot.report.numbers import measure_note, measure_title
from surefoot.report.tables import latex_table, markdown_table, terminal_table
from surefoot.risk.assessment_data import Json
from surefoot.risk.tradeoff import alpha_key
from surefoot.significance import SIGNIFICANCE

if TYPE_CHECKING:
    from rich.console import RenderableType

_PARTS = {"test": "test", "valid": "validation"}
_KNOWN = {column.key: column for column in (*SUMMARY_COLUMNS, *MORE_COLUMNS)}
SIGNS_NOTE = (
    "Figures are means over seeds. *: differs from the baseline. †: differs from the gain-only model "
    f"(p < {SIGNIFICANCE:g} by a paired test corrected for skewness, after Holm)."
)
_ROWS, _ANSWERS = 15, 3


def columns(data: Json) -> list[FigureColumn]:
    """The papers' columns: effectiveness, both parts of the trade-off, both kinds of ratio, who is hurt."""
    figure_columns = [
        FigureColumn(measure, heading, heading, lambda row, name=measure: _untyped(row)["measures"][name])  # type: ignore[misc]
        for measure, heading in ((measure, _short_title(measure, data["measures"][0])) for measure in data["measures"])
    ]
    figure_columns += [replace(_KNOWN[key], digits=4) for key in ("reward", "risk")]
    figure_columns += [
        _KNOWN[key] for key in ("reward_over_risk", "wins", "losses", "wins_over_losses", "loss_over_20")
    ]
    weighted = is_weighted(data)
    if len(data["baselines"]) > 1 and data["alphas"] and not weighted:
        key = alpha_key(data["alphas"][-1])
        heading = f"GeoRisk α={key}"
        figure_columns.append(
            FigureColumn(
                "geo_risk", heading, heading.replace("α", r"$\alpha$"), lambda row: _untyped(row)["geo_risk"][key]
            )
        )
    figure_columns.append(
        FigureColumn("share_reranked", "re-ranked", "Re-ranked", lambda row: _untyped(row)["share_reranked"], 3)
    )
    return figure_columns


def _short_title(measure: str, leading: str) -> str:
    """A measure above its column; of the leading one's family, the cut-off alone.

    >>> _short_title("nDCG@1", "nDCG@10"), _short_title("ERR@20", "nDCG@10"), _short_title("nDCG@10", "nDCG@10")
    ('@1', 'ERR@20', 'nDCG@10')
    """
    family, at, cutoff = measure_title(measure).rpartition("@")
    same = at and measure != leading and family == measure_title(leading).rpartition("@")[0]
    return f"@{cutoff}" if same else measure_title(measure)


def is_weighted(data: Json) -> bool:
    """Whether queries count differently, by traffic."""
    return "traffic" in data and not data["traffic"]["equal"]


def _untyped(figures: Any) -> Any:
    """A sweep's figures, which are more than an assessment's."""
    return figures


def value_of(column: FigureColumn, figures: Any) -> Any:
    """A row's figure, None where it has none: a baseline has no risk against itself."""
    try:
        return column.value(figures)
    except KeyError:
        return None


def _headings(data: Json) -> list[str]:
    return ["candidate", *(column.heading for column in columns(data))]


def _cells(data: Json, part: str) -> list[list[str]]:
    """The table's texts: baselines first."""
    rows = [*data["baselines"], *data["rows"]]
    shown = [replace(column, value=lambda row, figure=column: value_of(figure, row)) for column in columns(data)]  # type: ignore[misc]
    return [
        [row["name"] + significance_signs(row[part]), *(column.text(row[part]) for column in shown)] for row in rows
    ]


def significance_signs(figures: Json) -> str:
    """* where a row differs significantly from the baseline, † from the gain-only model."""
    p_values = {mark: figures.get(key) for key, mark in (("p_baseline", "*"), ("p_gain", "†"))}
    return "".join(mark for mark, p in p_values.items() if p is not None and p < SIGNIFICANCE)


def title(data: Json) -> str:
    """What was compared, on how much."""
    seeds, folds = len(data["seeds"]), len(data["folds"])
    return (
        f"{len(data['rows'])} candidates against {visible(data['baselines'][0]['name'])}: "
        f"{measure_title(data['measure'])} on {data['queries']['test']:,} test queries"
        f"{', weighted by traffic' * is_weighted(data)}, {folds} "
        f"fold{'s' * (folds != 1)}, {seeds} seed{'s' * (seeds != 1)}"
    )


def notes(data: Json) -> list[str]:
    """How to read the tables, and what is not in them."""
    recommended = recommendation(data)
    lines = [
        recommended.note(recommended.point, "all test queries"),
        data["rule"],
        SIGNS_NOTE,
        f"Documents with equal scores are ranked by {data['tie_rule']}.",
        *filter(None, [measure_note(data["measure"])]),
    ]
    if "traffic" in data:
        lines.append(traffic_note(data["traffic"]))
        left_out = data["traffic"]["left_out"]
        lines += [f"Test queries without traffic, which are left out: {left_out:,}."] if left_out else []
    several, gain_row = gain_only_rows(data["rows"]), gain_only(data["rows"])
    if any(row["kind"] == RANDOM for row in data["rows"]):
        lines.append(
            "random: the gain-only model on a random share of the queries. It has no GeoRisk and no p-values (–)."
        )
    if gain_row is not None and len(several) > 1:
        lines.append(f"The gain-only model is {gain_row['name']}, the first of {len(several)}.")
    if data["last_alpha"] is not None:
        lines.append(
            f"On training data, the gain-only model has gain/risk {data['last_alpha']:.1f}. For a larger α, a random "
            "choice between this model and the baseline is as good."
        )
    if len(data["seeds"]) > 1 and all(
        row["test"]["deviation"] == {"mean": 0.0, "risk": 0.0} for row in data["rows"] if "deviation" in row["test"]
    ):
        lines.append(
            "Seeds change nothing here. They have an effect only with random choices, such as bagging_fraction."
        )
    failed = [f"The tuning does without {failure['name']} ({failure['message']})." for failure in data["failed_trials"]]
    lines += failed[:3]
    if data["left_out"]:
        lines.append(f"Not shown, because some folds have no model: {', '.join(data['left_out'])}.")
    return lines


def tables(data: Json, part: str = "test") -> list[RenderableType]:
    """What a terminal shows."""
    from rich.text import Text

    recommended = recommendation(data)
    parts: list[RenderableType] = [Text(recommended.headline, style="bold"), *map(Text, recommended.cautions), Text("")]
    parts += [Text(title(data)), Text("")]
    parts.append(terminal_table(_headings(data), _cells(data, part)))
    for answer in data["answers"]:
        parts += [Text(answer["question"], style="bold"), Text(answer["answer"])]
    return [*parts, *(Text(visible(note), style="dim") for note in notes(data))]


def to_csv(data: Json) -> str:
    """One line per candidate and part of the data."""
    keys = (
        "mean", "gain", "reward", "risk", "reward_over_risk", "wins", "losses", "ties", "wins_over_losses",
        "loss_over_20", "worst_mean", "share_reranked", "area", "p_baseline", "p_gain",
    )  # fmt: skip
    alphas = [alpha_key(alpha) for alpha in data["alphas"]]
    header = ["candidate", "kind", "objective", "alpha", "part", *data["measures"], *keys]
    header += [f"u_risk@{alpha}" for alpha in alphas] + ["trees_to_95"]
    lines = [
        [
            row["name"], row["kind"], row["objective"], row["alpha"], part, *row[part]["measures"].values(),
            *(row[part].get(key) for key in keys), *(row[part]["u_risk"][alpha] for alpha in alphas),
            row["convergence"]["trees"] if "convergence" in row else None,
        ]
        for row in data["rows"]
        for part in EVALUATION_PARTS
    ]  # fmt: skip
    return csv_text(header, lines)


def to_markdown(data: Json) -> str:
    """The table on test data, the one on validation data, and the answers."""
    recommended = recommendation(data)
    parts = [f"**{markdown(recommended.headline)}**", *map(markdown, recommended.cautions), markdown(title(data))]
    for part, called in _PARTS.items():
        parts += [
            f"On {called} data",
            markdown_table([markdown(heading) for heading in _headings(data)], _cells(data, part)),
        ]
    parts += [f"**{markdown(answer['question'])}** {markdown(answer['answer'])}" for answer in data["answers"]]
    parts.append("\n".join(f"- {markdown(note)}" for note in notes(data)))
    return "\n\n".join(parts) + "\n"


def to_latex(data: Json) -> str:
    """A booktabs table of the test data."""
    return latex_table(title(data), ["Candidate", *(column.latex for column in columns(data))], _cells(data, "test"))


def to_notebook(data: Json) -> str:
    """The view of a sweep's plain data, on its test queries."""
    rows = _cells(data, "test")
    table = NotebookTable(
        _headings(data), rows[:_ROWS], "On test queries; baselines first",
        more=more_rows(len(rows), _ROWS, "candidates"),
        looks=["baseline" if number < len(data["baselines"]) else "" for number in range(len(rows[:_ROWS]))],
    )  # fmt: skip
    best = max((row["test"]["mean"] for row in data["rows"]), default=None)
    tiles = [
        ("Candidates", f"{len(data['rows']):,}"),
        ("Test queries", f"{data['queries']['test']:,}"),
        ("Folds", f"{len(data['folds']):,}"),
        ("Seeds", f"{len(data['seeds']):,}"),
        *([] if best is None else [(f"Best {measure_title(data['measure'])}", f"{best:.4f}")]),
    ]
    lead = [recommendation(data).headline]
    lead += [f"{answer['question']} {answer['answer']}" for answer in data["answers"][:_ANSWERS]]
    return NotebookView("Trade-offs", title(data), tiles, table, lead=lead, notes=notes(data)).to_html()


def to_metrics(data: Json) -> dict[str, float]:
    """Every figure of a sweep's candidates under a name of its own, for MLflow and DVC.

    A name is `measure/candidates/candidate/valid/figure` (or `test`), at an α `…/u_risk/alpha_5`; a baseline's is
    `measure/baselines/baseline/valid/mean`, the recommended model's `measure/recommended/test/figure`.
    """
    choice = data["recommendation"]
    figures = {
        "choice": decision_metrics(choice["choice"], CHOICES),
        "recommended": {part: choice[part] for part in EVALUATION_PARTS if part in choice},
        "candidates": {row["name"]: {part: _part(row[part]) for part in EVALUATION_PARTS} for row in data["rows"]},
        "baselines": {row["name"]: {part: row[part] for part in EVALUATION_PARTS} for row in data["baselines"]},
        "queries": data["queries"],
    }
    return flat_metrics({data["measure"]: figures})


def _part(figures: Json) -> Json:
    """A candidate's figures on one part of the data: bins are for charts alone."""
    plain = {name: value for name, value in figures.items() if name != "bins"}
    return plain | {"u_risk": {f"alpha_{alpha}": value for alpha, value in figures["u_risk"].items()}}
