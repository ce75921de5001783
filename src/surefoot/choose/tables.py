"""A sweep's result as text: a terminal's table, and the papers' tables in Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot.choose.worker import SHOWN
from surefoot.errors import visible
from surefoot.report.columns import fixed
from surefoot.report.escapes import LETTER, csv_text, latex, markdown
from surefoot.report.text import rendered
from surefoot.risk.plain_data import Json
from surefoot.significance import LEVEL

if TYPE_CHECKING:
    from rich.console import RenderableType

_LABELS = {"valid": "validation", "test": "test"}


@dataclass(frozen=True)
class Column:
    """A figure of a row under `valid` or `test`: how it is called and written."""

    heading: str
    of: Callable[[Json], float | None]
    digits: int | None = 4
    latex: str | None = None

    def text(self, figures: Json) -> str:
        """The figure as tables show it."""
        value = self.of(figures)
        if value is None:
            return "–"
        return fixed(value, self.digits) if self.digits is not None else f"{value:.1%}"


def columns(data: Json) -> list[Column]:
    """The papers' columns: effectiveness, both parts of the trade-off, both kinds of ratio, who is hurt."""
    found = [
        Column(_short(measure), lambda row, measure=measure: row["measures"][measure])  # type: ignore[misc]
        for measure in data["measures"]
    ]
    found += [
        Column("reward", lambda row: row["reward"]),
        Column("risk", lambda row: row["risk"]),
        Column("reward/risk", lambda row: row["reward_over_risk"], 2),
        Column("wins", lambda row: row["wins"], 0),
        Column("losses", lambda row: row["losses"], 0),
        Column("W/L", lambda row: row["wins_over_losses"], 2),
        Column(">20%", lambda row: row["loss_over_20"], 0),
    ]
    if len(data["baselines"]) > 1 and data["alphas"]:
        key = f"{data['alphas'][-1]:g}"
        found.append(Column(f"GeoRisk α={key}", lambda row: row["geo_risk"][key]))
    found.append(Column("re-ranked", lambda row: row.get("share_reranked"), None))
    return found


def marks(figures: Json) -> str:
    """* where a row differs significantly from the baseline, † from the gain-only model."""
    found = [mark for key, mark in (("p_baseline", "*"), ("p_gain", "†")) if (figures.get(key) or 1.0) < LEVEL]
    return "".join(found)


MARKS = (
    f"Figures are means over seeds. * differs from the baseline, † from the gain-only model (p < {LEVEL:g} by a paired "
    "test corrected for skewness, after Holm)."
)


def title(data: Json) -> str:
    """What was compared, on how much."""
    seeds, folds = len(data["seeds"]), len(data["folds"])
    return (
        f"{len(data['rows'])} candidates against {visible(data['baselines'][0]['name'])}: {data['measure']} on "
        f"{data['queries']['test']:,} test queries, {folds} fold{'s' * (folds != 1)}, {seeds} seed{'s' * (seeds != 1)}"
    )


def notes(data: Json) -> list[str]:
    """How to read the tables, and what is not in them."""
    found = [data["rule"], MARKS, f"Ties go by {data['tie_rule']}."]
    if data["last_alpha"] is not None:
        found.append(
            f"On training data the gain-only model has gain/risk {data['last_alpha']:.1f}: beyond that α, a coin flip "
            "between it and the baseline does as well."
        )
    if data["left_out"]:
        found.append(f"Left out, as not trained on every fold: {', '.join(data['left_out'])}.")
    return found


def tables(data: Json, part: str = "test") -> list[RenderableType]:
    """What a terminal shows."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    wanted = columns(data)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("candidate", overflow="fold")
    for column in wanted:
        table.add_column(column.heading, justify="right")
    for row in [*data["baselines"], *data["rows"]]:
        table.add_row(Text(visible(row["name"]) + marks(row[part])), *(_cell(column, row[part]) for column in wanted))
    parts: list[RenderableType] = [Text(title(data), style="bold"), Text(""), table]
    for answer in data["answers"]:
        parts += [Text(answer["question"], style="bold"), Text(answer["answer"])]
    return [*parts, *(Text(visible(note), style="dim") for note in notes(data))]


def _cell(column: Column, figures: Json) -> str:
    try:
        return column.text(figures)
    except KeyError:  # a baseline has no risk against itself
        return ""


def to_text(data: Json, width: int = 120) -> str:
    """The table and the answers without colour."""
    return rendered(tables(data), width)


def to_csv(data: Json) -> str:
    """One line per candidate and part of the data."""
    keys = (
        "mean", "gain", "reward", "risk", "reward_over_risk", "wins", "losses", "ties", "wins_over_losses",
        "loss_over_20", "worst_mean", "share_reranked", "area", "p_baseline", "p_gain",
    )  # fmt: skip
    alphas = [f"{alpha:g}" for alpha in data["alphas"]]
    header = ["candidate", "kind", "objective", "alpha", "part", *data["measures"], *keys]
    header += [f"u_risk@{alpha}" for alpha in alphas] + ["trees_to_95"]
    lines = [
        [
            row["name"], row["kind"], row["objective"], row["alpha"], part, *row[part]["measures"].values(),
            *(row[part].get(key) for key in keys), *(row[part]["u_risk"][alpha] for alpha in alphas),
            row["convergence"]["trees"] if "convergence" in row else None,
        ]
        for row in data["rows"]
        for part in SHOWN
    ]  # fmt: skip
    return csv_text(header, lines)


def to_markdown(data: Json) -> str:
    """The table on test data, the one on validation data, and the answers."""
    wanted = columns(data)
    parts = [f"**{markdown(title(data))}**"]
    for part in reversed(SHOWN):
        lines = [
            "| candidate | " + " | ".join(markdown(column.heading) for column in wanted) + " |",
            "|:---|" + "---:|" * len(wanted),
        ]
        for row in [*data["baselines"], *data["rows"]]:
            cells = [markdown(row["name"] + marks(row[part])), *(_cell(column, row[part]) for column in wanted)]
            lines.append("| " + " | ".join(cells) + " |")
        parts += [f"On {_LABELS[part]} data", "\n".join(lines)]
    parts += [f"**{markdown(answer['question'])}** {markdown(answer['answer'])}" for answer in data["answers"]]
    parts.append("\n".join(f"- {markdown(note)}" for note in notes(data)))
    return "\n\n".join(parts) + "\n"


def to_latex(data: Json) -> str:
    """A booktabs table of the test data."""
    wanted = columns(data)
    body = []
    for row in [*data["baselines"], *data["rows"]]:
        raised = marks(row["test"]).replace("*", r"$^{*}$").replace("†", r"$^{\dagger}$")
        cells = [latex(row["name"]) + raised, *(latex(_cell(column, row["test"])) for column in wanted)]
        body.append(" & ".join(cells) + r" \\")
    lines = [
        f"% {latex(title(data))}",
        r"% needs \usepackage{booktabs}",
        *([LETTER] if any(r"\surefootletter" in line for line in body) else []),
        rf"\begin{{tabular}}{{l{'r' * len(wanted)}}}",
        r"\toprule",
        " & ".join(["candidate", *(latex(column.heading) for column in wanted)]) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _short(measure: str) -> str:
    """A measure as the papers head their columns, where they have it.

    >>> _short("nDCG(dcg='exp-log2')@10"), _short("AP")
    ('NDCG@10', 'AP')
    """
    return measure.replace("nDCG(dcg='exp-log2')", "NDCG")
