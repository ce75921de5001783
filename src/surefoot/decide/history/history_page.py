"""A history as a page: risk and gain by date, what was shipped, and which queries were hurt repeatedly."""

from __future__ import annotations

import datetime
import re
from collections import Counter

from markupsafe import Markup

from surefoot.decide.history.history_text import (
    SIGNS,
    HistoryTable,
    cautions,
    counted,
    day,
    gain_text,
    headline,
    hurt_table,
    notes,
    series_table,
    series_title,
    shown,
)
from surefoot.errors import visible
from surefoot.report.family import Chip, ChipKind, Front, Tile, family_page
from surefoot.report.line_chart import ChartLine, line_chart
from surefoot.report.numbers import fixed, measure_title
from surefoot.report.provenance import Provenance
from surefoot.risk.assessment_data import Json

_FOLDER = "surefoot.decide.history/assets"
_KINDS: dict[str, ChipKind] = {"ship": "ship", "stop": "keep", "undecided": "wait"}
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOST = 200  # hurt queries that the page lists


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
        hurt=_visible(hurt_table(data, _MOST)) if data["hurt_repeatedly"] else None,
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
