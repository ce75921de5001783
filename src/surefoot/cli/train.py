"""`surefoot train`: learn a ranker from LETOR data, and assess it on validation data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.bar import is_watched, new_bar
from surefoot.cli.outputs import Output, OutputModel, check_outputs, files_under
from surefoot.cli.parameters import parameters
from surefoot.cli.printing import either
from surefoot.cli.progress_lines import stage
from surefoot.cli.shared_options import Baselines, EarlyStopping, Force, OptimizedMeasure, Quiet, Rule, Threads
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import baseline_files, resolve_baseline
from surefoot.learn.marks import CHECKPOINT
from surefoot.learn.options import (
    CHECKPOINT_EVERY,
    ENGINE,
    ENGINES,
    ESTIMATE,
    MEASURE,
    OBJECTIVE,
    OBJECTIVES,
    RISK_OBJECTIVES,
    RULE,
    STOP_ON,
)
from surefoot.progress import busy
from surefoot.report.marks import PAGE
from surefoot.report.numbers import short

if TYPE_CHECKING:
    from rich.console import Console

    from surefoot.data.types.ranking_data import RankingData
    from surefoot.learn.ranker import Ranker
    from surefoot.learn.training import Progress
    from surefoot.report.assessment import Assessment


def train(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="TRAIN", help="Training data: LETOR text or Parquet; with --dask a folder of Parquet parts."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to save the model to.")],
    valid: Annotated[Path | None, typer.Option(help="Validation data.", show_default=False)] = None,
    baseline: Baselines = None,
    objective: Annotated[str, typer.Option(help=f"{either(OBJECTIVES)}.")] = OBJECTIVE,
    alpha: Annotated[
        float | None,
        typer.Option(
            "-a", "--alpha", help="Each loss counts 1 + α times; risk objectives need it.", show_default=False
        ),
    ] = None,
    measure: OptimizedMeasure = MEASURE,
    trees: Annotated[int, typer.Option(help="How many trees to grow.", min=1)] = 300,
    early_stopping: EarlyStopping = None,
    stop_on: Annotated[str, typer.Option(help="effectiveness, u_risk@5, t_risk@5 or geo_risk@5.")] = STOP_ON,
    rule: Rule = RULE,
    estimate: Annotated[str, typer.Option(help="When s_x is estimated: each or first (tree).")] = ESTIMATE,
    init_baseline: Annotated[bool, typer.Option("--init-baseline", help="Start from the baseline's scores.")] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A parameter of the engine, such as num_leaves=50.", show_default=False
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help=f"Who grows the trees: {either(ENGINES)}.", show_default=f"{ENGINE}; with --dask {ENGINES[1]}"
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(help="Train on a Dask cluster: its scheduler's ADDRESS, or local:N.", show_default=False),
    ] = None,
    threads: Threads = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Keep the state here; the same command resumes from it.", show_default=False)
    ] = None,
    checkpoint_every: Annotated[int, typer.Option(help="Trees between two checkpoints.", min=1)] = CHECKPOINT_EVERY,
    html: Annotated[Path | None, typer.Option(help="Write the assessment's page.", show_default=False)] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Learn a ranker that trades gain against risk.

    **Example:** `surefoot train train.txt --valid vali.txt -b bm25=feature:25 --objective u_risk --alpha 5 -o model/`
    """
    check_outputs(
        [OutputModel("--output", output), Output("--checkpoint", checkpoint, CHECKPOINT), Output("--html", html, PAGE)],
        [*files_under(data), *([] if valid is None else files_under(valid)), *baseline_files(baseline or [])],
        force,
    )
    from surefoot.data.letor.files import read_letor
    from surefoot.learn.baseline_spec import read_like, with_baselines
    from surefoot.learn.engines.contract import engine_of, merge_parameters
    from surefoot.learn.ranker import Ranker
    from surefoot.learn.settings import TrainingSettings
    from surefoot.report.text import plain_console

    console = plain_console(quiet=quiet)
    if html is not None and dask is not None:
        raise ArgumentError("--html needs the validation data on this machine; give it to surefoot rank and evaluate")
    if html is not None and valid is None:
        raise ArgumentError("--html shows the assessment on validation data; give --valid")
    if objective in RISK_OBJECTIVES and not baseline:
        raise ArgumentError(f"--objective {objective} compares with a baseline; give --baseline, such as feature:25")
    chosen: dict[str, Any] = {
        "objective": objective, "alpha": alpha, "measure": measure, "rule": rule, "estimate": estimate,
        "init": "baseline" if init_baseline else None, "n_estimators": trees, "early_stopping_rounds": early_stopping,
        "stop_on": stop_on, "checkpoint": checkpoint, "checkpoint_every": checkpoint_every, "random_state": seed,
        "engine": engine or (ENGINE if dask is None else ENGINES[1]),
    }  # fmt: skip
    engine_parameters = parameters(set_ or [], with_options={*chosen, "self"})
    if threads is not None:
        learner = engine_of(chosen["engine"])
        engine_parameters = merge_parameters(learner, engine_parameters, {learner.threads_parameter: threads})
    ranker = Ranker(**chosen, **engine_parameters)
    settings = TrainingSettings.from_ranker(ranker)  # what is wrong with them shows before anything is read
    if settings.objective.alpha > 0 and not settings.objective.needs_baseline:
        raise ArgumentError(
            f"--alpha {alpha:g} has no effect on --objective {objective}; give {either(RISK_OBJECTIVES)}"
        )
    if dask is not None:
        _fit_on_cluster(console, ranker, dask, data, valid, baseline or [], quiet)
        _save(console, ranker, output)
        return
    with busy("Reading data"):
        training = with_baselines(read_letor(data), baseline or [], data)
        validation = None
        if valid is not None:
            validation = with_baselines(read_like(valid, training.n_features), baseline or [], valid)
    _show_data(console, ranker, {"training": training, "validation": validation})
    with _growing(ranker, quiet) as progress:
        ranker.fit(training, valid=validation, progress=progress)
    _save(console, ranker, output)
    if validation is not None:
        assessment = _assess(ranker, validation)
        if html is not None:
            assessment.to_html(html)
        _show_assessment(console, assessment, html)


