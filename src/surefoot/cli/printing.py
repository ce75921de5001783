"""Results on the terminal, or in the file or pipe that stands for it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType


class Form(StrEnum):
    """How a table of trade-offs is printed."""

    table = "table"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"


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


def deliver(
    result: Any,
    files: Mapping[str, Path | None],
    form: Form,
    tables: Callable[[dict[str, Any]], Sequence[RenderableType]],
    quiet: bool,
) -> None:
    """Write a result to the files that are asked for, by `html`, `json` and `csv`, and print it unless `quiet`."""
    for kind, path in files.items():
        if path is not None:
            getattr(result, f"write_{kind}")(path)
    if quiet:
        return
    if form is Form.table:
        show(tables(result.to_dict()))
    else:
        typer.echo(getattr(result, f"to_{form.value}")(), nl=False)


def command_line() -> str:
    """The command as it was typed, without the folders of files: these leak when a page is sent round."""
    from surefoot.data.reading.files import as_text

    def without_folders(argument: str) -> str:
        before, equals, after = argument.rpartition("=")  # NAME=FILE, --option=FILE
        in_folder = os.sep in after and Path(after).parent.is_dir()
        return f"{before}{equals}{Path(after).name}" if in_folder else argument

    return shlex.join(["surefoot", *(as_text(without_folders(argument)) for argument in sys.argv[1:])])


def either(names: Iterable[str]) -> str:
    """Names of which one is to be taken."""
    *others, last = names
    return f"{', '.join(others)} or {last}"
