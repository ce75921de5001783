"""The commands, gathered; each is loaded where it is called."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from surefoot import __version__
from surefoot.cli.bar import with_bar
from surefoot.cli.help_screen import GROUPS, HelpfulCommand, helpful_group, show_all
from surefoot.cli.option import option
from surefoot.cli.shared_options import with_common_options


def application(arguments: Sequence[str] = ()) -> typer.Typer:
    """The command line with the command that the arguments begin with; where they begin with none, with all.

    Typer reads the options of each command it has before it runs one, and for all of them that takes as long as
    many commands do. Help, completion and the answer to a misspelt name need all.
    """
    app = helpful_group("surefoot", "Find out whether a new ranking hurts users, and train rankings that do not.")
    app.callback()(_root)
    called = {name for names in GROUPS.values() for name in names}.intersection(arguments[:1])
    for panel, names in GROUPS.items():
        for name in names:
            if called and name not in called:
                continue
            command = getattr(import_module(f"surefoot.cli.{name}"), name)
            if isinstance(command, typer.Typer):
                app.add_typer(command, rich_help_panel=panel)
            else:
                run = command if name == "sweep" else with_bar(command)  # sweep shows more than a bar
                app.command(cls=HelpfulCommand, rich_help_panel=panel)(with_common_options(run))
    return app


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"surefoot {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[bool, option("--version", "Show the version.", callback=_version, is_eager=True)] = False,
    help_all: Annotated[bool, option("--help-all", "Show all options.", callback=show_all, is_eager=True)] = False,
) -> None:
    pass
