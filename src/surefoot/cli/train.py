"""`surefoot train`: learn a ranker from LETOR data, and assess it on validation data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from surefoot.cli import shared_options as shared
from surefoot.cli.bar import is_watched, new_bar, stage
from surefoot.cli.model_assessment import score_model, show_model
from surefoot.cli.option import DIR, FILE, NAME, argument, option, parameters
from surefoot.cli.outputs import CARD, CHECKPOINT, METRICS, PAGE, Output, OutputModel, check_outputs, files_under
from surefoot.cli.printing import either
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import baseline_files, resolve_baseline
from surefoot.learn.model_files import checkpoint_paths, is_model_file, model_files
from surefoot.learn.options import (
    CHECKPOINT_EVERY,
    ENGINE,
    ENGINES,
    ESTIMATE,
    MEASURE,
    NETWORK_ENGINE,
    OBJECTIVE,
    OBJECTIVES,
    RISK_OBJECTIVES,
    RULE,
    STOP_ON,
)
from surefoot.progress import busy
from surefoot.report.notes import effective_words, traffic_percent
from surefoot.report.numbers import short

if TYPE_CHECKING:
    from rich.console import Console

    from surefoot.data.reading.traffic import Traffic
    from surefoot.data.types.ranking_data import RankingData
    from surefoot.learn.ranker import Ranker
    from surefoot.learn.training import Progress
    from surefoot.neural.loading import AnyRanker
    from surefoot.neural.ranker import NeuralRanker


_TREES = 300


def train(
    data: Annotated[Path, argument("TRAIN", "LETOR text or Parquet; with --dask a folder of parts.")],
    output: Annotated[Path, option("-o --output", "The model's folder.", DIR)],
    valid: Annotated[Path | None, option("--valid", "Validation data.", FILE)] = None,
    baseline: shared.Baselines = None,
    traffic: shared.TrafficFile = None,
    objective: Annotated[str, option("--objective", ", ".join(OBJECTIVES), "WORD", shown="")] = OBJECTIVE,
    alpha: Annotated[float | None, option("-a --alpha", "Losses count 1 + α times; for risk objectives.")] = None,
    measure: shared.OptimizedMeasure = MEASURE,
    trees: Annotated[int | None, option("--trees", "Number of trees.", min=1, shown=str(_TREES))] = None,
    epochs: Annotated[int | None, option("--epochs", "Passes of networks.", min=1, shown="100")] = None,
    models: Annotated[int, option("--models", "Save the mean of N models.", min=1)] = 1,
    early_stopping: shared.EarlyStopping = None,
    stop_on: Annotated[str, option("--stop-on", "Or as u_risk@5.", NAME)] = STOP_ON,
    rule: shared.Rule = RULE,
    estimate: Annotated[str, option("--estimate", "s_x of each or first tree.", "WORD")] = ESTIMATE,
    init_baseline: Annotated[bool, option("--init-baseline", "Start from the baseline's scores.")] = False,
    init_model: Annotated[Path | None, option("--init-model", "Go on from this model, with this data.", DIR)] = None,
    set_: shared.EngineParameters = None,
    engine: Annotated[
        str | None, option("--engine", ", ".join((*ENGINES, NETWORK_ENGINE)) + ".", "WORD", shown="")
    ] = None,
    dask: Annotated[str | None, option("--dask", "A cluster: the scheduler's, or local:N.", "ADDR")] = None,
    threads: shared.Threads = None,
    seed: Annotated[int, option("--seed", "Same seed, same model.")] = 0,
    checkpoint: Annotated[
        Path | None, option("--checkpoint", "Save the state; the same command goes on.", FILE)
    ] = None,
    checkpoint_every: Annotated[int, option("--checkpoint-every", "Trees between two.", min=1)] = CHECKPOINT_EVERY,
    html: shared.Html = None,
    metrics: shared.FlatMetrics = None,
    card: Annotated[Path | None, option("--card", "A model card (Markdown).", FILE)] = None,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Train a ranker that trades gain against risk.

    **Example:** `surefoot train train.txt -b bm25=feature:25 --objective u_risk --alpha 5 -o model/`
    """
    ranker_arguments: dict[str, Any] = {
        "objective": objective, "alpha": alpha, "measure": measure, "rule": rule, "estimate": estimate,
        "init": "baseline" if init_baseline else None, "n_estimators": trees or _TREES,
        "early_stopping_rounds": early_stopping, "stop_on": stop_on, "checkpoint": checkpoint,
        "checkpoint_every": checkpoint_every, "random_state": seed,
        "engine": engine or (ENGINE if dask is None else ENGINES[1]), "n_models": models,
    }  # fmt: skip
    engine_parameters = parameters(set_ or [], names_with_own_option={*ranker_arguments, "self"})
    states = checkpoint_paths(checkpoint, 1 if engine == NETWORK_ENGINE else models)  # networks have one for all
    check_outputs(
        [
            OutputModel("--output", output, is_own_file=is_model_file),
            *(Output("--checkpoint", each, CHECKPOINT) for each in states),
            Output("--html", html, PAGE),
            Output("--metrics", metrics, METRICS),
            Output("--card", card, CARD),
        ],
        [
            *files_under(data),
            *([] if valid is None else files_under(valid)),
            *baseline_files(baseline or []),
            traffic,
            *([] if init_model is None else model_files(init_model)),
        ],
        force,
    )
    from surefoot.data.reading.traffic import read_traffic
    from surefoot.learn.settings import TrainingSettings
    from surefoot.report.tables import plain_console

    console = plain_console(quiet=quiet)
    _refuse_together(dask, init_model, html, metrics, valid, early_stopping)
    if objective in RISK_OBJECTIVES and not baseline:
        raise ArgumentError(f"--objective {objective} needs a baseline; add --baseline, such as --baseline feature:25")
    if objective in RISK_OBJECTIVES and alpha is None:
        raise ArgumentError(f"--objective {objective} needs --alpha: each loss counts 1 + α times, such as --alpha 5")
    ranker: Any
    if engine == NETWORK_ENGINE:
        ranker = make_network(
            ranker_arguments, epochs, trees, dask, threads, init_model, card, traffic, engine_parameters
        )
        optimised = ranker.check_settings().loss.objective
    elif epochs is not None:
        raise ArgumentError(f"--epochs is for networks, of --engine {NETWORK_ENGINE}; trees have --trees")
    else:
        ranker = _make_trees(ranker_arguments, threads, engine_parameters)
        optimised = TrainingSettings.from_ranker(ranker).objective  # what is wrong shows before anything is read
    if optimised.alpha > 0 and not optimised.needs_baseline:
        raise ArgumentError(
            f"--alpha {alpha:g} has no effect with --objective {objective}; use --objective {either(RISK_OBJECTIVES)}"
        )
    if optimised.needs_baseline and not baseline:
        raise ArgumentError(f"--alpha {alpha:g} weighs losses against a baseline; give --baseline, such as feature:25")
    weights = None if traffic is None else read_traffic(traffic)
    if dask is not None:
        _fit_on_cluster(console, ranker, dask, data, valid, baseline or [], weights, quiet)
        _save(console, ranker, output)
        _write_card(ranker, None, card, output, valid)
        return
    training, validation = _read_data(data, valid, baseline or [], weights)
    show_data(console, ranker, {"training": training, "validation": validation})
    with _growing(ranker, quiet) as progress:
        start = {} if init_model is None else {"init_model": init_model}  # networks have no such argument
        ranker.fit(training, valid=validation, progress=progress, **start)
    _save(console, ranker, output)
    _write_card(ranker, validation, card, output, valid)
    if validation is not None:
        inputs = [data, valid, *baseline_files(baseline or []), traffic]
        scores = score_model(ranker, validation, traffic=weights)
        show_model(console, scores, ranker.alpha, html, inputs, metrics=metrics, validation=True)


