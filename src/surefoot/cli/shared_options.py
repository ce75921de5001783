"""Options that several commands have, each declared once, and what makes a command of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from surefoot.arguments import LARGEST_SEED
from surefoot.cli.bar import progress_shown
from surefoot.cli.commands import HelpfulCommand, show_all
from surefoot.cli.option import FILE, NAME, OptionGroup, argument, option
from surefoot.measures import MissingTreatment

# What is read
_JUDGED_RUNS = "Judgments, then runs. NAME=FILE names a run."
JudgedRuns = Annotated[list[str], argument("QRELS RUN...", _JUDGED_RUNS)]
OptionalJudgedRuns = Annotated[list[str] | None, argument("QRELS RUN...", f"{_JUDGED_RUNS} Or one file of scores.")]
Live = Annotated[str | None, option("-b --baseline", "The live ranking: its name or its file.", NAME)]
CandidateName = Annotated[str | None, option("-c --candidate", "May replace it.", NAME, shown="the other run")]
GivenScores = Annotated[str | None, option("--scores", "This file and the others are scores, not runs.", FILE)]
MissingQueries = Annotated[
    MissingTreatment | None,
    option("--missing", "Query without results: zero, drop or error.", "WORD", shown=""),
]
TrafficFile = Annotated[str | None, option("--traffic", "How often each query is asked: query,count.", FILE)]
SampleFile = Annotated[str | None, option("--sample", "Draws, or CSV: query,stratum,share.", FILE)]
TextsFile = Annotated[str | None, option("--texts", "Texts of queries: id, tab, text; JSON; TREC.", FILE)]
DocumentsFile = Annotated[str | None, option("--documents", "Titles of documents, in the same formats.", FILE)]
ModelFolder = Annotated[Path, argument("MODEL", "Folder of a saved model.")]
Baselines = Annotated[list[str] | None, option("-b --baseline", "NAME=feature:25, a run or a model. Repeatable.", NAME)]
UNANSWERED = option("--unanswered", "Nothing to lose: leave-out, count.", "WORD", shown="")

# Learning
OptimizedMeasure = Annotated[str, option("-m --measure", "What to optimise.", NAME, shown="nDCG(exp)@10")]
Rule = Annotated[str, option("--rule", "Of risk: exact, or eq9.", "WORD")]
EarlyStopping = Annotated[int | None, option("--early-stopping", "Stop after N trees without improvement.", min=1)]
EngineParameters = Annotated[list[str] | None, option("--set", "A parameter of the engine. Repeatable.", "K=V")]
Threads = Annotated[int | None, option("--threads", "Threads for training.", min=1, max=1024, shown="all cores")]

# What is written and printed
Html = Annotated[str | None, option("--html", "A page to send round.", FILE)]
FlatMetrics = Annotated[str | None, option("--metrics", "Flat JSON for MLflow and DVC; - prints it.", FILE)]
RESULTS: dict[str, Any] = {  # of a result, by its kind
    "json": Annotated[str | None, option("--json", "The result as JSON; - prints it.", FILE)],
    "csv": Annotated[str | None, option("--csv", "The figures as CSV; - prints them.", FILE)],
    "latex": Annotated[str | None, option("--latex", "The table for LaTeX; - prints it.", FILE)],
    "markdown": Annotated[str | None, option("--markdown", "The result as Markdown; - prints it.", FILE)],
    "junit": Annotated[str | None, option("--junit", "JUnit XML for a build server; - prints it.", FILE)],
    "html": Html,
    "metrics": FlatMetrics,
}
LinkedPages = Annotated[list[str] | None, option("--link", "A page to link to from this one. Repeatable.", FILE)]
RunFile = Annotated[Path, option("-o --output", "The run: .run, .run.gz, .csv, .json, .parquet.", FILE)]
Force = Annotated[bool, option("--force", "Replace files and models that exist.")]
Quiet = Annotated[bool, option("-q --quiet", "Print only errors.")]
Seed = Annotated[int, option("--seed", "Same seed, same result.", min=0, max=LARGEST_SEED)]
_Command = Callable[..., None]
_HelpAll = Annotated[bool, option("--help-all", "Show all options.", is_eager=True, callback=show_all)]

EVERYWHERE: dict[str, tuple[Any, Any]] = {  # options of every command, the last ones of its help; each with its default
    "force": (Force, False), "quiet": (Quiet, False), "seed": (Seed, 0), "help_all": (_HelpAll, False),
}  # fmt: skip


def add_command(group: typer.Typer, name: str | None = None, *, bar: bool = True) -> Callable[[_Command], _Command]:
    """A decorator that puts a command below a group, with a bar for long work unless it shows more than that."""
    return lambda command: group.command(name, cls=HelpfulCommand)(with_common_options(command, bar=bar))


def with_common_options(command: _Command, *, bar: bool = True) -> _Command:
    """The command as Typer reads it: every option by itself, with those of every command.

    These change nothing where it does not use them. A parameter whose type is annotated with an `OptionGroup` stands
    for all options of that.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, OptionGroup] = {}
    own: dict[str, tuple[Any, Any]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        group = next((part for part in get_args(hints[name]) if isinstance(part, OptionGroup)), None)
        if group is None:
            own[name] = hints[name], parameter.default
        else:
            groups[name] = group
            own |= group.options
    options = EVERYWHERE | own

    @wraps(command)
    def run(**given: Any) -> None:
        values = {name: given[name] for name in hints if name in given}
        for name, group in groups.items():
            values[name] = group.make(**{option: given[option] for option in group.options})
        with progress_shown(given["quiet"]) if bar else nullcontext():
            command(**values)

    order = dict.fromkeys([*(name for name in own if not groups or name not in ("force", "quiet")), *EVERYWHERE])
    run.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=options[name][1], annotation=options[name][0])
        for name in order
    ])  # fmt: skip
    run.__annotations__ = {name: options[name][0] for name in order}
    return run
