"""`surefoot evaluate`: from runs and judgments, or a score matrix, to an assessment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from surefoot.arguments import LARGEST_COUNT, MOST_DRAWS, comma_separated, parse_numbers
from surefoot.cli import shared_options as shared
from surefoot.cli.option import DIR, FILE, LIST, NAME, option
from surefoot.cli.outputs import CHART, QUERIES_CSV, SYSTEMS_CSV, Output, OutputFolder, check_outputs
from surefoot.cli.printing import Delivery, results, show
from surefoot.cli.runs import (
    EVALUATION_MEASURE,
    GivenFiles,
    choose_baseline,
    input_files,
    read_scored,
    scores_or_runs,
)
from surefoot.errors import ArgumentError, shortened
from surefoot.report.options import ALPHAS, BY_TRAFFIC, DETAILED_QUERIES

if TYPE_CHECKING:
    from surefoot.report.assessment import Assessment


def evaluate(  # a list of its options
    files: shared.OptionalJudgedRuns = None,
    measure: Annotated[
        list[str] | None,
        option("-m --measure", "Repeatable.", NAME, shown=EVALUATION_MEASURE),
    ] = None,
    baseline: Annotated[
        str | None, option("-b --baseline", "Live: name, file, A,B, mean, median or max.", NAME)
    ] = None,
    scores: shared.GivenScores = None,
    alpha: Annotated[str, option("-a --alpha", "Losses count 1 + α times.", "LIST")] = ",".join(map(str, ALPHAS)),
    population: Annotated[
        str | None, option("--population", "Systems for Z_Risk and GeoRisk.", LIST, shown="all")
    ] = None,
    systems: Annotated[str | None, option("--systems", "Rows of the tables.", LIST, shown="all")] = None,
    segments: Annotated[list[str] | None, option("--segments", "Kinds of queries: CSV; or by-traffic.", FILE)] = None,
    traffic: shared.TrafficFile = None,
    *,
    delivery: Annotated[Delivery, results("json csv latex markdown metrics html", csv=SYSTEMS_CSV)],
    texts: shared.TextsFile = None,
    documents: shared.DocumentsFile = None,
    title: Annotated[str | None, option("--title", "The page's title.", "TEXT")] = None,
    link: shared.LinkedPages = None,
    detail: Annotated[
        int | None,
        option("--detail", "Queries with results there.", min=0, max=LARGEST_COUNT, shown=str(DETAILED_QUERIES)),
    ] = None,
    figures: Annotated[str | None, option("--figures", "The charts of the papers: PDF, SVG, PNG.", DIR)] = None,
    sort: Annotated[str, option("--sort", "Column, such as geo_risk@5.", NAME)] = "mean",
    per_query: Annotated[bool, option("--per-query", "The figures of each query, too.")] = False,
    why: Annotated[bool, option("--why", "Both top lists of the queries hurt most.")] = False,
    everything: Annotated[bool, option("--all", "All tables: each α, how rankings changed.")] = False,
    bootstrap: Annotated[int, option("--bootstrap", "Samples for intervals.", min=0, max=MOST_DRAWS)] = 0,
    tests: Annotated[str | None, option("--tests", "Other tests: usual, or hsd (permutations).", "WORD")] = None,
    seed: shared.Seed = 0,
    depth: Annotated[
        int | None, option("--depth", "Results to compare.", min=1, max=LARGEST_COUNT, shown="all")
    ] = None,
    missing: shared.MissingQueries = None,
    automatic: Annotated[str | None, option("--automatic", "Automatic judgments, to fill holes.", FILE)] = None,
) -> None:
    """Measure what systems gain and risk against the live one.

    **Example:** `surefoot evaluate qrels.txt bm25.run.gz new.run.gz -m ERR@20 --baseline bm25 --alpha 0,5`

    Files may be plain, .gz, .bz2, .xz or .zst.
    """
    from surefoot.data.reading.files import as_text
    from surefoot.data.writing.all_or_nothing import write_text
    from surefoot.report.assessment import assess

    if per_query and delivery.printed in ("markdown", "latex"):
        raise ArgumentError(f"--per-query cannot be printed as {delivery.printed}; use a table, --json - or --csv -")
    read = scores_or_runs(files or [], scores)
    if why:
        _check_why(delivery, read)
    if depth is not None and read.scores:
        raise ArgumentError("--depth compares rankings, but scores have no rankings; remove --depth")
    page = {"texts": texts, "documents": documents, "title": title, "detail": detail}
    page_options = {"--texts": texts, "--documents": documents, "--title": title, "--detail": detail, "--link": link}
    unused = [
        option
        for option, value in page_options.items()
        if value is not None and not (option == "--texts" and (per_query or why))
    ]
    if delivery.paths["html"] is None and unused:
        raise ArgumentError(f"{', '.join(unused)} only affects the page, and no page is written; add --html FILE")
    read, baseline = read.with_live(baseline)
    csv_path = delivery.files["csv"]
    per_query_file = _per_query_name(str(csv_path)) if csv_path and per_query else None
    inputs = input_files(read.files)
    segment_files = [source for source in segments or [] if source != BY_TRAFFIC]
    inputs += [path for path in (*segment_files, traffic, texts, documents, automatic) if path is not None]
    outputs = [*delivery.outputs, Output("--csv's per-query file", per_query_file, QUERIES_CSV)]
    check_outputs([*outputs, charts_folder(figures)], inputs, delivery.force)
    matrices = read_scored("evaluate", read, measure or [], missing, automatic, traffic)
    names = matrices[0].systems
    if baseline is None:
        raise ArgumentError(choose_baseline(names))
    baseline = as_text(baseline)
    assessment = assess(
        matrices,
        baseline if baseline in names else _split(baseline),
        parse_numbers(alpha, "--alpha"),
        population=None if population is None else _split(population, always_list=True),
        segments=segments or None,
        bootstrap=bootstrap,
        seed=seed,
        depth=depth,
        tests=requested_tests(tests),
    )
    shown = None if systems is None else comma_separated(as_text(systems))
    assessment.rows(sort, systems=shown)  # an unknown column or system is an error before anything is written
    rows = {"sort": sort, "systems": shown}
    options: dict[str, dict[str, Any]] = {
        "json": {"per_query": per_query}, "csv": rows, "markdown": rows, "latex": rows, "html": page,
    }  # fmt: skip
    if per_query and delivery.printed == "csv":
        options["csv"] = {"per_query": True}
    delivery.finish(
        assessment,
        lambda: _show_tables(assessment, rows, everything, per_query, texts, matrices if why else ()),
        inputs,
        link or [],
        **options,
    )
    if per_query_file is not None:
        write_text(per_query_file, assessment.to_csv(per_query=True))
    if delivery.files["html"] is not None and not delivery.quiet:
        typer.echo(f"Wrote the page to {delivery.files['html']}", err=True)
    if figures is not None:
        _write_charts(assessment, Path(figures), delivery.quiet)


def requested_tests(word: str | None) -> bool | Literal["hsd"]:
    """What `--tests` asks for."""
    if word not in (None, "usual", "hsd"):
        raise ArgumentError(f"--tests is {shortened(word)}; write --tests usual, or --tests hsd to permute scores")
    return "hsd" if word == "hsd" else word is not None


def _check_why(delivery: Delivery, read: GivenFiles) -> None:
    if delivery.printed:
        raise ArgumentError(f"--why shows lists in a terminal; print no {delivery.printed} there, or remove --why")
    if read.scores:
        raise ArgumentError("--why shows both lists of a query, but scores have no lists; give runs, or remove --why")


def _per_query_name(csv_file: str) -> str:
    """The file beside a CSV file that takes each query's figures."""
    path = Path(csv_file)
    return str(path.parent / f"{path.stem}.per-query{path.suffix}")