def _read_data(
    data: Path, valid: Path | None, baseline: list[str], weights: Traffic | None
) -> tuple[RankingData, RankingData | None]:
    """Training and validation data, with their baselines and, where there is traffic, the weights of their queries."""
    from surefoot.data.letor.files import read_letor
    from surefoot.learn.baseline_spec import read_like, with_baselines
    from surefoot.learn.inputs import weighted_data

    with busy("Reading data"):
        training = with_baselines(read_letor(data), baseline, data)
        validation = None
        if valid is not None:
            validation = with_baselines(read_like(valid, training.n_features), baseline, valid)
            validation = weighted_data(validation, weights, "the validation data")
        return weighted_data(training, weights), validation


def _refuse_together(
    dask: str | None, init_model: Path | None, html: str | None, metrics: str | None, valid: Path | None,
    early_stopping: int | None,
) -> None:  # fmt: skip
    """Refuse options that do not go together, or of which one needs another."""
    if init_model is not None and dask is not None:
        raise ArgumentError("--init-model is for one machine; leave out --dask")
    assessed = "--html" if html is not None else "--metrics" if metrics is not None else None
    if assessed is not None and dask is not None:
        raise ArgumentError(
            f"{assessed} is not possible with --dask, because it needs the validation data on this machine; use "
            "surefoot rank and surefoot evaluate instead"
        )
    if assessed is not None and valid is None:
        raise ArgumentError(f"{assessed} shows the assessment on validation data; add --valid FILE")
    if early_stopping is not None and valid is None:
        raise ArgumentError("--early-stopping needs validation data; add --valid FILE")


