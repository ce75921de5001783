"""`surefoot stability`: how far measures, and the choices made by them, hold when scores, queries or times change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.arguments import LARGEST_COUNT, LARGEST_SEED, MOST_DRAWS, integer, parse_numbers
from surefoot.cli.bar import with_bar
from surefoot.cli.help_screen import HelpfulCommand, helpful_group
from surefoot.cli.outputs import JSON, Output, check_outputs
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.printing import deliver, file_or_none, printing_of, show
from surefoot.cli.runs import input_files, read_judged_runs
from surefoot.cli.shared_options import Force, JsonOrTerminal, JudgedRuns, Quiet, TrafficFile
from surefoot.errors import ArgumentError
from surefoot.report.signatures import PAGE
from surefoot.stability.options import (
    MEASURES,
    MOST_QUERIES_LISTED,
    NOISE_SIZES,
    PERIOD,
    PERIOD_SIZE,
    REPEATS,
    REPLICATES,
    SUBSET_SIZES,
    SUBSETS,
)
from surefoot.stability.signatures import STUDY_CSV

if TYPE_CHECKING:
    from surefoot.data.types.runs import Qrels, Run
    from surefoot.data.types.scores import Scores
    from surefoot.stability.study import Study

stability = helpful_group(
    "stability", "Show which measures, and choices by them, stay the same if scores change a little (rNDCG, SoftNDCG)."
)

_Measures = Annotated[
    list[str] | None,
    typer.Option("-m", "--measure", help="A measure. You can repeat this option.", show_default=", ".join(MEASURES)),
]
_CsvFile = Annotated[
    str | None, typer.Option("--csv", help="Write the figures to a file, or - for the terminal.", show_default=False)
]
_Html = Annotated[Path | None, typer.Option("--html", help="Write a page with the charts.", show_default=False)]
_Seed = Annotated[int, typer.Option(help="The random seed.", min=0, max=LARGEST_SEED)]
_Subsets = Annotated[int, typer.Option(help="Number of random subsets.", min=1, max=MOST_DRAWS)]


@stability.command(cls=HelpfulCommand)
@with_bar
def noise(
    files: JudgedRuns,
    measure: _Measures = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="The sizes of the noise: standard deviations on the percentile scale of the scores.",
            show_default=f"from {NOISE_SIZES[0]:g} to {NOISE_SIZES[-1]:g}",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Number of seeds for each size.", min=1, max=MOST_DRAWS)] = REPEATS,
    query: Annotated[
        str | None,
        typer.Option(help="The query to follow in detail.", show_default="the query that changes most"),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Add the noise to the scores, not to their percentiles.")] = False,
    seed: _Seed = 0,
    traffic: TrafficFile = None,
    json_file: JsonOrTerminal = None,
    csv_file: _CsvFile = None,
    html: _Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Show the mean and the spread of each measure while more and more noise is added to the scores.

    **Example:** `surefoot stability noise qrels.txt new.run.gz --sizes 0,0.05,0.1 --html noise.html`
    """
    _check_outputs(_with_traffic(files, traffic), json_file, csv_file, html, force)
    from surefoot.stability.noise_study import noise as noise_study

    qrels, runs = _read_runs(files, 1)
    study = noise_study(
        qrels, runs, _measure_names(measure), sizes=_sizes(sizes), repeats=repeats, seed=seed,
        normalize="none" if raw else "percentile", query=query,
        traffic=traffic,
    )  # fmt: skip
    _deliver(study, _with_traffic(files, traffic), json_file, csv_file, html, quiet)


