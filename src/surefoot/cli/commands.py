"""The commands, gathered."""

from __future__ import annotations

from collections.abc import Callable

import typer

from surefoot import __version__
from surefoot.cli.agreement import agreement
from surefoot.cli.bar import with_bar
from surefoot.cli.check import check
from surefoot.cli.control import control
from surefoot.cli.convert import convert
from surefoot.cli.demo import demo
from surefoot.cli.doctor import doctor
from surefoot.cli.evaluate import evaluate
from surefoot.cli.explain import explain
from surefoot.cli.export import export
from surefoot.cli.fetch_run import fetch_run
from surefoot.cli.gate import gate
from surefoot.cli.help_screen import HelpfulCommand, HelpfulGroup
from surefoot.cli.history import history
from surefoot.cli.judge_next import judge_next
from surefoot.cli.make_log import make_log
from surefoot.cli.personalize import personalize
from surefoot.cli.rank import rank
from surefoot.cli.rerank import rerank
from surefoot.cli.select import select
from surefoot.cli.serve import serve
from surefoot.cli.stability import stability
from surefoot.cli.sweep import sweep
from surefoot.cli.train import train

app = typer.Typer(
    name="surefoot",
    cls=HelpfulGroup,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Find out whether a new ranking hurts users, and train rankings that do not.",
)
GROUPS: dict[str, tuple[Callable[..., None], ...]] = {  # by what people do
    "Measure": (evaluate, demo),
    "Learn": (train, rank, explain, personalize),
    "Choose": (sweep, select),
    "Decide": (gate, judge_next, agreement, control, history),
    "Deploy": (export, rerank, serve),
    "Data": (fetch_run, convert, check, make_log, doctor),
}
for panel, commands in GROUPS.items():
    for command in commands:
        run = command if command is sweep else with_bar(command)  # sweep shows more than a bar
        app.command(cls=HelpfulCommand, rich_help_panel=panel)(run)
app.add_typer(stability, rich_help_panel="Measure")


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"surefoot {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass
