"""The commands, gathered; each is loaded where it is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from surefoot import __version__
from surefoot.cli.help_screen import HelpfulGroup, helpful_group, show_all
from surefoot.cli.option import option

COMMANDS = {  # by what people do, each with the first line of its help
    "Compare": {
        "evaluate": "Measure what systems gain and risk against the live one.",
        "explain": "Say why a query got worse: which swaps, by which features.",
        "stability": "Show which measures, and choices by them, are stable.",
    },
    "Decide": {
        "gate": "Decide on a release: ship, stop, or judge more queries.",
        "judge": "Say what to judge next, and what an automatic judge is worth.",
        "guard": "Show a model only where its risk is proved to be low.",
        "history": "Show past releases, and queries that were hurt repeatedly.",
    },
    "Train": {
        "train": "Train a ranker that trades gain against risk.",
        "rank": "Rank with a saved model, a guard or a personal ranker.",
        "sweep": "Train many trade-offs on every fold, and compare them.",
        "select": "Choose a model of a sweep, and say why and how sure that is.",
    },
    "Deploy": {
        "export": "Export a model to a search engine, with what checks it there.",
        "serve": "Answer re-ranking requests over HTTP with a personal ranker.",
        "personalize": "Learn re-rankers from clicks, and choose one that risks little.",
    },
    "Data": {
        "fetch": "Ask a search service all queries, and write a run.",
        "convert": "Convert judgments or a run to another format.",
        "check": "Check policies, judgments, exports, or what is installed.",
        "demo": "Generate runs that harm some queries, and assess them.",
    },
}


class _Loaded(Mapping[str, TyperCommand | TyperGroup]):
    """All commands by name, each made where it is looked up.

    Typer reads the options of a command when it makes it, and for all of them that takes as long as many commands do.
    """

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(COMMANDS.values())

    def __len__(self) -> int:
        return sum(map(len, COMMANDS.values()))

    def __getitem__(self, name: str) -> Any:
        if name not in iter(self):
            raise KeyError(name)
        return _command(name)


@cache
def _command(name: str) -> Any:
    """A command, made of its function, or of the group that its module has."""
    command = getattr(import_module(f"surefoot.cli.{name}"), name)
    if isinstance(command, typer.Typer):
        return typer.main.get_command(command)
    from surefoot.cli.shared_options import add_command

    alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    add_command(alone, bar=name != "sweep")(command)  # sweep shows more than a bar
    return typer.main.get_command(alone)


class _Commands(HelpfulGroup):
    """The commands, of which the one that is called is made, and none for their list."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Loaded()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names; Typer's way would make all commands."""
        return [*self.commands]

    def listed(self, ctx: Any, name: str) -> TyperCommand:
        """What the list of commands shows of one."""
        panel = next(panel for panel, lines in COMMANDS.items() if name in lines)
        return TyperCommand(name, help=COMMANDS[panel][name], rich_help_panel=panel)


def application() -> typer.Typer:
    """The command line."""
    about = "Find out whether a new ranking hurts users, and train rankings that do not."
    app = helpful_group("surefoot", about, cls=_Commands, add_completion=True)
    app.callback()(_root)
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
