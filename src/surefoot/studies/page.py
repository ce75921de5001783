"""Studies of stability as one self-contained page: charts drawn here, no script, no network."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from surefoot.errors import ArgumentError, visible
from surefoot.report.html import render_page
from surefoot.report.line_chart import Line, line_chart
from surefoot.risk.plain_data import Json
from surefoot.studies.study_data import kind
from surefoot.studies.text import findings, functions_table, title


def to_page(studies: Sequence[Json]) -> str:
    """The page of one study or several, from their plain data; what is in it is escaped and runs nothing."""
    if not studies:
        raise ArgumentError("a page needs at least one study")
    sections = [
        {
            "title": visible(title(data)),
            "findings": [visible(line) for line in findings(data)],
            "charts": _CHARTS[kind(data)](data),
            "tables": _functions_tables(data) if kind(data) == "functions" else [],
        }
        for data in studies
    ]
    heading = sections[0]["title"] if len(sections) == 1 else "How far rankings, and the choices between them, hold"
    return render_page(
        "surefoot.studies/assets/page.html.j2", ["surefoot.report/assets/charts.css"], title=heading, sections=sections
    )


def _noise_charts(data: Json) -> list[Json]:
    charts = []
    for system in data["systems"]:
        by_measure = system["measures"]
        name = visible(system["system"])
        means = [
            Line(
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
                    data["sizes"], [Line(measure, one["deviation"]) for measure, one in by_measure.items()],
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
                trace["sizes"], [Line(measure, values) for measure, values in trace["values"].items()],
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
    lines = [Line(measure, picks[key]) for measure, picks in data["results"].items()]
    drawing = line_chart(
        x, lines, label=words[key][0], x_label=x_label, y_label=key, x_names=x_names, logarithmic=logarithmic,
        from_zero=key == "variance",
    )  # fmt: skip
    return {"title": words[key][0], "caption": words[key][1], "drawing": drawing}


def _functions_tables(data: Json) -> list[Json]:
    headings, rows = functions_table(data)
    tables: list[Json] = [
        {
            "title": "Functions by each measure",
            "headings": headings,
            "rows": [[visible(cell) for cell in row] for row in rows],
        }
    ]
    for pair in data["disagreements"]:
        if not pair["queries"]:
            continue
        one, two = map(visible, pair["systems"])
        first, other = visible(pair["against"]), visible(pair["measure"])
        tables.append(
            {
                "title": f"Queries on which {first} and {other} part furthest over {one} and {two}",
                "headings": ["query", f"{first}: {one}", two, f"{other}: {one}", two],
                "rows": [
                    [visible(item["query"]), *(f"{value:.4f}" for value in (*item["by_first"], *item["by_other"]))]
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
