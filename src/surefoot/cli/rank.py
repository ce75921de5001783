"""`surefoot rank`: score documents with a saved model, as a run or as scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import Force, Output, check_outputs
from surefoot.errors import visible
from surefoot.learn.model_files import model_files
from surefoot.learn.sources import HELP as BASELINES
from surefoot.learn.sources import files_of
from surefoot.progress import busy


def rank(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder that `surefoot train` saved.")],
    data: Annotated[Path, typer.Argument(metavar="TEST", help="Documents: LETOR text or Parquet.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A run (.run, .run.gz, …), or .csv, .json, .parquet.")],
    name: Annotated[str | None, typer.Option(help="The run's name.", show_default="the model's folder")] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option("-b", "--baseline", help=f"For a model that starts from it: {BASELINES}", show_default=False),
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="Also write the labels as judgments.", show_default=False)] = None,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Rank documents with a saved model.

    **Example:** `surefoot rank model/ test.txt -o candidate.run --qrels qrels.txt`
    """
    check_outputs(
        [Output("--output", output), Output("--qrels", qrels)],
        [*model_files(model), data, *files_of(baseline or [])],
        force,
    )
    from surefoot.data.files import as_text
    from surefoot.learn.ranker import Ranker
    from surefoot.learn.sources import read_like, with_baselines

    ranker = Ranker.load(model)
    with busy("Reading data"):
        documents = with_baselines(read_like(data, ranker.n_features_in_), baseline or [], data)
    run = documents.to_run(ranker.predict(documents), as_text(name or model.resolve().name))
    run.write(output)
    if qrels is not None:
        documents.qrels().write(qrels)
    if not quiet:
        typer.echo(visible(f"Ranked {len(documents):,} documents of {len(documents.queries):,} queries into {output}"))