def _make_trees(ranker_arguments: dict[str, Any], threads: int | None, parameters: dict[str, Any]) -> Ranker:
    """A `Ranker` of the options."""
    from surefoot.learn.engines.contract import engine_of, merge_parameters
    from surefoot.learn.ranker import Ranker

    if threads is not None:
        learner = engine_of(ranker_arguments["engine"])
        parameters = merge_parameters(learner, parameters, {learner.threads_parameter: threads})
    return Ranker(**ranker_arguments, **parameters)


def _save(console: Console, ranker: AnyRanker, output: Path) -> None:
    ranker.save(output)
    show_weights(console, ranker)
    if not hasattr(ranker, "booster_"):
        console.print(visible(f"{_kept_epochs(ranker)} to {output}/"))
        return
    for part in ranker.models_:
        best = "" if part["best_score"] is None else f", {ranker.stop_on} {short(part['best_score'])} at best"
        console.print(f"seed {part['random_state']}: {part['trees']} trees{best}")
    if ranker.models_:
        console.print(
            visible(
                f"Saved the mean of {len(ranker.models_)} models as one of {ranker.best_iteration_} trees to {output}/"
            )
        )
        return
    console.print(visible(f"Saved {ranker.best_iteration_} trees to {output}/"))


def _kept_epochs(ranker: Any) -> str:
    """Which epochs a network was saved of, and how many were trained."""
    trained = max((len(values) for values in ranker.history_["train"].values()), default=ranker.epochs)
    best = [f"{epoch}" for epoch in ranker.best_iterations_]
    if len(best) == 1:
        return f"Saved the network after epoch {best[0]} of {trained}"
    return f"Saved {len(best)} networks, after epochs {', '.join(best)} of {trained},"


def _write_card(ranker: Ranker, data: RankingData | None, card: Path | None, output: Path, valid: Path | None) -> None:
    if card is not None:
        from surefoot.data.writing.all_or_nothing import write_text

        judged_by = "" if valid is None else f"{valid.name}, the validation data"
        write_text(card, ranker.card(data, name=output.resolve().name, dataset=judged_by))


def _fit_on_cluster(
    console: Console, ranker: Ranker, dask: str, data: Path, valid: Path | None, baseline: list[str],
    traffic: Traffic | None, quiet: bool,
) -> None:  # fmt: skip
    """Learn from parts that the cluster's machines read, and say how the model does on all of them."""
    from surefoot.learn.cluster.clusters import cluster
    from surefoot.learn.cluster.fit import fit_files

    with cluster(dask) as client, _growing(ranker, quiet) as progress:
        fit_files(ranker, client, data, valid, [*map(resolve_baseline, baseline)], progress, traffic)
    for which, name in (("train", "training"), ("valid", "validation")):
        figures = {figure: values[ranker.best_iteration_ - 1] for figure, values in ranker.history_[which].items()}
        words = ", ".join(f"{figure} {short(value)}" for figure, value in figures.items())
        if words:
            console.print(f"{name}: {words}")


