"""A history in words: for a terminal, in Markdown and as CSV."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from surefoot.errors import visible, without_middle
from surefoot.report.escapes import csv_text, markdown
from surefoot.report.numbers import fixed, measure_title, signed
from surefoot.report.tables import markdown_table, rendered, terminal_table
from surefoot.risk.assessment_data import Json

if TYPE_CHECKING:
    from rich.console import RenderableType

_LONGEST = 60  # letters of a name
_MOST = 10  # hurt queries that a terminal shows
SIGNS = {"ship": "▲", "stop": "▼", "undecided": "●"}
_NONE = "–"
CSV_HEADER = (
    "date", "kind", "file", "measure", "baseline", "candidate", "decision", "queries", "gain", "risk", "losses",
    "loss_over_20", "alpha", "u_risk",
)  # fmt: skip


class HistoryTable(NamedTuple):
    """A table: its title, headings, rows of texts, and how many of its first columns are texts."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    left: int


def shown(text: str) -> str:
    """A name, without its middle where it is long."""
    return without_middle(visible(text), _LONGEST)


def day(date: str) -> str:
    """A date without its time of day."""
    return date[:10]


def gain_text(gain: float | None) -> str:
    """A gain, or a dash where it is not known."""
    return _NONE if gain is None else signed(gain, 4)


def counted(number: int, what: str) -> str:
    """A number of things, as in `1 release` and `2 releases`."""
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number:,} {what if number == 1 else plural}"


def headline(data: Json) -> str:
    """What happened, in one sentence."""
    releases, hurt = data["releases"], data["hurt_repeatedly"]
    decided = Counter(one["decision"] for one in releases if one["decision"] is not None)
    first, last = day(releases[0]["date"]), day(releases[-1]["date"])
    when = f"on {first}" if first == last else f"from {first} to {last}"
    if decided:
        shares = [f"{key} {decided[key]:,}" for key in SIGNS if decided[key]]
        what = f"{counted(decided.total(), 'decision')} {when}: {', '.join(shares)}"
    else:
        what = f"{counted(len({one['file'] for one in releases}), 'assessment')} {when}"
    if data["comparisons"] < 2:
        return f"{what}."
    repeatedly = len({one["query"] for one in hurt})
    if not repeatedly:
        return f"{what}. No query was hurt twice."
    most = hurt[0]["hurt"]
    often = len({one["query"] for one in hurt if one["hurt"] == most})
    more = f", {often:,} of them {most:,} times" if most > 2 else ""
    return f"{what}. {counted(repeatedly, 'query')} {'was' if repeatedly == 1 else 'were'} hurt at least twice{more}."


def cautions(data: Json) -> list[str]:
    """What could mislead, where something could."""
    found = []
    if data["date_from"] == "modified":
        found.append(
            "Dates are the times at which the files were last changed. A copy or a checkout changes them: write dates "
            "into the names, as in 2026-11-15-gate.json."
        )
    if any(series["same_queries"] is False for series in data["series"]):
        found.append("Not all releases were judged on the same queries, so their figures can be compared only roughly.")
    return found


def notes(data: Json) -> list[str]:
    """What else to know."""
    found = []
    if data["without_queries"]:
        found.append(
            f"{counted(data['without_queries'], 'comparison')} of {len(data['releases']):,} have no figures of each "
            "query, or no single baseline, and do not count for hurt queries (surefoot evaluate --per-query --json "
            "FILE writes them)."
        )
    if data["left_out"]:
        files = [f"{shown(one['file'])} {shown(one['reason'])}" for one in data["left_out"][:5]]
        more = f"; and {len(data['left_out']) - 5:,} more" if len(data["left_out"]) > 5 else ""
        found.append(f"Left out: {'; '.join(files)}{more}.")
    return found


def series_title(series: Json) -> str:
    """What the releases of a series have in common."""
    what = "Decisions" if series["kind"] == "decision" else "Assessments"
    system = "" if series["system"] is None else f" of {shown(series['system'])}"
    traffic = ", by traffic" if series["by_traffic"] else ""
    return f"{what}{system}: {measure_title(series['measure'])} against {shown(series['baseline'])}{traffic}"


