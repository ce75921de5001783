"""The commands, gathered."""

from __future__ import annotations

import typer

from surefoot import __version__
from surefoot.cli.bar import with_bar
from surefoot.cli.check import check
from surefoot.cli.control import control
from surefoot.cli.convert import convert
from surefoot.cli.demo import demo
from surefoot.cli.doctor import doctor
from surefoot.cli.evaluate import evaluate
from surefoot.cli.export import export
from surefoot.cli.gate import gate
from surefoot.cli.judge_next import judge_next
from surefoot.cli.make_log import make_log
from surefoot.cli.personalize import personalize
from surefoot.cli.rank import rank
from surefoot.cli.select import select
from surefoot.cli.stability import stability
from surefoot.cli.sweep import sweep
from surefoot.cli.train import train

app = typer.Typer(
    name="surefoot",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Tells whether a new ranking hurts anyone, and learns rankings that don't.",
)
for command in (
    evaluate, train, rank, export, select, gate, judge_next, control, personalize, make_log, convert, check, demo,
    doctor,
):  # fmt: skip
    app.command()(with_bar(command))
app.command()(sweep)  # it shows more than a bar
app.add_typer(stability)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"surefoot {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass
