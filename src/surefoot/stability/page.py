"""Studies of stability as one self-contained page, with charts and all figures, and as a notebook shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from surefoot.data.notebook import NotebookTable, NotebookView, more_rows
from surefoot.errors import ArgumentError, visible
from surefoot.report.family import family_page
from surefoot.report.line_chart import AxisMark, ChartLine, line_chart
from surefoot.report.numbers import fixed
from surefoot.report.provenance import Provenance
from surefoot.risk.assessment_data import Json
from surefoot.stability.front import SURE_RATE, front, headline
from surefoot.stability.study_data import kind
from surefoot.stability.text import figures, findings, functions_table, title


def to_page(studies: Sequence[Json], provenance: Provenance | None = None) -> str:
    """The page of one study or several, from their plain data; the first has the headline."""
    if not studies:
        raise ArgumentError("a page needs at least one study")
    sections: list[Json] = [
        {
            "title": visible(title(data)),
            "conclusion": headline(data),
            "findings": [visible(line) for line in findings(data)],
            "charts": _CHARTS[kind(data)](data),
            "tables": _functions_tables(data) if kind(data) == "functions" else [_figures_table(data)],
        }
        for data in studies
    ]
    return family_page(
        "surefoot.stability/assets/page.html.j2",
        front(studies[0]),
        provenance,
        page_kind="stability",
        title=sections[0]["title"],
        css=["surefoot.stability/assets/study.css"],
        sections=sections,
    )


def _figures_table(data: Json) -> Json:
    """All figures of a study, as its CSV has them, with digits to read."""
    headings, rows = figures(data)
    return {"title": "All figures", "headings": headings, "rows": [[_cell(value) for value in row] for row in rows]}


class Cell(NamedTuple):
    """A cell's text, whether it is a figure, and the number itself where that has more digits."""

    text: str
    is_figure: bool = False
    value: str | None = None


def _cell(value: Any) -> Cell:
    if isinstance(value, str):
        return Cell(visible(value))
    return Cell(f"{value:,}" if isinstance(value, int) else fixed(value, 4), True, repr(value))


def _noise_charts(data: Json) -> list[Json]:
    charts = []
    for system in data["systems"]:
        by_measure = system["measures"]
        name = visible(system["system"])
        means = [
            ChartLine(
                measure,
                one["mean"],
                [m - d for m, d in zip(one["mean"], one["deviation"], strict=True)],
                [m + d for m, d in zip(one["mean"], one["deviation"], strict=True)],
            )
            for measure, one in by_measure.items()
        ]
        charts += [
            {
                "title": f"{name}: mean as noise grows",
                "caption": f"Mean over {data['repeats']} seeds, and one standard deviation around it",
                "drawing": line_chart(
                    data["sizes"], means, label=f"Means of {name} by size of noise", x_label="size of noise",
                    y_label="mean",
                ),
            },
            {
                "title": f"{name}: spread as noise grows",
                "caption": "Standard deviation of the mean over the seeds; lower is steadier",
                "drawing": line_chart(
                    data["sizes"], [ChartLine(measure, one["deviation"]) for measure, one in by_measure.items()],
                    label=f"Spread of {name} by size of noise", x_label="size of noise", y_label="deviation",
                    from_zero=True,
                ),
            },
        ]  # fmt: skip
    trace = data["trace"]
    charts.append(
        {
            "title": f"Query {visible(trace['query'])} under one growing noise",
            "caption": f"The same noise, scaled up; {visible(trace['system'])}",
            "drawing": line_chart(
                trace["sizes"], [ChartLine(measure, values) for measure, values in trace["values"].items()],
                label="One query under growing noise", x_label="size of noise", y_label="value", dots=False,
            ),
        }
    )  # fmt: skip
    return charts


def _subsets_charts(data: Json) -> list[Json]:
    return [
        _picks_chart(data, data["sizes"], key, x_label="queries in a subset", logarithmic=True)
        for key in ("rate", "variance")
    ]


def _time_charts(data: Json) -> list[Json]:
    names = [period["period"] for period in data["periods"]]
    places = list(range(len(names)))
    return [_picks_chart(data, places, key, x_label=data["period"], x_names=names) for key in ("rate", "variance")]


def _picks_chart(
    data: Json,
    x: Sequence[float],
    key: str,
    x_label: str,
    x_names: Sequence[str] | None = None,
    logarithmic: bool = False,
) -> Json:
    words = {
        "rate": ("How often the winner is picked", "Share of subsets; higher is more consistent"),
        "variance": ("Variance of one pick", "rate · (1 − rate); lower is more consistent"),
    }
    lines = [ChartLine(measure, picks[key]) for measure, picks in data["results"].items()]
    drawing = line_chart(
        x, lines, label=words[key][0], x_label=x_label, y_label=key, x_names=x_names, logarithmic=logarithmic,
        from_zero=key == "variance", y_marks=[AxisMark(SURE_RATE, f"sure: {SURE_RATE:g}")] if key == "rate" else [],
    )  # fmt: skip
    return {"title": words[key][0], "caption": words[key][1], "drawing": drawing}


def _functions_tables(data: Json) -> list[Json]:
    headings, rows = functions_table(data)
    tables: list[Json] = [
        {
            "title": "Functions by each measure",
            "headings": headings,
            "rows": [[Cell(visible(cell), place in (1, 3, 5)) for place, cell in enumerate(row)] for row in rows],
        }
    ]
    for pair in data["disagreements"]:
        if not pair["queries"]:
            continue
        one, two = map(visible, pair["systems"])
        first, other = visible(pair["against"]), visible(pair["measure"])
        tables.append(
            {
                "title": f"Queries on which {first} and {other} disagree most about {one} and {two}",
                "headings": ["query", f"{first}: {one}", two, f"{other}: {one}", two],
                "rows": [
                    [_cell(item["query"]), *map(_cell, (*item["by_first"], *item["by_other"]))]
                    for item in pair["queries"]
                ],
            }
        )
    return tables


_CHARTS: dict[str, Callable[[Json], list[Json]]] = {
    "noise": _noise_charts,
    "subsets": _subsets_charts,
    "time": _time_charts,
    "functions": lambda data: [],
}


_ROWS, _FINDINGS = 20, 4


def to_notebook(data: Json) -> str:
    """The view of a study's plain data."""
    headings, rows, left = _table(data)
    table = NotebookTable(headings, rows[:_ROWS], left=left, more=more_rows(len(rows), _ROWS))
    found = findings(data)
    tiles = [
        ("Queries", f"{data['queries']:,}"),
        ("Systems", f"{len(data['systems']):,}"),
        ("Measures", f"{len(data['measures']):,}"),
    ]
    view = NotebookView(
        f"Study of {kind(data)}", title(data), tiles, table, lead=found[:_FINDINGS], notes=found[_FINDINGS:]
    )
    return view.to_html()


def _table(data: Json) -> tuple[list[str], list[list[str]], int]:
    """Headings and rows, and how many of the first columns are names."""
    if kind(data) == "functions":
        headings, rows = functions_table(data)
        order = [2, 0, 1, 3, 4, 5]  # the system first
        return [headings[column] for column in order], [[row[column] for column in order] for row in rows], 2
    if kind(data) == "noise":
        rows = [
            [system["system"], f"{size:g}"]
            + [
                f"{measure['mean'][size_number]:.4f} ± {measure['deviation'][size_number]:.4f}"
                for measure in system["measures"].values()
            ]
            for system in data["systems"]
            for size_number, size in enumerate(data["sizes"])
        ]
        return ["system", "noise", *data["measures"]], rows, 1
    by_time = kind(data) == "time"
    heads = [period["period"] for period in data["periods"]] if by_time else [f"{size:,}" for size in data["sizes"]]
    picks = [data["results"][measure] for measure in data["measures"]]
    rows = [[head, *(f"{pick['rate'][row_number]:.3f}" for pick in picks)] for row_number, head in enumerate(heads)]
    first = data["period"] if by_time else "queries"
    return [first, *(f"winner picked, {measure}" for measure in data["measures"])], rows, 1
