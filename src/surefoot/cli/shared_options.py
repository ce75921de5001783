"""Options that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.printing import TableFormat, either
from surefoot.learn.baseline_spec import HELP as BASELINES
from surefoot.learn.options import ENGINES, NETWORK_ENGINE
from surefoot.measures.missing import MissingTreatment

_JUDGED_RUNS = "The judgments file, then the run files. NAME=FILE gives a run a name."

# What is read
JudgedRuns = Annotated[
    list[str],
    typer.Argument(metavar="QRELS RUN...", help=_JUDGED_RUNS, show_default=False),
]
OptionalJudgedRuns = Annotated[
    list[str] | None,
    typer.Argument(metavar="QRELS RUN...", help=_JUDGED_RUNS, show_default=False),
]
ScoreMatrixFile = Annotated[
    str | None,
    typer.Option(help="Not runs but a score matrix, or trec_eval -q output per system.", show_default=False),
]
MissingQueries = Annotated[
    MissingTreatment | None,
    typer.Option(
        help="What to do with a query that a system lacks.",
        show_default=f"{MissingTreatment.zero}; with --scores: {MissingTreatment.error}",
    ),
]
TrafficFile = Annotated[
    str | None,
    typer.Option(
        "--traffic", help="How often each query is asked: CSV or Parquet, query,count.",
        show_default=False,
    ),
]  # fmt: skip
ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder that `surefoot train` saved.")]
Baselines = Annotated[list[str] | None, typer.Option("-b", "--baseline", help=BASELINES, show_default=False)]

# Learning
OptimizedMeasure = Annotated[str, typer.Option("-m", "--measure", help="Measure to optimise.")]
Rule = Annotated[str, typer.Option(help="Risk change: exact or eq9 (Dinçer 2016).")]
EarlyStopping = Annotated[
    int | None, typer.Option(help="Stop after this many trees without improvement.", min=1, show_default=False)
]
EngineName = Annotated[
    str, typer.Option(help=f"The library that trains: {either(ENGINES)} for trees, {NETWORK_ENGINE} for networks.")
]
Threads = Annotated[
    int | None, typer.Option(help="Number of threads for training.", min=1, max=1024, show_default="one per core")
]

# What is written and printed
ResultJson = Annotated[Path | None, typer.Option("--json", help="Write the result as JSON.", show_default=False)]
JsonOrTerminal = Annotated[
    str | None, typer.Option("--json", help="Write JSON to a file, or - for the terminal.", show_default=False)
]
FlatMetrics = Annotated[
    str | None, typer.Option("--metrics", help="Write flat metrics for MLflow and DVC, as JSON.", show_default=False)
]
PrintedTable = Annotated[TableFormat, typer.Option("--format", help="The printed table.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite output, even models and other programs' files.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors.")]