def charts_folder(path: str | None) -> Output:
    """A folder of charts; without matplotlib, the error that says how to install it, before the work and not after."""
    if path is None:
        return Output("--figures", None)
    from surefoot.report.canvas import need_matplotlib
    from surefoot.report.charts import CHARTS
    from surefoot.report.options import CHART_FORMATS

    need_matplotlib()
    return OutputFolder(
        "--figures", path, inside={f"{name}.{ending}": CHART for name in CHARTS for ending in CHART_FORMATS}
    )


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


def _show_tables(
    assessment: Assessment,
    rows: dict[str, Any],
    everything: bool,
    per_query: bool,
    texts_file: str | None,
    lists_of: Sequence[Any],
) -> None:
    from rich.text import Text

    from surefoot.data.reading.texts import shown_texts
    from surefoot.report.columns import sort_rows
    from surefoot.report.text import left_out, overview, tables
    from surefoot.report.top_lists import query_tables, top_list_tables

    by_query = per_query or bool(lists_of)
    measured = [
        (data, sort_rows(data, rows["sort"], rows["systems"])) for data in assessment.by_measure(per_query=by_query)
    ]
    parts = (
        [part for data_and_rows in measured for part in tables(*data_and_rows)] if everything else overview(measured)
    )
    texts = {} if texts_file is None else shown_texts(texts_file, measured[0][0]["per_query"]["queries"])
    for data_and_rows, scores in zip(measured, lists_of, strict=False):  # none without --why
        parts += top_list_tables(*data_and_rows, scores, texts)
    if per_query:
        parts += [part for data_and_rows in measured for part in query_tables(*data_and_rows, texts=texts)]
    if not everything:
        parts.append(Text(f"More with --all: {left_out(measured[0][0])}"))
    show(parts)
