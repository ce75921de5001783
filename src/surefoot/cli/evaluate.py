"""`surefoot evaluate`: from runs and judgments, or a score matrix, to an assessment."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.arguments import LARGEST_COUNT, LARGEST_SEED, MOST_DRAWS, comma_separated, parse_numbers
from surefoot.cli.choices import choose_baseline
from surefoot.cli.outputs import JSON, Output, charts_folder, check_outputs
from surefoot.cli.page_provenance import LinkedPages, page_provenance
from surefoot.cli.printing import file_or_none, print_result, printing_of, show, write_files
from surefoot.cli.runs import EVALUATION_MEASURE, input_files, is_streamed, matrix_measure, read_scored
from surefoot.cli.shared_options import (
    FlatMetrics,
    Force,
    JsonOrTerminal,
    MissingQueries,
    OptionalJudgedRuns,
    Quiet,
    ScoreMatrixFile,
    TrafficFile,
)
from surefoot.errors import ArgumentError
from surefoot.report.options import ALPHAS, CHART_FORMATS, DETAILED_QUERIES, TRAFFIC
from surefoot.report.signatures import METRICS, PAGE, QUERIES_CSV, SYSTEMS_CSV

if TYPE_CHECKING:
    from surefoot.data.types.scores import Scores
    from surefoot.report.assessment import Assessment


class AssessmentFormat(StrEnum):
    """What is printed."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