def _save(console: Console, ranker: Ranker, output: Path) -> None:
    ranker.save(output)
    console.print(visible(f"Saved {ranker.best_iteration_} trees to {output}/"))


def _fit_on_cluster(
    console: Console, ranker: Ranker, dask: str, data: Path, valid: Path | None, baseline: list[str], quiet: bool
) -> None:
    """Learn from parts that the cluster's machines read, and say how the model does on all of them."""
    from surefoot.learn.cluster.clusters import cluster
    from surefoot.learn.cluster.fit import fit_files

    with cluster(dask) as client, _growing(ranker, quiet) as progress:
        fit_files(ranker, client, data, valid, [*map(resolve_baseline, baseline)], progress)
    for which, name in (("train", "training"), ("valid", "validation")):
        figures = {figure: values[ranker.best_iteration_ - 1] for figure, values in ranker.history_[which].items()}
        shown = ", ".join(f"{figure} {short(value)}" for figure, value in figures.items())
        if shown:
            console.print(f"{name}: {shown}")


def _show_data(console: Console, ranker: Ranker, sets: dict[str, RankingData | None]) -> None:
    """What will be learned from, and how the baselines do on it."""
    import numpy as np
    from rich import box
    from rich.table import Table

    from surefoot.learn.prepared_data import MonitoredSet
    from surefoot.measures.notation import Measure

    measure = Measure.parse(ranker.measure)
    table = Table(
        title=f"Baselines' {measure} before training", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for heading in ("data", "baseline", "mean", "lowest", "quarter", "median", "three quarters", "queries at 0"):
        table.add_column(heading, justify="left" if heading in ("data", "baseline") else "right")
    for name, data in sets.items():
        if data is None:
            continue
        console.print(f"{name}: {len(data.queries):,} queries, {len(data):,} documents, {data.n_features:,} features")
        baselines = MonitoredSet(data, measure, None, None).baselines
        for which, values in zip(data.baselines, [] if baselines is None else list(baselines), strict=True):
            quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75])
            cells = [f"{value:.4f}" for value in (values.mean(), *quartiles)]
            table.add_row(name, visible(which), *cells, f"{(values == 0).sum():,}")
    if table.row_count:
        console.print(table)


@contextmanager
def _growing(ranker: Ranker, quiet: bool) -> Iterator[Progress | None]:
    """A live line of trees, effectiveness, risk and time left, where somebody looks on."""
    from rich.progress import TextColumn

    shown = is_watched(quiet)
    bar = new_bar(TextColumn("{task.fields[figures]}", markup=False), disable=not shown)
    with bar, stage("Growing trees", ranker.n_estimators) as told:
        task = bar.add_task("Growing trees", total=ranker.n_estimators, figures="")
        last = 0.0

        def progress(trees: int, history: dict[str, dict[str, list[float]]]) -> None:
            nonlocal last
            if time.monotonic() - last < 0.1 and trees < ranker.n_estimators:
                return
            last = time.monotonic()
            seen = history["valid"] or history["train"]
            figures = ", ".join(f"{name} {seen[name][-1]:.4f}" for name in ("effectiveness", "risk") if seen.get(name))
            bar.update(task, completed=trees, figures=figures)
            if told is not None:
                told.done, told.more = trees, figures

        yield progress if shown or told is not None else None


def _assess(ranker: Ranker, validation: RankingData) -> Assessment:
    """The model beside its baselines on the validation data, by the same code as `surefoot evaluate`."""
    from surefoot.measures.scoring import score
    from surefoot.report.assessment import assess

    name = "model" if "model" not in validation.baselines else "new model"
    runs = [validation.to_run(scores, baseline) for baseline, scores in validation.baselines.items()]
    runs.append(validation.to_run(ranker.predict(validation), name))
    names = list(validation.baselines) or [name]
    alphas = sorted({0.0, 1.0, 5.0, float(ranker.alpha or 0)})
    return assess(score(validation.qrels(), runs, ranker.measure), names[0] if len(names) == 1 else names, alphas)


def _show_assessment(console: Console, assessment: Assessment, html: Path | None) -> None:
    from surefoot.report.text import overview

    console.print("\nOn the validation data:")
    for part in overview([(assessment.by_measure()[0], assessment.rows())]):
        console.print(part)
    if html is not None:
        console.print(visible(f"The page is {html}"))
