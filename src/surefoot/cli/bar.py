"""A bar for long work: on the terminal's error stream, gone when the work is done, and never in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from surefoot.progress import show_with

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

Options = ParamSpec("Options")


def with_bar(command: Callable[Options, None]) -> Callable[Options, None]:
    """A command that shows how far it has come, unless it is to be quiet or nobody looks on."""

    @wraps(command)
    def run(*arguments: Options.args, **options: Options.kwargs) -> None:
        if is_watched(bool(options.get("quiet"))):
            with _bar():
                command(*arguments, **options)
        else:
            command(*arguments, **options)

    return run


def is_watched(quiet: bool) -> bool:
    """Whether somebody looks on: at a terminal, and not asking for quiet."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


def new_bar(*more: ProgressColumn, disable: bool = False) -> Progress:
    """A bar that is gone when it stops: what is done, how far it is, `more`, and the time left."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from surefoot.report.text import plain_console

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
