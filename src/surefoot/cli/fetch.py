"""`surefoot fetch`: a run from a search service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.shared_options import Force, Quiet
from surefoot.errors import ArgumentError, name_list, shortened, visible
from surefoot.fetching.options import DEPTH, PAGE_SIZE, RETRIES, TIMEOUT, RunScores, ServiceName


def fetch(
    service: Annotated[ServiceName, typer.Option("--from", help="What answers.")],
    url: Annotated[str, typer.Option(help="The index's address, such as https://host:9200/shop; no password in it.")],
    queries: Annotated[Path, typer.Option(help="Queries: id, tab, text; JSON lines; or TREC topics.")],
    body: Annotated[Path, typer.Option(help="The search as JSON, with {{query}} where the text belongs.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A run (.run, .run.gz, …), or .csv, .json, .parquet.")],
    depth: Annotated[int, typer.Option(help="How many results per query.", min=1)] = DEPTH,
    page_size: Annotated[int, typer.Option(help="How many results per request.", min=1, max=10_000)] = PAGE_SIZE,
    id_field: Annotated[
        str | None, typer.Option(help="The field with a document's id.", show_default="_id; Solr: id")
    ] = None,
    tiebreak: Annotated[
        str | None,
        typer.Option(help="A field that differs in every document, for depths over 10,000.", show_default=False),
    ] = None,
    run_scores: Annotated[
        RunScores, typer.Option("--scores", help="The service's scores, or minus the position.")
    ] = RunScores.service,
    header_env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VARIABLE", help="A header whose value is in an environment variable.", show_default=False
        ),
    ] = None,
    user_env: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="The environment variable that holds user:password.", show_default=False),
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option(help="Your own certificate authorities (PEM), besides the usual.", show_default=False)
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="At most this many requests per second.", show_default=False)
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for an answer.")] = TIMEOUT,
    retries: Annotated[int, typer.Option(help="Further tries where a service is busy or an answer breaks off.")] = (
        RETRIES
    ),
    name: Annotated[str | None, typer.Option(help="The run's name.", show_default="the output's")] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Ask a search service every query, and write its results as a run.

    If it is interrupted, run it again: it goes on where it stopped.

    **Example:** `surefoot fetch --from opensearch --url https://localhost:9200/shop --queries queries.tsv --body
    search.json --user-env LOGIN -o new.run`
    """
    from surefoot.fetching.fetched_answers import answers_folder, is_own_output

    inputs = [queries, body, *([ca_file] if ca_file is not None else [])]
    check_outputs([Output("--output", output)], inputs, force or is_own_output(output))
    from surefoot.fetching.fetched_run import fetched_run

    fetched = fetched_run(
        service, url, queries, body, output, depth=depth, page_size=page_size, id_field=id_field, tiebreak=tiebreak,
        score_by=run_scores, name=name, header_env=_headers(header_env or []), user_env=user_env, ca_file=ca_file,
        rate=rate, timeout=timeout, retries=retries, note=None if quiet else _say,
    )  # fmt: skip
    if quiet:
        return
    run, empty = fetched.run, fetched.without_results
    lines = [f"Wrote {len(run.queries):,} queries with {len(run):,} results to {output}"]
    if fetched.resumed:
        lines.append(f"{fetched.resumed:,} of the queries were fetched before (in {answers_folder(output).name})")
    if empty:
        lines.append(f"{len(empty):,} queries have no results: {name_list(empty, 6)}")
    typer.echo(visible("; ".join(lines)))


def _say(words: str) -> None:
    typer.echo(f"surefoot: {visible(words)}", err=True)


def _headers(given: list[str]) -> dict[str, str]:
    """The variable of each header."""
    headers: dict[str, str] = {}
    for text in given:
        name, equals, variable = text.partition("=")
        if not (name and equals and variable):
            # Not quoted: somebody may have put the value there.
            raise ArgumentError("--header-env takes NAME=VARIABLE, such as Authorization=MY_TOKEN")
        if name in headers:
            raise ArgumentError(f"--header-env: the header {shortened(name)} appears twice; keep one")
        headers[name] = variable
    return headers
