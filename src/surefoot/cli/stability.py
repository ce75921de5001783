"""`surefoot stability`: how far measures, and the choices made by them, hold when scores, queries or times change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from surefoot.arguments import LARGEST_COUNT, MOST_DRAWS, integer, parse_numbers
from surefoot.cli.bar import with_bar
from surefoot.cli.help_screen import HelpfulCommand, helpful_group
from surefoot.cli.option import FILE, LIST, NAME, option
from surefoot.cli.outputs import check_outputs
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.printing import Delivery, show
from surefoot.cli.runs import input_files, measure_names, read_judged_runs
from surefoot.cli.shared_options import (
    Csv,
    Force,
    Html,
    JsonPath,
    JudgedRuns,
    Quiet,
    Seed,
    TrafficFile,
    with_common_options,
)
from surefoot.cli.signatures import STUDY_CSV
from surefoot.errors import ArgumentError
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

if TYPE_CHECKING:
    from surefoot.data.types.runs import Qrels, Run
    from surefoot.data.types.scores import Scores
    from surefoot.stability.study import Study

stability = helpful_group("stability", "Show which measures, and choices by them, are stable.")

_Measures = Annotated[
    list[str] | None, option("-m --measure", "Repeatable.", NAME, shown=", ".join(MEASURES[:2]) + ", …")
]
_Subsets = Annotated[int, option("--subsets", "Random subsets.", min=1, max=MOST_DRAWS)]


@stability.command(cls=HelpfulCommand)
@with_common_options
@with_bar
def noise(
    files: JudgedRuns,
    measure: _Measures = None,
    sizes: Annotated[
        str | None,
        option("--sizes", "Standard deviations.", LIST, shown=f"{NOISE_SIZES[0]:g} to {NOISE_SIZES[-1]:g}"),
    ] = None,
    seeds: Annotated[int, option("--seeds", "Seeds for each size.", min=1, max=MOST_DRAWS)] = REPEATS,
    query: Annotated[str | None, option("--query", "To follow.", NAME, shown="what changes most")] = None,
    raw: Annotated[bool, option("--raw", "Noise on scores, not on their percentiles.")] = False,
    seed: Seed = 0,
    traffic: TrafficFile = None,
    json_file: JsonPath = None,
    csv_file: Csv = None,
    html: Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Show the mean and the spread of each measure while more and more noise is added to the scores.

    **Example:** `surefoot stability noise qrels.txt new.run.gz --sizes 0,0.05,0.1 --html noise.html`
    """
    inputs = _with_traffic(files, traffic)
    delivery = _delivery(inputs, json_file, csv_file, html, force)
    from surefoot.stability.noise_study import noise as noise_study

    qrels, runs = _read_runs(files, 1)
    study = noise_study(
        qrels, runs, _measure_names(measure), sizes=_sizes(sizes), repeats=seeds, seed=seed,
        normalize="none" if raw else "percentile", query=query,
        traffic=traffic,
    )  # fmt: skip
    _finish(delivery, study, inputs, html, quiet)


