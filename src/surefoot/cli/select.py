"""`surefoot select`: choose one of a sweep's candidates by a policy, and copy it out as one model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.choose.options import CHOOSE_BY, PLAIN_MODELS, PLAN_FILE, RANKINGS, RESULT_FILE
from surefoot.cli import shared_options as shared
from surefoot.cli.option import DIR, NAME, argument, option
from surefoot.cli.outputs import OutputModel
from surefoot.cli.printing import Delivery, results
from surefoot.errors import ArgumentError, visible
from surefoot.learn.model_files import is_model_file


def select(
    folder: Annotated[Path, argument("SWEEP", "The folder of a sweep.")],
    max_risk: Annotated[float | None, option("--max-risk", "Most gain with a risk of at most this.", min=0)] = None,
    keep_gain: Annotated[
        float | None, option("--keep-gain", "Least risk that keeps this share of the gain.", min=0, max=1)
    ] = None,
    less_risk: Annotated[
        float | None, option("--less-risk", "More gain, with this share less risk.", min=0, max=1)
    ] = None,
    largest_area: Annotated[bool, option("--largest-area", "Most gain for all shares of re-ranking.")] = False,
    geo_risk: Annotated[float | None, option("--geo-risk", "The highest GeoRisk at this α.", min=0)] = None,
    traffic: shared.TrafficFile = None,
    strategies: Annotated[bool, option("--strategies", "Blends and selective re-ranking, too.")] = False,
    choose_by: Annotated[str | None, option("--choose-by", f"{' or '.join(CHOOSE_BY)}.", "WORD")] = None,
    one_se: Annotated[bool, option("--one-se", "Least risk within a standard error of best.")] = False,
    nearest: Annotated[bool, option("--nearest", "If none satisfies it, the nearest one.")] = False,
    output: Annotated[Path | None, option("-o --output", "Save the model here.", DIR)] = None,
    fold: Annotated[str | None, option("--fold", "Save this fold's model.", NAME, shown="the first")] = None,
    *,
    delivery: Annotated[Delivery, results("json")],
) -> None:
    """Choose a model of a sweep, and say why and how sure that is.

    **Example:** `surefoot select sweep/ --keep-gain 0.95 -o model/`
    """
    levels = {"max_risk": max_risk, "keep_gain": keep_gain, "less_risk": less_risk, "geo_risk": geo_risk}
    policies = [(name, level) for name, level in levels.items() if level is not None]
    policies += [("largest_area", 0.0)] if largest_area else []
    if len(policies) != 1:
        raise ArgumentError(
            "give one policy: --max-risk 0.02, --keep-gain 0.95, --less-risk 0.3, --largest-area or --geo-risk 5"
            + (f"; found {', '.join('--' + name.replace('_', '-') for name, _ in policies)}" if policies else "")
        )
    if fold is not None and output is None:
        raise ArgumentError(
            "--fold selects the model to copy, but without --output no model is copied; add --output DIR"
        )
    inputs = [folder / RESULT_FILE, folder / PLAN_FILE, traffic]
    delivery.check(inputs, OutputModel("--output", output, is_own_file=is_model_file))
    from surefoot.choose.choice import copy_model
    from surefoot.choose.choice import select as choose
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

    delivery.finish(choice, show_words)
