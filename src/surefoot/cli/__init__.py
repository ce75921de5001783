"""The command line: `evaluate`, `train`, `rank`, `stability`, `demo`. Thin; one small file a command."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from typing import NoReturn

import typer

from surefoot import __version__
from surefoot.cli.demo import demo
from surefoot.cli.evaluate import evaluate
from surefoot.cli.rank import rank
from surefoot.cli.stability import stability
from surefoot.cli.train import train
from surefoot.errors import SurefootError, SurefootWarning, visible

app = typer.Typer(
    name="surefoot",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Tells whether a new ranking hurts anyone, and learns rankings that don't.",
)
app.command()(evaluate)
app.command()(train)
app.command()(rank)
app.command()(demo)
app.add_typer(stability)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"surefoot {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line; a mistake of the user's ends with its message and exit code 2, never a traceback."""
    warnings.simplefilter("always", SurefootWarning)
    warnings.showwarning = _show_warning
    try:
        if sys.stdout is None:
            raise OSError("it is closed; send it to a file")
        try:
            app()
        finally:
            sys.stdout.flush()  # a full disk shows only here
    except SurefootError as error:
        # Names of files and systems may hold anything; none may steer the terminal.
        _fail(2, *map(visible, str(error).split("\n")))
    except BrokenPipeError:
        _silence()  # the reader of our output (head, less) has gone: nothing to report
        sys.exit(0)
    except OSError as error:
        _silence()
        what = f"{error.filename}: cannot be used" if error.filename else "standard output cannot be written"
        _fail(2, visible(f"{what} ({error.strerror or error})"))
    except KeyboardInterrupt:
        _fail(130, "interrupted")


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    print("surefoot: warning:", visible(str(message)), file=sys.stderr)


def _fail(code: int, *lines: str) -> NoReturn:
    print("surefoot:", "\n".join(lines), file=sys.stderr)
    sys.exit(code)


def _silence() -> None:
    """Let what is left to print go nowhere, or Python would complain of it on its way out."""
    if sys.stdout is not None:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