@stability.command(cls=HelpfulCommand)
@with_common_options
@with_bar
def subsets(
    files: JudgedRuns,
    measure: _Measures = None,
    sizes: Annotated[
        str | None,
        option("--sizes", "Queries in a subset.", LIST, shown=f"{','.join(map(str, SUBSET_SIZES[:3]))},…"),
    ] = None,
    subsets: _Subsets = SUBSETS,
    seed: Seed = 0,
    traffic: TrafficFile = None,
    json_file: JsonPath = None,
    csv_file: Csv = None,
    html: Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Show which of two systems each measure chooses on random subsets of K queries.

    **Example:** `surefoot stability subsets qrels.txt f1.run f2.run --sizes 10,50,200`
    """
    inputs = _with_traffic(files, traffic)
    delivery = _delivery(inputs, json_file, csv_file, html, force)
    from surefoot.stability.picks import subsets as subset_study

    numbers = _sizes(sizes)
    whole_sizes = (
        None
        if numbers is None
        else [integer("--sizes", int(size) if size.is_integer() else size, 1) for size in numbers]
    )
    study = subset_study(_score_runs(files, measure, 2, traffic), sizes=whole_sizes, subsets=subsets, seed=seed)
    _finish(delivery, study, inputs, html, quiet)


@stability.command(cls=HelpfulCommand)
@with_common_options
@with_bar
def time(
    files: JudgedRuns,
    dates: Annotated[Path | None, option("--dates", "Lines of a query and a date: 301 2026-11-15.", FILE)] = None,
    measure: _Measures = None,
    period: Annotated[str, option("--period", "day, week or month.", "WORD")] = PERIOD,
    size: Annotated[int, option("--size", "Queries in a subset.", min=1, max=LARGEST_COUNT)] = PERIOD_SIZE,
    subsets: _Subsets = SUBSETS,
    seed: Seed = 0,
    traffic: TrafficFile = None,
    json_file: JsonPath = None,
    csv_file: Csv = None,
    html: Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Show which of two systems each measure chooses in each period of time.

    **Example:** `surefoot stability time qrels.txt f1.run f2.run --dates dates.txt --size 50`
    """
    inputs = _with_traffic(files if dates is None else [*files, str(dates)], traffic)
    delivery = _delivery(inputs, json_file, csv_file, html, force)
    from surefoot.data.reading.query_tables import read_dates
    from surefoot.stability.picks import time as time_study

    if dates is None:
        raise ArgumentError(
            "the queries have no dates; give a file with a query and a date on each line (such as '301 2026-11-15') "
            "with --dates"
        )
    known = read_dates(dates)
    scores = _score_runs(files, measure, 2, traffic)
    study = time_study(scores, known, period=period, size=size, subsets=subsets, seed=seed)
    _finish(delivery, study, inputs, html, quiet)


@stability.command(cls=HelpfulCommand)
@with_common_options
@with_bar
def measures(
    files: JudgedRuns,
    measure: _Measures = None,
    bootstrap: Annotated[int, option("--bootstrap", "Resamples.", min=2, max=MOST_DRAWS)] = REPLICATES,
    most: Annotated[int, option("--most", "Disagreements to list.", min=0, max=LARGEST_COUNT)] = MOST_QUERIES_LISTED,
    seed: Seed = 0,
    traffic: TrafficFile = None,
    json_file: JsonPath = None,
    csv_file: Csv = None,
    html: Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Rank systems by each measure, with confidence, and show where the measures disagree.

    **Example:** `surefoot stability measures qrels.txt f1.run f2.run f3.run`
    """
    inputs = _with_traffic(files, traffic)
    delivery = _delivery(inputs, json_file, csv_file, html, force)
    from surefoot.stability.ranking_functions import measures as compare_functions

    scores = _score_runs(files, measure, 2, traffic)
    study = compare_functions(scores, replicates=bootstrap, most=most, seed=seed)
    _finish(delivery, study, inputs, html, quiet)


def _with_traffic(files: list[str], traffic: str | None) -> list[str]:
    """All files that are read."""
    return files if traffic is None else [*files, traffic]


def _delivery(files: list[str], json_file: str | None, csv_file: str | None, html: str | None, force: bool) -> Delivery:
    delivery = Delivery(json=json_file, csv=csv_file, html=html)
    check_outputs(delivery.outputs(csv=STUDY_CSV), input_files(files), force)
    return delivery


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

    return [str(Measure.parse(measure)) for measure in measure_names(names or []) or MEASURES]


def _sizes(text: str | None) -> list[float] | None:
    return None if text is None else parse_numbers(text, "--sizes", example="10,50,200")


def _finish(delivery: Delivery, study: Study, inputs: list[str], html: str | None, quiet: bool) -> None:
    from surefoot.stability.text import tables

    page = {"provenance": page_provenance(html, input_files(inputs))}
    delivery.finish(study, lambda: show(tables(study.to_dict())), quiet, html=page)
