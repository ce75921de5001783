"""`surefoot export`: a saved model for a search engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.printing import either
from surefoot.cli.shared_options import Force, ModelFolder, Quiet
from surefoot.errors import ArgumentError, visible
from surefoot.export.names import companion_paths
from surefoot.export.options import LETOR_NAMES, MISSING, ROWS, TARGETS
from surefoot.learn.model_files import model_files


def export(
    model: ModelFolder,
    to: Annotated[str, typer.Option(help=f"{either(TARGETS)}.", show_default=False)],
    missing: Annotated[
        str,
        typer.Option(
            help=f"What a feature that a document lacks means: {either(MISSING)} (every document has all).",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The model's file; others are put beside it.")],
    name: Annotated[str | None, typer.Option(help="The model's name there.", show_default="the file's")] = None,
    features: Annotated[
        Path | None,
        typer.Option(help="The features' names there, one per line.", show_default="as in the training data"),
    ] = None,
    letor: Annotated[
        str | None,
        typer.Option("--names", metavar=LETOR_NAMES, help="Name features by their LETOR numbers.", show_default=False),
    ] = None,
    target_version: Annotated[
        str | None, typer.Option(help="The search engine's version, where it matters.", show_default="the newest")
    ] = None,
    engine_version: Annotated[str | None, typer.Option(hidden=True)] = None,  # the older name of --target-version
    positive: Annotated[bool, typer.Option("--positive", help="Lift the least possible score to 0.")] = False,
    rows: Annotated[int, typer.Option(help="Rows to replay, with the scores that the search engine must give.")] = ROWS,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a saved model for a search engine, with what it takes to load, use and check it there.

    **Example:** `surefoot export model/ --to elasticsearch --missing zero -o es.json`
    """
    if letor is not None and (letor != LETOR_NAMES or features is not None):
        raise ArgumentError(f"--names is {LETOR_NAMES}, where features have no names; --features FILE gives others")
    if engine_version is not None and target_version is not None:
        raise ArgumentError("--engine-version is the older name of --target-version; give --target-version alone")
    outputs = [output, *companion_paths(output, to).values()]
    inputs = [*map(Path, model_files(model)), *([] if features is None else [features])]
    check_outputs([Output("--output", path) for path in outputs], inputs, force)
    from surefoot.data.reading.feature_names import read_feature_names
    from surefoot.learn.ranker import Ranker

    names = letor if features is None else read_feature_names(features)
    exported = Ranker.load(model).export(
        output, to=to, missing=missing, name=name, target_version=target_version or engine_version, positive=positive,
        rows=rows, feature_names=names,
    )  # fmt: skip
    for caution in exported.cautions:
        typer.echo(visible(f"surefoot: warning: {caution}"), err=True)
    if not quiet:
        for note in exported.notes:
            typer.echo(visible(note))
        first, *others = exported.files
        typer.echo(visible(f"Wrote {first} and, beside it, {', '.join(path.name for path in others)}"))
