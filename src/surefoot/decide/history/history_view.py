"""A history as people see it: in a terminal, in Markdown, as CSV and as a page.

The page has risk and gain by date, what was shipped, and which queries were hurt repeatedly.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from surefoot.errors import visible, without_middle
from surefoot.report.escapes import csv_text, markdown
from surefoot.report.family import Chip, ChipKind, Front, Tile, family_page
from surefoot.report.line_chart import ChartLine, line_chart
from surefoot.report.numbers import fixed, measure_title, signed
from surefoot.report.provenance import Provenance
from surefoot.report.tables import markdown_table, terminal_table
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


_FOLDER = "surefoot.decide.history/assets"
_KINDS: dict[str, ChipKind] = {"ship": "ship", "stop": "keep", "undecided": "wait"}
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOST_ON_PAGE = 200  # hurt queries that the page lists


def front(data: Json) -> Front:
    """What a reader sees first."""
    return Front(_whole_dates(headline(data)), _chip(data), " ".join(cautions(data)) or None, _tiles(data))


def _whole_dates(text: str) -> str:
    """The text with dates in which no line breaks."""
    return _DATE.sub(lambda date: date[0].replace("-", "\u2011"), text)


def _chip(data: Json) -> Chip:
    last = next((one for one in reversed(data["releases"]) if one["decision"] is not None), None)
    if last is None:
        return Chip("No decisions", "neutral")
    return Chip(f"Last: {last['decision']}, {shown(last['candidate'])}", _KINDS[last["decision"]])


def _tiles(data: Json) -> list[Tile]:
    decided = Counter(one["decision"] for one in data["releases"] if one["decision"] is not None)
    last = next((one for one in reversed(data["releases"]) if one["decision"] is not None), data["releases"][-1])
    against = _whole_dates(f"{shown(last['candidate'])}, {measure_title(last['measure'])}, {day(last['date'])}")
    tiles = []
    if decided:
        others = f"stop {decided['stop']:,}, undecided {decided['undecided']:,}"
        tiles.append(Tile("Decided to ship", f"{decided['ship']:,} of {decided.total():,}", others))
    else:
        tiles.append(Tile("Assessments", f"{len({one['file'] for one in data['releases']}):,}", "no decisions"))
    tiles += [
        Tile("Last gain", gain_text(last["gain"]), against),
        Tile("Last risk", fixed(last["risk"], 4), against),
        Tile("Hurt by it", f"{last['losses']:,g}", f"of {last['queries']:,} queries"),
    ]
    if data["comparisons"] > 1:
        hurt = data["hurt_repeatedly"]
        most = max((one["hurt"] for one in hurt), default=0)
        note = f"the most often: {most} times" if hurt else f"in {counted(data['comparisons'], 'comparison')}"
        tiles.append(Tile("Queries hurt at least twice", f"{len({one['query'] for one in hurt}):,}", note))
    return tiles


def to_page(data: Json, provenance: Provenance | None = None) -> str:
    """The page of a history's plain data."""
    sections = [
        {
            "title": visible(series_title(series)),
            "chart": _chart(data, series),
            "rows": _visible(series_table(data, series)),
            "signs": series["kind"] == "decision",
        }
        for series in data["series"]
    ]
    return family_page(
        f"{_FOLDER}/history.html.j2",
        front(data),
        provenance,
        page_kind="releases over time",
        title=f"Releases over time: {headline(data)}",
        sections=sections,
        hurt=_visible(hurt_table(data, _MOST_ON_PAGE)) if data["hurt_repeatedly"] else None,
        compared=data["comparisons"],
        notes=[visible(note) for note in notes(data)],
    )


def _visible(table: HistoryTable) -> HistoryTable:
    return HistoryTable(
        visible(table.title), [visible(one) for one in table.headings], [list(map(visible, row)) for row in table.rows],
        table.left,
    )  # fmt: skip


def _chart(data: Json, series: Json) -> Markup | None:
    """Gain and risk by date; None of one release, which makes no line."""
    rows = [data["releases"][place] for place in series["releases"]]
    if len(rows) < 2:
        return None
    gains = [row["gain"] for row in rows if row["gain"] is not None]
    return line_chart(
        [_days(row["date"]) for row in rows],
        [
            ChartLine("risk", [row["risk"] for row in rows]),
            *([ChartLine("gain", gains)] if len(gains) == len(rows) else []),
        ],
        label=f"Gain and risk by date. {series_title(series)}",
        x_label="date",
        y_label=measure_title(series["measure"]),
        x_names=[f"{day(row['date'])} {SIGNS.get(row['decision'], '')}".strip() for row in rows],
        from_zero=True,
    )


def _days(date: str) -> float:
    """A date as a number of days, with the time of day as a fraction."""
    moment = datetime.datetime.fromisoformat(date.removesuffix("Z"))
    return moment.toordinal() + (moment.hour + moment.minute / 60) / 24
