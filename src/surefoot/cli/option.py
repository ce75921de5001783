"""An option of a command in one line: its names, its text, and the word for what it takes."""

from __future__ import annotations

from typing import Any

import typer

FILE, DIR, NAME, LIST = "FILE", "DIR", "NAME", "A,B"  # words for what an option takes


def option(names: str, text: str, metavar: str | None = None, *, shown: str | None = None, **settings: Any) -> Any:
    """An option with these names, as in "-b --baseline"; `shown` is the default in words.

    A text and its default fit on one line of 46 letters, and a metavar has 5 at most: tests/cli/test_help.py.
    """
    return typer.Option(
        *names.split(), help=text, metavar=metavar, show_default=True if shown is None else shown, **settings
    )


def argument(metavar: str, text: str) -> Any:
    """What stands on the command line without a name."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)
