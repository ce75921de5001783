"""`surefoot explain`: why a query got worse, by the features that moved the documents whose swap cost most."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.shared_options import Baselines, Force, ModelFolder, ResultJson
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import baseline_files
from surefoot.learn.model_files import model_files
from surefoot.learn.signatures import EXPLANATION_JSON, EXPLANATION_MARKDOWN
from surefoot.progress import busy
from surefoot.report.signatures import PAGE


def explain(
    model: ModelFolder,
    data: Annotated[Path, argument("DATA", "Labelled documents: LETOR text or Parquet.")],
    query: Annotated[str, argument("QUERY", "The query.")],
    baseline: Baselines = None,
    pairs: Annotated[int, option("--pairs", "Swaps to explain, the worst first.", min=1)] = 3,
    json_file: Json = None,
    markdown_file: Markdown = None,
    html: Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Say why a query is ranked as it is: which swaps cost most, and which features cause them.

    **Example:** `surefoot explain model/ test.txt -q 18219 -b bm25=feature:25`
    """
    check_outputs(
        [
            Output("--json", json_file, EXPLANATION_JSON),
            Output("--markdown", markdown_file, EXPLANATION_MARKDOWN),
            Output("--html", html, PAGE),
        ],
        [*model_files(model), data, *baseline_files(baseline or [])],
        force,
    )
    from surefoot.data.writing.all_or_nothing import write_text
    from surefoot.learn.baseline_spec import read_like, with_baselines
    from surefoot.neural.loading import load_ranker
    from surefoot.report.explanation_page import to_page
    from surefoot.report.plain_json import to_json

    ranker = load_ranker(model)
    if not hasattr(ranker, "explain"):
        raise ArgumentError(f"{model} is a network, and only what trees add up to can be explained")
    with busy("Reading data"):
        documents = with_baselines(read_like(data, ranker.n_features_in_), baseline or [], data)
    result = ranker.explain(documents, query, pairs=pairs)
    if json_file is not None:
        write_text(json_file, to_json(result.to_dict()))
    if markdown_file is not None:
        write_text(markdown_file, result.to_markdown())
    if html is not None:
        write_text(html, to_page(visible(f"Query {query}"), result.sentences(), result.tables()))
    if not quiet:
        typer.echo(str(result))
