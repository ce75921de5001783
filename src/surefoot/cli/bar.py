"""A bar for long work: on the terminal's error stream, gone when the work is done, and never in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec

from surefoot.progress import shown_by

Options = ParamSpec("Options")


def with_bar(command: Callable[Options, None]) -> Callable[Options, None]:
    """A command that shows how far it has come, unless it is to be quiet or nobody looks on."""

    @wraps(command)
    def run(*arguments: Options.args, **options: Options.kwargs) -> None:
        if options.get("quiet") or sys.stderr is None or not sys.stderr.isatty():
            command(*arguments, **options)
        else:
            with _bar():
                command(*arguments, **options)

    return run


@contextmanager
def _bar() -> Iterator[None]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from surefoot.report.text import plain_console

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=plain_console(stderr=True), transient=True)

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
        with shown_by(show):
            yield
    finally:
        progress.stop()
