"""Studies of stability as text: a table and sentences of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from surefoot.errors import visible
from surefoot.report.columns import INTERVAL_WORDS
from surefoot.report.escapes import csv_text
from surefoot.report.numbers import fixed, percent
from surefoot.report.tables import terminal_table
from surefoot.risk.assessment_data import Json
from surefoot.stability.front import headline
from surefoot.stability.study_data import kind

if TYPE_CHECKING:
    from rich.console import RenderableType

CsvRows = tuple[list[str], list[list[Any]]]
_MOST_PAIRS = 6


def tables(data: Json) -> list[RenderableType]:
    """What a terminal shows of a study."""
    from rich.text import Text

    parts: list[RenderableType] = [
        Text(visible(title(data)), style="dim"),
        Text(headline(data), style="bold"),
        Text(""),
    ]
    parts += _TABLES[kind(data)](data)
    parts += [Text(visible(line)) for line in findings(data)]
    return parts


def to_csv(data: Json) -> str:
    """The study's figures at full precision, one row for each measure and size, period or function."""
    return csv_text(*figures(data))


def figures(data: Json) -> CsvRows:
    """Headings and rows of the study's figures."""
    return _CSV[kind(data)](data)


def title(data: Json) -> str:
    """What was studied, on how much."""
    weighted = "traffic" in data and not data["traffic"]["equal"]
    by_traffic = " weighted by traffic" if weighted else ""
    queries = f"{data['queries']:,} queries{by_traffic}"
    if kind(data) == "noise":
        runs = len(data["systems"])
        unit = "percentiles" if data["normalize"] == "percentile" else "scores"
        return f"Noise on the {unit} of {runs} run{'s' * (runs != 1)}, {queries}, {data['repeats']} seeds each"
    if kind(data) == "functions":
        return f"{len(data['systems'])} systems on {queries}, {data['replicates']:,} resamples"
    system_a, system_b = data["systems"]
    if kind(data) == "subsets":
        return (
            f"{system_a} or {system_b}? How often each measure chooses its winner, "
            f"on {data['subsets']:,} random subsets of K queries (out of {data['queries']:,}){by_traffic}"
        )
    return (
        f"{system_a} or {system_b}? How often each measure chooses its winner in {len(data['periods'])} "
        f"{data['period']}s, on {data['subsets']:,} random subsets of {data['size']} queries each{by_traffic}"
    )


def findings(data: Json) -> list[str]:
    """What the numbers say, in plain words."""
    return _FINDINGS[kind(data)](data)


def _noise_tables(data: Json) -> list[RenderableType]:
    rows = []
    for system in data["systems"]:
        for size_number, size in enumerate(data["sizes"]):
            cells = [
                f"{spread['mean'][size_number]:.4f} ± {spread['deviation'][size_number]:.4f}"
                for spread in system["measures"].values()
            ]
            rows.append([system["system"] if size_number == 0 else "", f"{size:g}", *cells])
    return [terminal_table(["system", "noise", *data["measures"]], rows)]


def _noise_findings(data: Json) -> list[str]:
    first, *others = data["measures"]
    sentences = []
    for system in data["systems"]:
        for measure in others:
            ratio = system["measures"][measure]["deviation_over_first"]
            if ratio is None:
                continue
            more = "less" if ratio < 1 else "more"
            sentences.append(
                f"{system['system']}: {measure} spreads {percent(abs(1 - ratio))} {more} than {first} with the same "
                "noise."
            )
    trace = data["trace"]
    jumps = ", ".join(f"{measure} {jump:.4f}" for measure, jump in trace["largest_jump"].items())
    sentences.append(
        f"Query {trace['query']} of {trace['system']}, with the same noise increased in {len(trace['sizes']) - 1} "
        f"steps. The largest change in one step: {jumps}."
    )
    return sentences


def _subsets_tables(data: Json) -> list[RenderableType]:
    return _picks_tables(data, ["K"], [[f"{size:,}"] for size in data["sizes"]], left=0)


def _picks_tables(data: Json, headings: list[str], heads: list[list[str]], left: int) -> list[RenderableType]:
    """For each size or period, named by its head, how often each measure picks the winner."""
    picks = [data["results"][measure] for measure in data["measures"]]
    rows = [
        [*head, *(f"{pick['rate'][column]:.3f} ({pick['variance'][column]:.3f})" for pick in picks)]
        for column, head in enumerate(heads)
    ]
    return [terminal_table([*headings, *data["measures"]], rows, left=left), _how_to_read()]


def _how_to_read() -> RenderableType:
    from rich.text import Text

    return Text(
        "The share of subsets on which the measure chooses its overall winner. The variance of one choice is in "
        "brackets.",
        style="dim",
    )


def _picks_findings(data: Json) -> list[str]:
    sentences = [
        f"{measure}: {data['systems'][0]} {picks['means'][0]:.4f}, {data['systems'][1]} {picks['means'][1]:.4f}; "
        f"the winner on all queries is {picks['winner']}."
        for measure, picks in data["results"].items()
    ]
    sentences += _consistency(data)
    sentences += [
        f"{left['period']} has {left['queries']} queries, fewer than a subset, and is left out."
        for left in data.get("left_out", [])
    ]
    if data.get("undated"):
        sentences.append(f"{data['undated']:,} queries have no date and are left out.")
    return sentences


