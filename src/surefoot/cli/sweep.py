"""`surefoot sweep`: train many trade-offs on every fold, compare them, and keep what is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from surefoot.arguments import comma_separated, parse_integers, parse_numbers
from surefoot.choose import options as choices
from surefoot.cli import shared_options as shared
from surefoot.cli.bar import is_watched, progress_lines, stage
from surefoot.cli.option import DIR, LIST, NAME, argument, json_or_text, option, parameters
from surefoot.cli.outputs import SWEEP_CSV, files_under
from surefoot.cli.printing import Delivery, results, show
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import baseline_files
from surefoot.learn.options import ENGINE, ENGINES, MEASURE, NETWORK_ENGINE, RISK_OBJECTIVES, RULE

if TYPE_CHECKING:
    from surefoot.choose.trainings import SweepProgress


_OBJECTIVES = f"{choices.OBJECTIVES[0]}, or of {', '.join(RISK_OBJECTIVES[1:])}."


def _joined(values: Iterable[object]) -> str:
    """Several values as an option takes them."""
    return ",".join(map(str, values))


def sweep(
    data: Annotated[Path, argument("DATA", "A folder of Fold*/train.txt, …, or one LETOR file.")],
    output: Annotated[Path, option("-o --output", "The sweep's folder; one that is there goes on.", DIR)],
    baseline: shared.Baselines = None,
    traffic: shared.TrafficFile = None,
    preset: Annotated[str | None, option("--preset", f"{', '.join(choices.PRESETS)}.", "WORD")] = None,
    objective: Annotated[str | None, option("--objective", _OBJECTIVES, LIST, shown="")] = None,
    alpha: Annotated[str | None, option("-a --alpha", "Values of α.", LIST, shown=_joined(choices.ALPHAS))] = None,
    seeds: Annotated[str | None, option("--seeds", "Random seeds, as 0,1.", LIST, shown=_joined(choices.SEEDS))] = None,
    trees: Annotated[
        str | None, option("--trees", "Or several, as 50,100.", LIST, shown=str(choices.DEFAULT_TREES))
    ] = None,
    epochs: Annotated[
        str | None, option("--epochs", "Of networks, as 50,100.", LIST, shown=str(choices.DEFAULT_TREES))
    ] = None,
    set_: Annotated[list[str] | None, option("--set", "Engine parameter, as num_leaves=10,50.", "K=V")] = None,
    tune: Annotated[str | None, option("--tune", f"{', '.join(choices.TUNINGS)}.", "WORD", shown=choices.TUNE)] = None,
    measure: shared.OptimizedMeasure = MEASURE,
    folds: Annotated[int, option("--folds", "Folds of a single file.", min=choices.FEWEST_FOLDS)] = choices.FOLDS,
    learn_baselines: Annotated[bool, option("--learn-baselines", "Train four baselines on held-out queries.")] = False,
    held_out: Annotated[
        float | None,
        option("--held-out", "Share or number for these.", min=0, shown=str(choices.HELD_OUT)),
    ] = None,
    selective: Annotated[str | None, option("--selective", "Also re-rank selectively, as by mean:25.", NAME)] = None,
    strategies: Annotated[
        str | None, option("--strategies", "Blend: gain or all models.", "WORD", shown="gain")
    ] = None,
    choose_by: Annotated[str | None, option("--choose-by", "validation or cross-validation.", "WORD")] = None,
    rule: shared.Rule = RULE,
    early_stopping: shared.EarlyStopping = None,
    engine: Annotated[str, option("--engine", ", ".join((*ENGINES, NETWORK_ENGINE)), "WORD")] = ENGINE,
    workers: Annotated[int | None, option("--workers", "Processes.", min=1, shown="one per core")] = None,
    threads: Annotated[int, option("--threads", "Threads of each process.", min=1)] = 1,
    *,
    delivery: Annotated[Delivery, results("html json csv latex markdown metrics", csv=SWEEP_CSV)],
) -> None:
    """Train many trade-offs on every fold, and compare them.

    **Example:** `surefoot sweep MQ2008/ -b bm25=feature:25 --objective u_risk,faro -o sweep/ --html t.html`
    """
    files = [*baseline_files(baseline or []), traffic]
    delivery.check([*files_under(data), output / choices.PLAN_FILE, output / choices.RESULT_FILE, *files])
    from surefoot.choose.plan import TREES_PARAMETER
    from surefoot.choose.sweep import sweep as run_sweep
    from surefoot.choose.tables import tables

    grid = parameters(set_ or [], {TREES_PARAMETER, "self"}, _values)
    option, rounds = ("--epochs", epochs) if engine == NETWORK_ENGINE else ("--trees", trees)
    if (trees if engine == NETWORK_ENGINE else epochs) is not None:
        other = (
            "--trees is for trees"
            if engine == NETWORK_ENGINE
            else f"--epochs is for networks, of --engine {NETWORK_ENGINE}"
        )
        raise ArgumentError(f"{other}; with --engine {engine}, give {option}")
    if rounds is not None:
        grid[TREES_PARAMETER] = parse_integers(rounds, option)
    settings: dict[str, Any] = {
        "objectives": None if objective is None else comma_separated(objective),
        "alphas": None if alpha is None else parse_numbers(alpha, "--alpha"),
        "seeds": None if seeds is None else parse_integers(seeds, "--seeds"),
        "grid": grid or None, "tune": tune, "held_out": held_out, "selective": selective,
        "learn_baselines": learn_baselines or None, "strategies": strategies, "choose_by": choose_by,
        "traffic": traffic,
    }  # fmt: skip
    with _live(delivery.quiet) as on_progress:
        result = run_sweep(
            data, output, baselines=baseline or [], preset=preset, workers=workers, threads=threads,
            on_progress=on_progress, engine=engine, measure=measure, folds=folds, rule=rule,
            early_stopping_rounds=early_stopping,
            **{name: value for name, value in settings.items() if value is not None},
        )  # fmt: skip
    delivery.finish(result, lambda: show(tables(result.to_dict())), [data, *files])
    failures = result.to_dict()["failures"]
    if failures:
        messages = "; ".join(f"{failure['name']}: {failure['message']}" for failure in failures[:5])
        raise ArgumentError(
            f"{len(failures)} training runs failed ({messages}). The other results are in {output}. Run the same "
            "command again to retry the failed ones"
        )


def _values(text: str) -> list[Any]:
    """The values of a parameter: a JSON list, or one or several with commas between."""
    value = json_or_text(text)
    return value if isinstance(value, list) else [json_or_text(part) for part in text.split(",")]


@contextmanager
def _live(quiet: bool) -> Iterator[Callable[[SweepProgress], None] | None]:
    """A table of what was trained last and what is being trained, and the time left, while the sweep runs."""
    if not is_watched(quiet):
        with progress_lines(quiet), stage("Training", None) as training_stage:
            yield None if training_stage is None else lambda state: setattr(training_stage, "more", _head(state))
        return
    from rich.live import Live

    from surefoot.report.tables import plain_console

    with Live(console=plain_console(stderr=True), transient=True, refresh_per_second=4) as live:
        yield lambda state: live.update(_progress(state))


def _progress(state: SweepProgress) -> Any:
    from rich import box
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("trained", overflow="fold")
    table.add_column("seconds", justify="right")
    for name, seconds in state.last[-8:]:
        table.add_row(Text(visible(name)), f"{seconds:.1f}")
    for name in state.running:
        table.add_row(Text(visible(name), style="dim"), "…")
    return Group(Text(_head(state)), ProgressBar(total=max(1, state.total), completed=state.done, width=60), table)


def _head(state: SweepProgress) -> str:
    """How far a sweep has come, in a line."""
    left = "" if state.left is None else f", about {_duration(state.left)} left"
    failed = f", {len(state.failures)} failed" if state.failures else ""
    return (
        f"{state.done} of {state.total} training runs done, {state.resumed} of them from an earlier start{failed}{left}"
    )


def _duration(seconds: float) -> str:
    """A time in words that a glance takes in.

    >>> _duration(42.3), _duration(150), _duration(9000)
    ('42 s', '2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
