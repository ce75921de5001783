"""`surefoot personalize`: from a click log to re-rankers that know when to leave a list as it was shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.arguments import parse_numbers
from surefoot.cli import shared_options as shared
from surefoot.cli.option import DIR, FILE, LIST, NAME, argument, option, parameters
from surefoot.cli.outputs import PERSONAL_CSV, files_under
from surefoot.cli.printing import Delivery, either, results, show
from surefoot.clicks.options import BACKENDS, MEMORY, SATISFIED
from surefoot.errors import ArgumentError, visible
from surefoot.personal.options import GRIDS, LABEL_MEASURES, SAMPLE, SPLITS


def personalize(
    log: Annotated[Path, argument("LOG", "The file of the log, or a folder with its files.")],
    output: Annotated[Path, option("-o --output", "The study's folder; what is there goes on.", DIR)],
    layout: Annotated[str | None, option("--layout", "ubi, metarank, table, …", "WORD", shown="detected")] = None,
    unit: Annotated[str | None, option("--unit", "Of times: s, ms, us, min.", "WORD", shown="layout's")] = None,
    clock: Annotated[str, option("--clock", "Of session or log.", "WORD")] = "session",
    actions: Annotated[str, option("--actions", "Events that are clicks.", LIST)] = "click",
    labels: Annotated[str | None, option("--labels", f"{', '.join(LABEL_MEASURES)}.", "WORD", shown="layout's")] = None,
    dwell: Annotated[str | None, option("--dwell", "Seconds that satisfy.", LIST, shown=f"{SATISFIED[0]:g}")] = None,
    last: Annotated[bool, option("--last/--no-last", "A session's last click satisfies, or not.")] = True,
    split: Annotated[str | None, option("--split", f"{', '.join(SPLITS)}.", "WORD", shown="user")] = None,
    sample: Annotated[int, option("--sample", "Lists to learn from.", min=3)] = SAMPLE,
    preset: Annotated[str, option("--preset", f"{', '.join(GRIDS)}.", "WORD")] = "quick",
    beta: Annotated[str | None, option("--beta", "Values of β.", LIST, shown="the preset's")] = None,
    alpha: Annotated[str | None, option("-a --alpha", "Values of α.", LIST, shown="the preset's")] = None,
    horizons: Annotated[bool, option("--horizons", "Also with session or long-term features.")] = False,
    set_: shared.EngineParameters = None,
    trees: Annotated[int | None, option("--trees", "Number of trees.", min=1, shown="the preset's")] = None,
    segments: Annotated[Path | None, option("--segments", "The kind of each list: list,kind.", FILE)] = None,
    backend: Annotated[str, option("--backend", f"{either(BACKENDS)}.", "WORD")] = "duckdb",
    memory: Annotated[str, option("--memory", "For DuckDB; the rest on disk.", "SIZE")] = MEMORY,
    threads: shared.Threads = None,
    seed: Annotated[int, option("--seed", "Of splits, samples and trees.", min=0)] = 0,
    features_only: Annotated[bool, option("--features-only", "The table of features only; no training.")] = False,
    save: Annotated[Path | None, option("--save", "Save the recommended model, to serve it.", DIR)] = None,
    method: Annotated[str | None, option("--method", "With --save: this method's model.", NAME)] = None,
    *,
    delivery: Annotated[Delivery, results("html json csv latex markdown metrics", csv=PERSONAL_CSV)],
) -> None:
    """Learn re-rankers from clicks, and choose one that risks little.

    **Example:** `surefoot personalize clicks.log --layout yandex2012 --unit ms --clock log -o study/ --html p.html`
    """
    if method is not None and save is None:
        raise ArgumentError("--method works only with --save; say where the model is saved")
    if save is not None:
        from surefoot.personal.saved_ranker import check_new

        if features_only:
            raise ArgumentError("--features-only trains no model to --save; leave one of the two out")
        if save.resolve() == output.resolve():
            raise ArgumentError("--save and --output are the same folder; choose another one for the model")
        check_new(save, last=last)
    delivery.check([*files_under(log), segments])
    from surefoot.personal.lists import check_known
    from surefoot.personal.methods import method_names
    from surefoot.personal.personalize import features
    from surefoot.personal.personalize import personalize as learn
    from surefoot.personal.tables import tables

    reading: dict[str, Any] = {
        "layout": layout, "unit": unit, "clock": clock, "labels": labels, "last": last,
        "actions": [part.strip() for part in actions.split(",") if part.strip()], "memory": memory,
        "threads": threads, "backend": backend, "force": delivery.force,
        "dwell": None if dwell is None else parse_numbers(dwell, "--dwell"),
    }  # fmt: skip
    if features_only:
        table = features(log, output, **reading)
        if not delivery.quiet:
            _print_counts(table.folder, table.names, table.counts)
        return
    grid = {
        name: parse_numbers(text, option)
        for name, text, option in (("betas", beta, "--beta"), ("alphas", alpha, "--alpha"))
        if text is not None
    }
    ranker = parameters(set_ or [], {"n_estimators", "self"})
    if trees is not None:
        ranker["n_estimators"] = trees
    if method is not None:  # before hours of training, and again among the models that were chosen
        check_known("is no preset", preset, GRIDS)
        check_known("is no model of method", method, method_names({**GRIDS[preset], **grid}))
    result = learn(
        log, output, **reading, split=split, sample=sample, preset=preset, grid=grid, ranker=ranker, segments=segments,
        seed=seed, horizons=horizons,
    )  # fmt: skip
    delivery.finish(result, lambda: show(tables(result.to_dict())), [log, segments])
    if save is not None:  # last: the result is there, whatever becomes of the model
        result.save(save, method=method)
        if not delivery.quiet:
            typer.echo(
                visible(f"Saved the model to {save}. To serve it, run: surefoot serve {save} --port 8080"), err=True
            )


def _print_counts(folder: Path, names: list[str], counts: dict[str, Any]) -> None:
    typer.echo(f"{counts['lists']:,} lists and {counts['clicks']:,} clicks; {len(names)} features in {folder}/features")
    for kind in ("rejected", "set_aside"):
        for reason, number in counts[kind].items():
            typer.echo(f"  {number:,} left out: {reason}")
