"""Options that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.printing import TableFormat, either
from surefoot.learn.baseline_spec import HELP as BASELINES
from surefoot.learn.options import ENGINES
from surefoot.measures.missing import Missing

# What is read
JudgedRuns = Annotated[
    list[str],
    typer.Argument(metavar="QRELS RUN...", help="Judgments, then runs; NAME=FILE names a run.", show_default=False),
]
OptionalJudgedRuns = Annotated[
    list[str] | None,
    typer.Argument(metavar="QRELS RUN...", help="Judgments, then runs; NAME=FILE names a run.", show_default=False),
]
ScoreMatrix = Annotated[
    str | None,
    typer.Option(help="A score matrix in place of runs: CSV or Parquet, the query first.", show_default=False),
]
MissingQueries = Annotated[
    Missing | None,
    typer.Option(
        help="A judged query that a run lacks counts zero, is dropped, or is an error.", show_default=Missing.zero
    ),
]
ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder that `surefoot train` saved.")]
Baselines = Annotated[list[str] | None, typer.Option("-b", "--baseline", help=BASELINES, show_default=False)]

# Learning
OptimizedMeasure = Annotated[str, typer.Option("-m", "--measure", help="What to optimise.")]
Rule = Annotated[str, typer.Option(help="exact (Wang 2012) or eq9 (Dinçer 2016).")]
EarlyStopping = Annotated[
    int | None, typer.Option(help="Stop after so many trees without progress.", min=1, show_default=False)
]
Engine = Annotated[str, typer.Option(help=f"Who grows the trees: {either(ENGINES)}.")]
Threads = Annotated[
    int | None, typer.Option(help="Threads of the learner.", min=1, max=1024, show_default="as many as cores")
]

# What is written and printed
ResultJson = Annotated[Path | None, typer.Option("--json", help="Write the result.", show_default=False)]
JsonOrTerminal = Annotated[
    str | None, typer.Option("--json", help="Write JSON to a file, or - for the terminal.", show_default=False)
]
PrintedTable = Annotated[TableFormat, typer.Option("--format", help="How the table is printed.")]
Force = Annotated[bool, typer.Option("--force", help="Also replace models, and files without surefoot's mark.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")]
