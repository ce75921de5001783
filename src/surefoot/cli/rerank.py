"""`surefoot rerank`: re-rank a table of lists with a personal model, as a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.shared_options import Force, Quiet
from surefoot.errors import visible
from surefoot.learn.model_files import model_files
from surefoot.personal.options import SAVED_FILES

PersonalModel = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Folder that `surefoot personalize --save` wrote.")
]


def rerank(
    model: PersonalModel,
    lists: Annotated[
        Path,
        typer.Argument(
            metavar="LISTS",
            help="A Parquet table, one list per row: user, session, time, query, results; id names a list.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="A run (.run, .run.gz, …), or .csv, .json, .parquet.")],
    name: Annotated[str | None, typer.Option(help="The run's name.", show_default="the model's folder")] = None,
    why: Annotated[
        Path | None, typer.Option(help="Also write orders, scores and reasons as JSON lines.", show_default=False)
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Re-rank lists by what their users did before, with a model of `surefoot personalize`.

    **Example:** `surefoot rerank model/ lists.parquet -o personal.run`
    """
    files: list[str | Path] = [*model_files(model), *(str(model / file) for file in SAVED_FILES), lists]
    check_outputs([Output("--output", output), Output("--why", why)], files, force)
    from surefoot.personal.reranked_lists import rerank_lists

    changed, count = rerank_lists(model, lists, output, name or model.resolve().name, why)
    if not quiet:
        typer.echo(visible(f"Wrote {count:,} lists to {output}; {changed:,} of them in another order than shown"))
