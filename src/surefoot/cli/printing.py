"""Results on the terminal, or in the file or pipe that stands for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

TERMINAL = "-"  # as the name of an output
_WIDTH = 130


def show(parts: Sequence[RenderableType]) -> None:
    """Print tables and texts."""
    from surefoot.report.text import plain_console, rendered

    if sys.stdout.isatty():
        console = plain_console()
        for part in parts:
            console.print(part)
    else:
        # A file or pipe has no width of its own; the tables' own is readable there.
        width = os.environ.get("COLUMNS", "")
        typer.echo(rendered(parts, int(width) if width.isdecimal() and int(width) else _WIDTH))


def either(names: Sequence[str]) -> str:
    """Names of which one is to be taken."""
    return f"{', '.join(names[:-1])} or {names[-1]}"
