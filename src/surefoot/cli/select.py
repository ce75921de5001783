"""`surefoot select`: choose one of a sweep's models by a policy, and copy it out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.choose.options import MODEL, PLAN, RANKINGS, RESULT
from surefoot.cli.outputs import JSON, Output, OutputModel, check_outputs
from surefoot.cli.printing import deliver, file_or_none, printing_of
from surefoot.cli.shared_options import Force, Quiet
from surefoot.errors import ArgumentError, visible


def select(
    folder: Annotated[Path, typer.Argument(metavar="SWEEP", help="The folder that a sweep was kept in.")],
    max_risk: Annotated[
        float | None, typer.Option(help="Most gain with a risk of at most this.", min=0, show_default=False)
    ] = None,
    keep_gain: Annotated[
        float | None,
        typer.Option(help="Least risk that keeps this share of the gain.", min=0, max=1, show_default=False),
    ] = None,
    largest_area: Annotated[
        bool, typer.Option("--largest-area", help="Largest area under gain by share re-ranked.")
    ] = False,
    geo_risk: Annotated[
        float | None, typer.Option(metavar="ALPHA", help="Highest GeoRisk at this α.", min=0, show_default=False)
    ] = None,
    strategies: Annotated[
        bool, typer.Option("--strategies", help="Also consider blends, selective re-ranking and means of seeds.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder to copy the model to.", show_default=False)
    ] = None,
    fold: Annotated[str | None, typer.Option(help="Whose choice to copy.", show_default="the first")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the choice, or - for the terminal.", show_default=False)
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Choose on validation data, say why, and report on test data.

    **Example:** `surefoot select sweep/ --keep-gain 0.95 -o model/`
    """
    levels = {"max_risk": max_risk, "keep_gain": keep_gain, "geo_risk": geo_risk}
    policies = [(name, level) for name, level in levels.items() if level is not None]
    policies += [("largest_area", 0.0)] if largest_area else []
    if len(policies) != 1:
        raise ArgumentError(
            "give one policy: --max-risk 0.02, --keep-gain 0.95, --largest-area or --geo-risk 5"
            + (f"; found {', '.join('--' + name.replace('_', '-') for name, _ in policies)}" if policies else "")
        )
    if fold is not None and output is None:
        raise ArgumentError("--fold says whose model is copied, and nothing is; add --output FOLDER")
    check_outputs(
        [OutputModel("--output", output), Output("--json", file_or_none(json_file), JSON)],
        [folder / RESULT, folder / PLAN],
        force,
    )
    from surefoot.choose.policy import SelectionPolicy, copy_model
    from surefoot.choose.policy import select as choose
    from surefoot.choose.store import Store
    from surefoot.choose.sweep import read_sweep

    name, level = policies[0]
    choice = choose(read_sweep(folder), SelectionPolicy(name, level), RANKINGS if strategies else (MODEL,))
    lines = choice.words
    if output is not None:
        chosen_fold, which, seed = copy_model(Store.read(folder), choice, output, fold)
        lines = [
            *lines,
            f"The model that {chosen_fold} chose, {which} with seed {seed}, is in {output}/; rank with: "
            f"surefoot rank {output} DATA -o RUN",
        ]

    def show_words() -> None:
        for line in lines:
            typer.echo(visible(line))

    deliver(choice, {"json": file_or_none(json_file)}, show_words, printing_of({"json": json_file}), quiet)
