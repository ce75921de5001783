"""A bar for long work on the terminal's error stream, gone when the work is done; in a file or pipe, plain lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from surefoot.progress import show_with

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

CommandOptions = ParamSpec("CommandOptions")


def with_bar(command: Callable[CommandOptions, None]) -> Callable[CommandOptions, None]:
    """A command that shows how far it has come: on a terminal by a bar, elsewhere by lines; quiet, not at all."""

    @wraps(command)
    def run(*arguments: CommandOptions.args, **options: CommandOptions.kwargs) -> None:
        with _bar() if is_watched(quiet := bool(options.get("quiet"))) else progress_lines(quiet):
            command(*arguments, **options)

    return run


def is_watched(quiet: bool) -> bool:
    """Whether somebody looks on: at a terminal, and not asking for quiet."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress_lines(quiet: bool) -> Iterator[None]:
    """Tell of long work in plain lines, unless quiet is asked for or nothing can be told."""
    if quiet or sys.stderr is None:
        yield
        return
    from surefoot.cli.progress_lines import ProgressLines

    lines = ProgressLines()
    with lines.reporting(), show_with(lines.show):
        yield


def new_bar(*more: ProgressColumn, disable: bool = False) -> Progress:
    """A bar that is gone when it stops: what is done, how far it is, `more`, and the time left."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from surefoot.report.terminal import plain_console

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *more, TimeRemainingColumn())
    return Progress(*columns, console=plain_console(stderr=True), transient=True, disable=disable)


@contextmanager
def _bar() -> Iterator[None]:
    progress = new_bar()

    def show(items: Iterable[Any], total: int | None, doing: str) -> Iterator[Any]:
        task = progress.add_task(doing, total=total)
        progress.start()
        try:
            for item in items:
                yield item
                progress.advance(task)
        finally:
            progress.remove_task(task)
            if not progress.tasks:  # what is printed between two tasks must not meet a bar
                progress.stop()

    try:
        with show_with(show):
            yield
    finally:
        progress.stop()