@contextmanager
def _growing(ranker: AnyRanker, quiet: bool) -> Iterator[Progress | None]:
    """A live line of trees, effectiveness, risk and time left, where somebody looks on."""
    from rich.progress import TextColumn

    watched = is_watched(quiet)
    bar = new_bar(TextColumn("{task.fields[figures]}", markup=False), disable=not watched)
    epochs: int | None = getattr(ranker, "epochs", None)
    what, total = "Training, in epochs", epochs or getattr(ranker, "n_estimators", 1) * ranker.n_models
    if epochs is None:
        what = "Growing trees"
    with bar, stage(what, total) as growing_stage:
        task = bar.add_task(what, total=total, figures="")
        last = 0.0

        def progress(done: int, history: dict[str, dict[str, list[float]]]) -> None:
            nonlocal last
            if time.monotonic() - last < 0.1 and done < total:
                return
            last = time.monotonic()
            seen = history["valid"] or history["train"]
            figures = ", ".join(f"{name} {seen[name][-1]:.4f}" for name in ("effectiveness", "risk") if seen.get(name))
            bar.update(task, completed=done, figures=figures)
            if growing_stage is not None:
                growing_stage.done, growing_stage.more = done, figures

        yield progress if watched or growing_stage is not None else None


_SHARED = (
    "objective", "alpha", "measure", "rule", "early_stopping_rounds", "stop_on", "checkpoint", "checkpoint_every",
    "random_state", "n_models",
)  # fmt: skip


def make_network(
    ranker_arguments: dict[str, Any], epochs: int | None, trees: int | None, dask: str | None, threads: int | None,
    init_model: object, card: object, traffic: object, parameters: dict[str, Any],
) -> NeuralRanker:  # fmt: skip
    """A `NeuralRanker` of the options of `train`; those that only trees have are refused."""
    from surefoot.neural.libraries import torch
    from surefoot.neural.ranker import NeuralRanker

    for name, given in (
        ("--trees", trees is not None),
        ("--estimate", ranker_arguments["estimate"] != ESTIMATE),
        ("--init-baseline", ranker_arguments["init"] is not None),
        ("--init-model", init_model is not None),
        ("--card", card is not None),
        ("--traffic", traffic is not None),
        ("--dask", dask is not None),
    ):
        if given:
            hint = "; give --epochs" if name == "--trees" else ""
            raise ArgumentError(f"{name} is for trees, and --engine torch trains a network{hint}")
    ranker = NeuralRanker(**{name: ranker_arguments[name] for name in _SHARED})
    if epochs is not None:
        ranker.epochs = epochs
    ranker.set_params(**parameters)
    ranker.check_settings()
    if threads is not None:
        torch.set_num_threads(threads)
    return ranker


def show_weights(console: Console, ranker: AnyRanker) -> None:
    """How training queries counted, where they did not all count the same."""
    weights = getattr(ranker, "traffic_", None)
    if weights is not None:
        console.print(
            f"weights: {weights['queries']:,} training queries with {traffic_percent(weights['traffic_share'])} of the "
            f"traffic count as much as {effective_words(weights['effective_queries'])} that are asked equally often"
        )


def show_data(console: Console, ranker: AnyRanker, sets: dict[str, RankingData | None]) -> None:
    """What will be learned from, and how the baselines do on it."""
    import numpy as np
    from rich import box
    from rich.table import Table

    from surefoot.learn.training_weights import relative_or_none
    from surefoot.measures.notation import Measure
    from surefoot.measures.scoring import score
    from surefoot.risk.vectors import weighted_mean

    measure = Measure.parse(ranker.measure)
    table = Table(
        title=f"Baselines' {measure} before training", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for heading in ("data", "baseline", "mean", "lowest", "quarter", "median", "three quarters", "queries at 0"):
        table.add_column(heading, justify="left" if heading in ("data", "baseline") else "right")
    for name, data in sets.items():
        if data is None:
            continue
        unasked = 0 if data._weighting is None else len(data._weighting.left_out)
        left_out = f"; without traffic, and left out: {unasked:,}" if unasked else ""
        size = f"{len(data.queries):,} queries, {len(data):,} documents, {data.n_features:,} features"
        console.print(f"{name}: {size}{left_out}")
        weights = relative_or_none(data._weighting)
        runs = [data.to_run(scores, which) for which, scores in data.baselines.items()]
        for which, values in zip(
            data.baselines, score(data.qrels(), runs, measure).values if runs else [], strict=True
        ):
            quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75])
            cells = [f"{value:.4f}" for value in (weighted_mean(values, weights), *quartiles)]
            table.add_row(name, visible(which), *cells, f"{(values == 0).sum():,}")
    if table.row_count:
        console.print(table)