def _consistency(data: Json) -> list[str]:
    """At how many sizes, or in how many periods, each measure is more consistent than the first."""
    first, *others = data["measures"]
    is_listed = [size < data["queries"] for size in data["sizes"]] if "sizes" in data else [True] * len(data["periods"])
    where = "subset sizes (the full set is not counted)" if "sizes" in data else "periods"
    sentences = []
    for measure in others:
        pairs = zip(data["results"][measure]["rate"], data["results"][first]["rate"], is_listed, strict=True)
        ahead = [own_rate - first_rate for own_rate, first_rate, counts in pairs if counts]
        if ahead:
            sentences.append(
                f"{measure} chooses its winner more often than {first} at {sum(gap > 0 for gap in ahead)} of "
                f"{len(ahead)} {where}. The mean difference is {fixed(100 * sum(ahead) / len(ahead), 1)} percentage "
                "points."
            )
    return sentences


def _time_tables(data: Json) -> list[RenderableType]:
    heads = [[period["period"], f"{period['queries']:,}"] for period in data["periods"]]
    return _picks_tables(data, [data["period"], "queries"], heads, left=1)


def functions_table(data: Json) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: how each measure ranks the functions, and how surely."""
    rows = [
        [
            measure, str(function["rank"]), function["system"], f"{function['mean']:.4f}",
            "{:.4f} to {:.4f}".format(*function["interval"]), percent(function['share_best'], 1),
        ]
        for measure, ranked in data["results"].items()
        for function in ranked
    ]  # fmt: skip
    return ["measure", "rank", "system", "mean", INTERVAL_WORDS, "best in"], rows


def _functions_tables(data: Json) -> list[RenderableType]:
    headings, rows = functions_table(data)
    once = [
        [row[0] if number == 0 or rows[number - 1][0] != row[0] else "", *row[1:]] for number, row in enumerate(rows)
    ]
    return [terminal_table(headings, once, left=3)]


def _functions_findings(data: Json) -> list[str]:
    sentences: list[str] = []
    pairs = data["disagreements"]
    for pair in pairs[:_MOST_PAIRS]:
        system_a, system_b = pair["systems"]
        count = pair["queries_reversed"]
        where = (
            f"the measures disagree on {count:,} quer{'y' if count == 1 else 'ies'}"
            + (f"; most on {', '.join(item['query'] for item in pair['queries'][:5])}" if count else "")
            + f". On {pair['queries_tied_by_first_only']:,} more queries, {pair['against']} gives a tie and "
            f"{pair['measure']} does not."
        )
        if pair["reversed"]:
            sentences.append(
                f"{pair['against']} puts {system_a} before {system_b}, but {pair['measure']} puts {system_b} before "
                f"{system_a}: {where}"
            )
        else:
            sentences.append(
                f"{pair['against']} and {pair['measure']} put all systems in the same order. For the best two, "
                f"{system_a} and {system_b}, {where}"
            )
    if len(pairs) > _MOST_PAIRS:
        sentences.append(f"{len(pairs) - _MOST_PAIRS} more pairs are ordered differently; the JSON lists them all.")
    return sentences


def _noise_csv(data: Json) -> CsvRows:
    figures = ("mean", "deviation", "low", "high")
    rows = [
        [system["system"], measure, size, *(spread[figure][size_number] for figure in figures)]
        for system in data["systems"]
        for measure, spread in system["measures"].items()
        for size_number, size in enumerate(data["sizes"])
    ]
    return ["system", "measure", "noise", *figures], rows


def _subsets_csv(data: Json) -> CsvRows:
    rows = [
        [measure, size, picks["rate"][column], picks["variance"][column]]
        for measure, picks in data["results"].items()
        for column, size in enumerate(data["sizes"])
    ]
    return ["measure", "queries", "rate", "variance"], rows


def _time_csv(data: Json) -> CsvRows:
    figures = ("difference", "rate", "variance")
    rows = [
        [measure, period["period"], period["queries"], *(picks[figure][column] for figure in figures)]
        for measure, picks in data["results"].items()
        for column, period in enumerate(data["periods"])
    ]
    return ["measure", data["period"], "queries", *figures], rows


def _functions_csv(data: Json) -> CsvRows:
    rows = [
        [measure, function["rank"], function["system"], function["mean"], *function["interval"], function["share_best"]]
        for measure, ranked in data["results"].items()
        for function in ranked
    ]
    return ["measure", "rank", "system", "mean", "mean_low", "mean_high", "share_best"], rows


_CSV: dict[str, Callable[[Json], CsvRows]] = {
    "noise": _noise_csv,
    "subsets": _subsets_csv,
    "time": _time_csv,
    "functions": _functions_csv,
}
_TABLES: dict[str, Callable[[Json], list[RenderableType]]] = {
    "noise": _noise_tables,
    "subsets": _subsets_tables,
    "time": _time_tables,
    "functions": _functions_tables,
}
_FINDINGS: dict[str, Callable[[Json], list[str]]] = {
    "noise": _noise_findings,
    "subsets": _picks_findings,
    "time": _picks_findings,
    "functions": _functions_findings,
}
