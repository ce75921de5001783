"""Options that several commands have, each declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from surefoot.arguments import LARGEST_SEED
from surefoot.cli.help_screen import EVERYWHERE, show_all
from surefoot.cli.option import FILE, NAME, argument, option
from surefoot.measures.missing import MissingTreatment

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
JsonPath = Annotated[str | None, option("--json", "The result as JSON; - prints it.", FILE)]
Csv = Annotated[str | None, option("--csv", "The figures as CSV; - prints them.", FILE)]
Latex = Annotated[str | None, option("--latex", "The table for LaTeX; - prints it.", FILE)]
Markdown = Annotated[str | None, option("--markdown", "The result as Markdown; - prints it.", FILE)]
Html = Annotated[str | None, option("--html", "A page to send round.", FILE)]
FlatMetrics = Annotated[str | None, option("--metrics", "Flat JSON for MLflow and DVC; - prints it.", FILE)]
LinkedPages = Annotated[list[str] | None, option("--link", "A page to link to from this one. Repeatable.", FILE)]
RunFile = Annotated[Path, option("-o --output", "The run: .run, .run.gz, .csv, .json, .parquet.", FILE)]
Force = Annotated[bool, option("--force", "Replace files and models that exist.")]
Quiet = Annotated[bool, option("-q --quiet", "Print only errors.")]
Seed = Annotated[int, option("--seed", "Same seed, same result.", min=0, max=LARGEST_SEED)]

_EVERYWHERE: dict[str, tuple[Any, Any]] = {"force": (Force, False), "quiet": (Quiet, False), "seed": (Seed, 0)}
_HelpAll = Annotated[
    bool,
    option("--help-all", "Show all options.", is_eager=True, callback=show_all),
]


def with_common_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of every command: those that it does not use itself change nothing."""
    signature, hints = inspect.signature(command), get_type_hints(command, include_extras=True)
    added = {name: _EVERYWHERE[name] for name in EVERYWHERE if name not in signature.parameters}
    added["help_all"] = (_HelpAll, False)

    @wraps(command)
    def run(**options: Any) -> None:
        command(**{name: value for name, value in options.items() if name not in added})

    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in added.items()
    ]
    own = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints.get(one.name, one.annotation))
        for one in signature.parameters.values()
    ]
    run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    run.__annotations__ = hints | {name: kind for name, (kind, _) in added.items()}
    return run