@stability.command(cls=HelpfulCommand)
@with_bar
def subsets(
    files: JudgedRuns,
    measure: _Measures = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="The sizes K of the subsets.", show_default=f"{','.join(map(str, SUBSET_SIZES[:4]))},… up to all"
        ),
    ] = None,
    subsets: _Subsets = SUBSETS,
    seed: _Seed = 0,
    traffic: TrafficFile = None,
    json_file: JsonOrTerminal = None,
    csv_file: _CsvFile = None,
    html: _Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Show which of two systems each measure chooses on random subsets of K queries.

    **Example:** `surefoot stability subsets qrels.txt f1.run f2.run --sizes 10,50,200`
    """
    _check_outputs(_with_traffic(files, traffic), json_file, csv_file, html, force)
    from surefoot.stability.picks import subsets as subset_study

    numbers = _sizes(sizes)
    whole_sizes = (
        None
        if numbers is None
        else [integer("--sizes", int(size) if size.is_integer() else size, 1) for size in numbers]
    )
    _deliver(
        subset_study(_score_runs(files, measure, 2, traffic), sizes=whole_sizes, subsets=subsets, seed=seed),
        _with_traffic(files, traffic),
        json_file,
        csv_file,
        html,
        quiet,
    )


@stability.command(cls=HelpfulCommand)
@with_bar
def time(
    files: JudgedRuns,
    dates: Annotated[
        Path | None,
        typer.Option(help='A file with a query and a date on each line, such as "301 2026-11-15".', show_default=False),
    ] = None,
    measure: _Measures = None,
    period: Annotated[str, typer.Option(help="The period: day, week or month.")] = PERIOD,
    size: Annotated[int, typer.Option(help="Number of queries in a subset.", min=1, max=LARGEST_COUNT)] = PERIOD_SIZE,
    subsets: _Subsets = SUBSETS,
    seed: _Seed = 0,
    traffic: TrafficFile = None,
    json_file: JsonOrTerminal = None,
    csv_file: _CsvFile = None,
    html: _Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Show which of two systems each measure chooses in each period of time.

    **Example:** `surefoot stability time qrels.txt f1.run f2.run --dates dates.txt --size 50`
    """
    inputs = _with_traffic(files if dates is None else [*files, str(dates)], traffic)
    _check_outputs(inputs, json_file, csv_file, html, force)
    from surefoot.data.reading.dates import read_dates
    from surefoot.stability.picks import time as time_study

    if dates is None:
        raise ArgumentError(
            "the queries have no dates; give a file with a query and a date on each line (such as '301 2026-11-15') "
            "with --dates"
        )
    known = read_dates(dates)
    scores = _score_runs(files, measure, 2, traffic)
    _deliver(
        time_study(scores, known, period=period, size=size, subsets=subsets, seed=seed),
        inputs,
        json_file,
        csv_file,
        html,
        quiet,
    )


@stability.command(cls=HelpfulCommand)
@with_bar
def measures(
    files: JudgedRuns,
    measure: _Measures = None,
    replicates: Annotated[
        int, typer.Option(help="Number of resamples of the queries.", min=2, max=MOST_DRAWS)
    ] = REPLICATES,
    most: Annotated[
        int,
        typer.Option(help="Number of queries to list if two measures disagree.", min=0, max=LARGEST_COUNT),
    ] = MOST_QUERIES_LISTED,
    seed: _Seed = 0,
    traffic: TrafficFile = None,
    json_file: JsonOrTerminal = None,
    csv_file: _CsvFile = None,
    html: _Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Rank systems by each measure, with confidence, and show where the measures disagree.

    **Example:** `surefoot stability measures qrels.txt f1.run f2.run f3.run`
    """
    _check_outputs(_with_traffic(files, traffic), json_file, csv_file, html, force)
    from surefoot.stability.ranking_functions import measures as compare_functions

    scores = _score_runs(files, measure, 2, traffic)
    study = compare_functions(scores, replicates=replicates, most=most, seed=seed)
    _deliver(study, _with_traffic(files, traffic), json_file, csv_file, html, quiet)


def _with_traffic(files: list[str], traffic: str | None) -> list[str]:
    """All files that are read."""
    return files if traffic is None else [*files, traffic]


def _check_outputs(
    files: list[str], json_file: str | None, csv_file: str | None, html: Path | None, force: bool
) -> None:
    printing_of({"json": json_file, "csv": csv_file})
    outputs = [
        Output("--json", file_or_none(json_file), JSON),
        Output("--csv", file_or_none(csv_file), STUDY_CSV),
        Output("--html", html, PAGE),
    ]
    check_outputs(outputs, input_files(files), force)


def _read_runs(files: list[str], least: int) -> tuple[Qrels, list[Run]]:
    if len(files) < 1 + least:
        raise ArgumentError(
            f"judgments and at least {'one run' if least == 1 else f'{least} runs'} are required: QRELS RUN...; "
            "see --help"
        )
    return read_judged_runs(files)


def _score_runs(files: list[str], measures: list[str] | None, least: int, traffic: str | None = None) -> list[Scores]:
    from surefoot.measures.scoring import score

    names = _measure_names(measures)
    return score(*_read_runs(files, least), names, traffic=traffic)


def _measure_names(names: list[str] | None) -> list[str]:
    from surefoot.measures.notation import Measure

    return [str(Measure.parse(measure)) for measure in names or MEASURES]


def _sizes(text: str | None) -> list[float] | None:
    return None if text is None else parse_numbers(text, "--sizes", example="10,50,200")


def _deliver(
    study: Study, inputs: list[str], json_file: str | None, csv_file: str | None, html: Path | None, quiet: bool
) -> None:
    from surefoot.stability.text import tables

    files = {"html": html, "json": file_or_none(json_file), "csv": file_or_none(csv_file)}
    options = {"html": {"provenance": page_provenance(html, input_files(inputs))}}
    printing = printing_of({"json": json_file, "csv": csv_file})
    deliver(study, files, lambda: show(tables(study.to_dict())), printing, quiet, options)