def evaluate(
    files: OptionalJudgedRuns = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            help="A measure, such as ERR@20 or AP(rel=2). Repeat it for several. --scores: its name, or which.",
            show_default=EVALUATION_MEASURE,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "-b",
            "--baseline",
            help="The live system, several (A,B), or the per-query mean, median or max.",
            show_default=False,
        ),
    ] = None,
    scores: ScoreMatrixFile = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Read the --scores file (Parquet) in parts; large ones always are.",
            show_default=False,
        ),
    ] = False,
    alpha: Annotated[str, typer.Option("-a", "--alpha", help="Each loss counts 1 + α times.")] = ",".join(
        map(str, ALPHAS)
    ),
    population: Annotated[
        str | None,
        typer.Option(help="Systems for Z_Risk and GeoRisk (A,B,…).", show_default="all"),
    ] = None,
    segments: Annotated[
        list[str] | None,
        typer.Option(
            help="Segments to assess apart: CSV or Parquet, the query first; or traffic: head, torso and tail.",
            show_default=False,
        ),
    ] = None,
    traffic: TrafficFile = None,
    json_file: JsonOrTerminal = None,
    csv_file: Annotated[
        str | None,
        typer.Option("--csv", help="Write one line per system to a file, or - for the terminal.", show_default=False),
    ] = None,
    metrics: FlatMetrics = None,
    html_file: Annotated[
        str | None, typer.Option("--html", help="Write one page that shows who is hurt.", show_default=False)
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            help="Query texts for the page and --per-query: lines of id, tab, text; JSON lines; TREC topics.",
            show_default=False,
        ),
    ] = None,
    documents: Annotated[
        str | None, typer.Option(help="Document titles for the page, in the formats of --queries.", show_default=False)
    ] = None,
    title: Annotated[str | None, typer.Option(help="The page's title.", show_default=False)] = None,
    link: LinkedPages = None,
    detail: Annotated[
        int | None,
        typer.Option(
            help="How many hurt and helped queries have results on the page.",
            min=0,
            max=LARGEST_COUNT,
            show_default=str(DETAILED_QUERIES),
        ),
    ] = None,
    figures: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help=f"Write the charts of the papers to a folder: {', '.join(CHART_FORMATS).upper()}.",
            show_default=False,
        ),
    ] = None,
    format_: Annotated[
        AssessmentFormat | None, typer.Option("--format", help="The output format.", show_default="table")
    ] = None,
    sort: Annotated[str, typer.Option(help="The column to sort by, such as risk or geo_risk@5.")] = "mean",
    per_query: Annotated[
        bool, typer.Option("--per-query", help="Also print and write the figures of each query.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Print all tables: each α, and how rankings changed and agree.")
    ] = False,
    bootstrap: Annotated[
        int, typer.Option(help="Bootstrap samples for confidence intervals.", min=0, max=MOST_DRAWS)
    ] = 0,
    tests: Annotated[
        bool, typer.Option("--tests", help="The usual tests too: t, Wilcoxon, randomisation, Tukey's HSD.")
    ] = False,
    randomised_hsd: Annotated[
        bool, typer.Option("--randomised-hsd", help="The same, with the HSD by permuting scores (Carterette 2012).")
    ] = False,
    seed: Annotated[
        int, typer.Option(help="The random seed of the bootstrap and of tests.", min=0, max=LARGEST_SEED)
    ] = 0,
    depth: Annotated[
        int | None,
        typer.Option(help="Compare rankings down to this rank.", min=1, max=LARGEST_COUNT, show_default="all"),
    ] = None,
    missing: MissingQueries = None,
    fill: Annotated[
        str | None,
        typer.Option(
            help="Automatic judgments to fill holes; the figures with and without.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Measure what systems gain and risk compared with the live system.

    **Example:** `surefoot evaluate qrels.txt bm25.run.gz new.run.gz -m ERR@20 --baseline bm25 --alpha 0,5`

    Files may be plain, .gz, .bz2, .xz or .zst.
    """
    from surefoot.data.reading.files import as_text
    from surefoot.data.types.streamed_scores import StreamedScores
    from surefoot.report.assessment import assess

    printing = printing_of({"json": json_file, "csv": csv_file}, format_)
    if per_query and printing.kind in (AssessmentFormat.markdown, AssessmentFormat.latex):
        raise ArgumentError(f"--per-query cannot be printed as {printing.kind}; use --format table, json or csv")
    if depth is not None and scores is not None:
        raise ArgumentError("--depth compares rankings, but --scores has no rankings; remove --depth")
    page = {"texts": queries, "documents": documents, "title": title, "detail": detail}
    unused = [
        f"--{name}"
        for name, value in {**page, "link": link}.items()
        if value is not None and not (name == "queries" and per_query)
    ]
    if html_file is None and unused:
        raise ArgumentError(f"{', '.join(unused)} only affects the page, and no page is written; add --html FILE")
    json_file, csv_file = file_or_none(json_file), file_or_none(csv_file)
    per_query_file = _per_query_name(csv_file) if csv_file and per_query else None
    inputs = input_files([*(files or []), *([] if scores is None else [scores])])
    segment_files = [source for source in segments or [] if source != TRAFFIC]
    inputs += [path for path in (*segment_files, traffic, queries, documents, fill) if path is not None]
    check_outputs(
        [
            Output("--json", json_file, JSON),
            Output("--csv", csv_file, SYSTEMS_CSV),
            Output("--csv's per-query file", per_query_file, QUERIES_CSV),
            Output("--metrics", metrics, METRICS),
            Output("--html", html_file, PAGE),
            charts_folder("--figures", figures),
        ],
        inputs,
        force,
    )
    memory_options = {
        "--html": html_file, "--figures": figures, "--per-query": per_query, "--bootstrap": bootstrap,
        "--segments": segments, "--traffic": traffic, "--fill": fill, "--tests": tests or randomised_hsd,
    }  # fmt: skip
    matrices: Sequence[Scores | StreamedScores]
    if is_streamed(scores, stream, [option for option, value in memory_options.items() if value]):
        matrices = [StreamedScores(str(scores), matrix_measure(files or [], measure or [], missing))]
    else:
        matrices = read_scored("evaluate", files or [], scores, measure or [], missing, fill, traffic)
    systems = matrices[0].systems
    if baseline is None:
        raise ArgumentError(choose_baseline(systems))
    baseline = as_text(baseline)
    assessment = assess(
        matrices,
        baseline if baseline in systems else _split(baseline),
        parse_numbers(alpha, "--alpha"),
        population=None if population is None else _split(population, always_list=True),
        segments=segments or None,
        bootstrap=bootstrap,
        seed=seed,
        depth=depth,
        tests=tests,
        randomised_hsd=randomised_hsd,
    )
    assessment.rows(sort)  # an unknown column is an error before anything is written
    options: dict[str, dict[str, Any]] = {
        "json": {"per_query": per_query}, "csv": {"sort": sort}, "markdown": {"sort": sort}, "latex": {"sort": sort},
        "html": page | {"provenance": page_provenance(html_file, inputs, link or [])},
    }  # fmt: skip
    write_files(assessment, {"json": json_file, "csv": csv_file, "metrics": metrics, "html": html_file}, options)
    if per_query_file is not None:
        from surefoot.data.writing.all_or_nothing import write_text

        write_text(per_query_file, assessment.to_csv(per_query=True))
    if html_file is not None and not quiet:
        typer.echo(f"Wrote the page to {html_file}", err=True)
    if figures is not None:
        _write_charts(assessment, Path(figures), quiet)
    if not (per_query and printing.kind == AssessmentFormat.csv):
        print_result(
            assessment, lambda: _show_tables(assessment, sort, everything, per_query, queries), printing, quiet, options
        )
    elif printing.always or not quiet:
        typer.echo(assessment.to_csv(per_query=True), nl=False)


def _per_query_name(csv_file: str) -> str:
    """The file beside a CSV file that takes each query's figures."""
    path = Path(csv_file)
    return str(path.parent / f"{path.stem}.per-query{path.suffix}")


def _write_charts(assessment: Assessment, folder: Path, quiet: bool) -> None:
    from surefoot.report.charts import write_charts

    def say(words: str) -> None:
        # Beside the output, not in it: that may be JSON or CSV on its way to another program.
        if not quiet:
            typer.echo(words, err=True)

    paths = write_charts(assessment, folder, note=say)
    say(f"Wrote {len(paths)} charts to {folder}/")


def _split(text: str, always_list: bool = False) -> str | list[str]:
    from surefoot.data.reading.files import as_text

    names = comma_separated(as_text(text))
    return names if always_list or len(names) != 1 else names[0]


def _show_tables(assessment: Assessment, sort: str, everything: bool, per_query: bool, queries: str | None) -> None:
    from rich.text import Text

    from surefoot.data.reading.texts import shown_texts
    from surefoot.report.columns import sort_rows
    from surefoot.report.query_tables import query_tables
    from surefoot.report.text import left_out, overview, tables

    measured = [(data, sort_rows(data, sort)) for data in assessment.by_measure(per_query=per_query)]
    parts = (
        [part for data_and_rows in measured for part in tables(*data_and_rows)] if everything else overview(measured)
    )
    if per_query:
        texts = {} if queries is None else shown_texts(queries, measured[0][0]["per_query"]["queries"])
        parts += [part for data_and_rows in measured for part in query_tables(*data_and_rows, texts=texts)]
    if not everything:
        parts.append(Text(f"More with --all: {left_out(measured[0][0])}"))
    show(parts)
