"""`surefoot fetch`: a run from a search service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.option import FILE, NAME, option
from surefoot.cli.outputs import Output, check_outputs
from surefoot.errors import ArgumentError, name_list, shortened, visible
from surefoot.fetching.options import DEPTH, PAGE_SIZE, RETRIES, TIMEOUT, RunScores, ServiceName


def fetch(
    service: Annotated[ServiceName, option("--service", "elasticsearch, opensearch or solr.", "WORD")],
    url: Annotated[str, option("--url", "Of the index, as https://host:9200/shop.", "URL")],
    queries: Annotated[Path, option("--queries", "What to ask: id, tab, text; or JSON, TREC.", FILE)],
    body: Annotated[Path, option("--body", "The search as JSON, {{query}} for the text.", FILE)],
    output: shared.RunFile,
    depth: Annotated[int, option("--depth", "Results per query.", min=1)] = DEPTH,
    page_size: Annotated[int, option("--page-size", "Results per request.", min=1, max=10_000)] = PAGE_SIZE,
    id_field: Annotated[str | None, option("--id-field", "A document's id.", NAME, shown="_id; Solr: id")] = None,
    tiebreak: Annotated[str | None, option("--tiebreak", "A field of unique values, beyond 10,000.", NAME)] = None,
    score_by: Annotated[RunScores, option("--score-by", "service or position.", "WORD")] = RunScores.service,
    header_env: Annotated[
        list[str] | None, option("--header-env", "A header, and the variable of its value.", "K=VAR")
    ] = None,
    user_env: Annotated[str | None, option("--user-env", "The variable that holds user:password.", "VAR")] = None,
    ca_file: Annotated[Path | None, option("--ca-file", "Own certificate authorities (PEM).", FILE)] = None,
    rate: Annotated[float | None, option("--rate", "At most so many requests per second.")] = None,
    timeout: Annotated[float, option("--timeout", "Seconds to wait.")] = TIMEOUT,
    retries: Annotated[int, option("--retries", "Further tries.")] = RETRIES,
    name: Annotated[str | None, option("--name", "The run's name.", NAME, shown="the output's")] = None,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Ask a search service all queries, and write a run.

    If it is interrupted, run it again: it goes on where it stopped.

    **Example:** `surefoot fetch --service opensearch --url https://localhost:9200/shop --queries queries.tsv --body
    search.json --user-env LOGIN -o new.run`
    """
    from surefoot.fetching.fetched_run import answers_folder, is_own_output

    check_outputs([Output("--output", output)], [queries, body, ca_file], force or is_own_output(output))
    from surefoot.fetching.fetched_run import fetched_run

    fetched = fetched_run(
        service, url, queries, body, output, depth=depth, page_size=page_size, id_field=id_field, tiebreak=tiebreak,
        score_by=score_by, name=name, header_env=_headers(header_env or []), user_env=user_env, ca_file=ca_file,
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
