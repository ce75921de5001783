"""Results in the files that a command names, and on the terminal, or the file or pipe in its place."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from surefoot.errors import ArgumentError

if TYPE_CHECKING:
    from rich.console import RenderableType


class TableFormat(StrEnum):
    """How a table of trade-offs or of personalization is printed."""

    table = "table"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"


TERMINAL = "-"  # as the name of an output
TABLE = "table"  # what is printed by default
_WIDTH = 130  # letters of a line, in a file or pipe


def show(parts: Sequence[RenderableType]) -> None:
    """Print tables and texts."""
    from surefoot.report.text import plain_console, rendered

    if sys.stdout.isatty():
        console = plain_console()
        for part in parts:
            console.print(part)
    else:
        width = os.environ.get("COLUMNS", "")
        typer.echo(rendered(parts, int(width) if width.isdecimal() and int(width) else _WIDTH))


class Printing(NamedTuple):
    """What a command prints of a result: a kind such as `table` or `json`, and whether it does so when quiet too."""

    kind: str = TABLE
    always: bool = False


def printing_of(files: Mapping[str, str | None], format_: str | None = None) -> Printing:
    """What is printed: what `--format` names, or the one output, by its option's name, that is sent to `-`."""
    to_terminal = {kind: f"--{kind} -" for kind, path in files.items() if path == TERMINAL}
    options = to_terminal | ({} if format_ is None or format_ in to_terminal else {format_: f"--format {format_}"})
    if len(options) > 1:
        raise ArgumentError(f"{' and '.join(options.values())} would both be printed; print one, and name a file")
    return Printing(next(iter(options), TABLE), always=bool(to_terminal))


def file_or_none(path: str | None) -> str | None:
    """The file that an output goes to; None where it goes to the terminal, or was not requested."""
    return None if path == TERMINAL else path


def write_files(
    result: Any, files: Mapping[str, str | Path | None], options: Mapping[str, dict[str, Any]] | None = None
) -> None:
    """Write a result to the files that were requested, by kind: `html` with the result's `to_html`, and so on.

    `options` are keyword arguments of these methods, by kind.
    """
    for kind, path in files.items():
        if path is not None:
            result._write(path, kind, **(options or {}).get(kind, {}))


def print_result(
    result: Any,
    show_table: Callable[[], None],
    printing: Printing,
    quiet: bool,
    options: Mapping[str, dict[str, Any]] | None = None,
) -> None:
    """Print a result: as tables with `show_table`, or as text of a kind with the result's `to_json` and so on."""
    if quiet and not printing.always:
        return
    if printing.kind == TABLE:
        show_table()
    else:
        text = getattr(result, f"to_{printing.kind}")(**(options or {}).get(printing.kind, {}))
        typer.echo(text, nl=False)


def deliver(
    result: Any,
    files: Mapping[str, str | Path | None],
    show_table: Callable[[], None],
    printing: Printing,
    quiet: bool,
    options: Mapping[str, dict[str, Any]] | None = None,
) -> None:
    """Write a result to its files, and print it; for what the arguments are, see `write_files` and `print_result`."""
    write_files(result, files, options)
    print_result(result, show_table, printing, quiet, options)


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
