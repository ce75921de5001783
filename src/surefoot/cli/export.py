"""`surefoot export`: a saved model for a search engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.option import DIR, FILE, NAME, option
from surefoot.cli.outputs import OutputFolder, check_outputs
from surefoot.cli.printing import either
from surefoot.errors import ArgumentError, visible
from surefoot.export.settings import MISSING, ROWS, export_files
from surefoot.learn.model_files import model_files


def export(
    model: shared.ModelFolder,
    to: Annotated[str, option("--to", "Such as elasticsearch-plugin, solr, onnx.", "WORD")],
    missing: Annotated[str, option("--missing", f"An unset feature: {either(MISSING)}.", "WORD")],
    output: Annotated[Path, option("-o --output", "The folder to write.", DIR)],
    name: Annotated[str | None, option("--name", "Its name there.", NAME, shown="the folder's")] = None,
    features: Annotated[Path | None, option("--features", "Names of features there, one per line.", FILE)] = None,
    target_version: Annotated[str | None, option("--target-version", "Its version.", "X.Y", shown="the newest")] = None,
    keep_negative: Annotated[bool, option("--keep-negative", "Leave scores below 0 as they are.")] = False,
    rows: Annotated[int, option("--rows", "Rows to check it with.")] = ROWS,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Export a model to a search engine, with what checks it there.

    --to takes elasticsearch-plugin, elasticsearch-native, opensearch, ranklib, solr, vespa or onnx.

    **Example:** `surefoot export model/ --to elasticsearch-plugin --missing zero -o es/`
    """
    names = export_files(to).values()
    outputs = [OutputFolder("--output", output, inside=dict.fromkeys(names))]
    check_outputs(outputs, [*model_files(model), features], force)
    from surefoot.data.letor.files import read_feature_names
    from surefoot.neural.loading import load_ranker

    ranker, only_trees = load_ranker(model), dict[str, Any]()
    if hasattr(ranker, "booster_"):
        only_trees = {"target_version": target_version, "keep_negative": keep_negative}
    elif keep_negative or target_version:
        raise ArgumentError("--keep-negative and --target-version are for trees, and this model is a network")
    called = None if features is None else read_feature_names(features)
    exported = ranker.export(output, to=to, missing=missing, features=called, name=name, rows=rows, **only_trees)
    for caution in exported.cautions:
        typer.echo(visible(f"surefoot: warning: {caution}"), err=True)
    if not quiet:
        for note in exported.notes:
            typer.echo(visible(note))
        typer.echo(visible(f"Wrote to {output}: {', '.join(path.name for path in exported.files)}"))
        typer.echo(visible(f"Then check the engine's scores of the rows in it: surefoot check {output} SCORES"))