def series_table(data: Json, series: Json) -> HistoryTable:
    """The releases of one series."""
    rows = [data["releases"][place] for place in series["releases"]]
    decided = series["kind"] == "decision"
    alphas = sorted({alpha for row in rows for alpha in row["u_risk"]}, key=float)
    headings = ["date", "candidate", *(["decision"] if decided else []), "gain", "risk"]
    headings += [f"U_Risk α = {alpha}" for alpha in alphas] + ["queries", "hurt", "hurt >20%", "file"]
    cells = [
        [
            row["date"].replace("T", " "), shown(row["candidate"]), *([row["decision"]] if decided else []),
            gain_text(row["gain"]), fixed(row["risk"], 4),
            *(signed(row["u_risk"][alpha], 4) if alpha in row["u_risk"] else _NONE for alpha in alphas),
            f"{row['queries']:,}", f"{row['losses']:,g}", f"{row['loss_over_20']:,g}", shown(row["file"]),
        ]
        for row in rows
    ]  # fmt: skip
    return HistoryTable(series_title(series), headings, cells, 3 if decided else 2)


def hurt_table(data: Json, most: int | None = None) -> HistoryTable:
    """The queries that were hurt repeatedly, the most often hurt first."""
    hurt = data["hurt_repeatedly"]
    several = len({(one["measure"], one["baseline"]) for one in hurt}) > 1
    has_text = any(one["text"] for one in hurt)
    headings = ["query", *(["text"] if has_text else []), *(["by"] if several else [])]
    left = len(headings)
    headings += ["hurt", "of", "hurt, ship", "hurt >20%", "mean difference", "worst", "last hurt"]
    rows = [
        [
            shown(one["query"]), *([shown(one["text"] or "")] if has_text else []),
            *([f"{measure_title(one['measure'])} against {shown(one['baseline'])}"] if several else []),
            f"{one['hurt']:,}", f"{one['compared']:,}", f"{one['hurt_shipped']:,}", f"{one['loss_over_20']:,}",
            signed(one["mean_difference"], 4),
            signed(one["worst_difference"], 4), day(one["last_hurt"]),
        ]
        for one in hurt[:most]
    ]  # fmt: skip
    more = f" (the first {most} of {len(hurt):,})" if most is not None and len(hurt) > most else ""
    return HistoryTable(f"Queries that were hurt at least twice{more}", headings, rows, left)


def tables(data: Json) -> list[RenderableType]:
    """What a terminal shows."""
    from rich.text import Text

    parts: list[RenderableType] = [Text(visible(headline(data)), style="bold"), Text("")]
    found = [series_table(data, series) for series in data["series"]]
    if data["hurt_repeatedly"]:
        found.append(hurt_table(data, _MOST))
    for table in found:
        parts += [Text(visible(table.title), style="bold"), terminal_table(table.headings, table.rows, table.left)]
    parts += [Text(visible(note), style="dim") for note in [*cautions(data), *notes(data)]]
    return parts


def to_text(data: Json, width: int = 120) -> str:
    """The history without colour."""
    return rendered(tables(data), width)


def to_markdown(data: Json) -> str:
    """The history in Markdown."""
    parts = [f"### {markdown(headline(data))}"]
    found = [series_table(data, series) for series in data["series"]]
    for table in [*found, *([hurt_table(data)] if data["hurt_repeatedly"] else [])]:
        parts += [
            f"#### {markdown(table.title)}",
            markdown_table([markdown(one) for one in table.headings], table.rows),
        ]
    parts += [markdown(note) for note in [*cautions(data), *notes(data)]]
    return "\n\n".join(parts) + "\n"


def to_csv(data: Json) -> str:
    """One line for each release, and for each α that it has."""
    rows = [
        [*(row[name] for name in CSV_HEADER[:-2]), alpha, value]
        for row in data["releases"]
        for alpha, value in (row["u_risk"] or {"": ""}).items()
    ]
    return csv_text(CSV_HEADER, rows)
