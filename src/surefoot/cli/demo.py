"""`surefoot demo`: made-up data in which it is known what is true: runs, clicks, and judges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.bar import with_bar
from surefoot.cli.demo_clicks import demo_clicks
from surefoot.cli.demo_judges import files_of_judges, show_judges
from surefoot.cli.demo_runs import show_runs, typed_name, voice
from surefoot.cli.help_screen import HelpfulCommand, helpful_group
from surefoot.cli.option import DIR, option
from surefoot.cli.outputs import OutputFolder, check_outputs
from surefoot.cli.shared_options import Force, Quiet, Seed, with_common_options
from surefoot.cli.signatures import DEMO, PAGE
from surefoot.errors import ArgumentError

demo = helpful_group(
    "demo",
    "Generate runs that harm some queries, and assess them.\n\n**Example:** `surefoot demo -o surefoot-demo`",
    invoke_without_command=True,
)
demo.command("clicks", cls=HelpfulCommand)(with_common_options(with_bar(demo_clicks)))

_Folder = Annotated[Path, option("-o --output", "The folder to write.", DIR)]
_Queries = Annotated[int, option("--queries", "Queries to generate.", min=2, max=100_000)]
_FOLDER = Path("surefoot-demo")


@demo.callback()
@with_common_options
@with_bar
def _demo(
    context: typer.Context,
    output: _Folder = _FOLDER,
    queries: _Queries = 200,
    seed: Seed = 0,
    learn: Annotated[bool, option("--learn/--no-learn", "Train two rankers, too, or not.")] = True,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    if context.invoked_subcommand is None:
        show_runs(output, queries, seed, learn, force, quiet)
        return
    word = context.invoked_subcommand
    given = [
        name for name in context.params if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    if given:
        raise ArgumentError(f"options stand after {word}: surefoot demo {word} --{given[0]} …")


@demo.command("judges", cls=HelpfulCommand)
@with_common_options
@with_bar
def _demo_judges(
    output: _Folder = _FOLDER, queries: _Queries = 200, seed: Seed = 0, force: Force = False, quiet: Quiet = False
) -> None:
    """Generate people's and automatic judgments, and decide with each.

    **Example:** `surefoot demo judges -o surefoot-demo`
    """
    inside = dict.fromkeys(files_of_judges(), DEMO) | {"agreement.html": PAGE}
    check_outputs([OutputFolder("--output", output, inside=inside)], [], force)
    show_judges(voice(quiet), output, queries, seed, typed_name())
