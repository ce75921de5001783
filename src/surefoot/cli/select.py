"""`surefoot select`: choose one of a sweep's candidates by a policy, and copy it out as one model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.choose.options import CHOOSE_BY, PLAIN_MODELS, PLAN_FILE, RANKINGS, RESULT_FILE
from surefoot.cli.outputs import JSON, Output, OutputModel, check_outputs
from surefoot.cli.printing import deliver, either, file_or_none, printing_of
from surefoot.cli.shared_options import Force, Quiet, TrafficFile
from surefoot.errors import ArgumentError, visible


def select(
    folder: Annotated[Path, typer.Argument(metavar="SWEEP", help="The folder of a sweep.")],
    max_risk: Annotated[
        float | None,
        typer.Option(
            help="Choose the model with the largest gain and a risk of at most this.", min=0, show_default=False
        ),
    ] = None,
    keep_gain: Annotated[
        float | None,
        typer.Option(
            help="Choose the model with the smallest risk that keeps this share of the gain.",
            min=0,
            max=1,
            show_default=False,
        ),
    ] = None,
    more_gain: Annotated[
        bool,
        typer.Option("--more-gain", help="Choose a model with more gain than the gain-only model. Needs --less-risk."),
    ] = False,
    less_risk: Annotated[
        float | None,
        typer.Option(
            help="With --more-gain: how much less risk, such as 0.3 (30 % less).", min=0, max=1, show_default=False
        ),
    ] = None,
    largest_area: Annotated[
        bool,
        typer.Option(
            "--largest-area",
            help="Choose the model with the largest area under the curve of gain by share of re-ranked queries.",
        ),
    ] = False,
    geo_risk: Annotated[
        float | None,
        typer.Option(
            metavar="ALPHA", help="Choose the model with the highest GeoRisk at this α.", min=0, show_default=False
        ),
    ] = None,
    traffic: TrafficFile = None,
    strategies: Annotated[
        bool, typer.Option("--strategies", help="Also consider blends with the baseline and selective re-ranking.")
    ] = False,
    choose_by: Annotated[
        str | None,
        typer.Option(help=f"{either(list(CHOOSE_BY))}.", show_default="cross-validation, if the sweep has it"),
    ] = None,
    one_se: Annotated[
        bool, typer.Option("--one-se", help="Choose the least risk within one standard error of the best.")
    ] = False,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="If no model satisfies the policy, take the nearest one.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Copy the model here.", show_default=False)
    ] = None,
    fold: Annotated[str | None, typer.Option(help="Copy the model of this fold.", show_default="the first")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write JSON to a file, or - for the terminal.", show_default=False)
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Choose a model of a sweep, say why and how sure this is, and report its figures on test data.

    **Example:** `surefoot select sweep/ --more-gain --less-risk 0.3 -o model/`
    """
    if more_gain != (less_risk is not None):
        raise ArgumentError("--more-gain and --less-risk go together: --more-gain --less-risk 0.3")
    levels = {"max_risk": max_risk, "keep_gain": keep_gain, "less_risk": less_risk, "geo_risk": geo_risk}
    policies = [(name, level) for name, level in levels.items() if level is not None]
    policies += [("largest_area", 0.0)] if largest_area else []
    if len(policies) != 1:
        raise ArgumentError(
            "give one policy: --max-risk 0.02, --keep-gain 0.95, --more-gain --less-risk 0.3, --largest-area or "
            "--geo-risk 5"
            + (f"; found {', '.join('--' + name.replace('_', '-') for name, _ in policies)}" if policies else "")
        )
    if fold is not None and output is None:
        raise ArgumentError(
            "--fold selects the model to copy, but without --output no model is copied; add --output DIR"
        )
    check_outputs(
        [OutputModel("--output", output), Output("--json", file_or_none(json_file), JSON)],
        [folder / RESULT_FILE, folder / PLAN_FILE, *([] if traffic is None else [Path(traffic)])],
        force,
    )
    from surefoot.choose.choice import select as choose
    from surefoot.choose.saved_choice import copy_model
    from surefoot.choose.selection_policy import SelectionPolicy
    from surefoot.choose.store import SweepStore
    from surefoot.choose.tradeoffs import TradeOffs

    name, level = policies[0]
    policy, kinds = SelectionPolicy(name, level, one_se, nearest), RANKINGS if strategies else PLAIN_MODELS
    result, store = TradeOffs.read(folder), SweepStore.read(folder) if (folder / PLAN_FILE).exists() else None
    choice = choose(result, policy, kinds, choose_by=choose_by, store=store, traffic=traffic)
    lines = choice.words
    if output is not None:
        chosen_fold, which, seeds = copy_model(store or SweepStore.read(folder), choice, output, fold)
        lines = [
            *lines,
            f"Copied the model that {chosen_fold} chose, {which} ({seeds}), to {output}/. To rank with it, run: "
            f"surefoot rank {output} DATA -o RUN",
        ]

    def show_words() -> None:
        for line in lines:
            typer.echo(visible(line))

    deliver(choice, {"json": file_or_none(json_file)}, show_words, printing_of({"json": json_file}), quiet)
