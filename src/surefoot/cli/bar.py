"""A bar for long work on the terminal's error stream, gone when the work is done; in a file or pipe, plain lines."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from surefoot.arguments import finite_number
from surefoot.errors import visible
from surefoot.progress import show_with

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


def progress_shown(quiet: bool) -> AbstractContextManager[None]:
    """Within it, how far long work has come is shown: on a terminal by a bar, elsewhere by lines; quiet, not at all."""
    return _bar() if is_watched(quiet) else progress_lines(quiet)


def is_watched(quiet: bool) -> bool:
    """Whether somebody looks on: at a terminal, and not asking for quiet."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress_lines(quiet: bool) -> Iterator[None]:
    """Tell of long work in plain lines, unless quiet is asked for or nothing can be told."""
    if quiet or sys.stderr is None:
        yield
        return
    lines = ProgressLines()
    with lines.reporting(), show_with(lines.show):
        yield


def new_bar(*more: ProgressColumn, disable: bool = False) -> Progress:
    """A bar that is gone when it stops: what is done, how far it is, `more`, and the time left."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from surefoot.report.tables import plain_console

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


# Seconds before anything is said: most commands are done by then. A slow machine's log may set more.
SILENT_SECONDS = finite_number(os.environ.get("SUREFOOT_PROGRESS_AFTER", "5")) or 5.0
SECONDS_BETWEEN_LINES = 10.0  # seconds from one line to the next
_SECONDS_BEFORE_NEW_STAGE = 1.0  # seconds after a line before a stage that begins has one of its own

_LINES: ContextVar[ProgressLines | None] = ContextVar("surefoot.progress_lines", default=None)


@dataclass
class ProgressStage:
    """Work of one kind: what is done, how many of how many, and what else is known of it."""

    doing: str
    total: int | None = None
    done: int = 0
    more: str = ""
    began: float = field(default_factory=time.monotonic)

    def line(self) -> str:
        """What is said of it.

        >>> ProgressStage("Making features", 16, 4).line()
        'Making features, 4 of 16 (25 %), for 0 s'
        """
        parts = [self.doing]
        if self.total:
            parts.append(f"{self.done:,} of {self.total:,} ({self.done / self.total:.0%})".replace("%", " %"))
        parts += [self.more] if self.more else []
        return ", ".join([*parts, f"for {time.monotonic() - self.began:.0f} s"])


class ProgressLines:
    """Says what is being done: when a stage begins, and every ten seconds, but not in the first `SILENT_SECONDS`."""

    def __init__(self) -> None:
        self._stages: list[ProgressStage] = []
        self._next = time.monotonic() + SILENT_SECONDS
        self._last = 0.0
        self._lock = threading.Lock()
        self._ended = threading.Event()

    @contextmanager
    def stage(self, doing: str, total: int | None) -> Iterator[ProgressStage]:
        """A stage, for the time that it takes."""
        new = ProgressStage(doing, total)
        with self._lock:
            reported = self._last > 0 and time.monotonic() - self._last >= _SECONDS_BEFORE_NEW_STAGE
            self._stages.append(new)
            if reported:
                self._say(new.doing if total is None else f"{new.doing}, {total:,} in all")
        try:
            yield new
        finally:
            with self._lock:
                self._stages.remove(new)

    def show(self, items: Iterable[Any], total: int | None, doing: str) -> Iterator[Any]:
        """The items, one after the other, counted; what `surefoot.progress.show_with` takes."""
        with self.stage(doing, total) as stage:
            for item in items:
                yield item
                stage.done += 1

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Tell of all stages within: by a thread, for a stage may be one long call."""
        thread = threading.Thread(target=self._watch, name="surefoot-progress", daemon=True)
        thread.start()
        token = _LINES.set(self)
        try:
            yield
        finally:
            _LINES.reset(token)
            self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(max(0.05, self._next - time.monotonic())):
            with self._lock:
                if time.monotonic() < self._next or self._ended.is_set():
                    continue
                if self._stages:
                    self._say(self._stages[-1].line())
                else:
                    self._next = time.monotonic() + _SECONDS_BEFORE_NEW_STAGE

    def _say(self, words: str) -> None:
        self._last = time.monotonic()
        self._next = self._last + SECONDS_BETWEEN_LINES
        print("surefoot:", visible(words), file=sys.stderr, flush=True)


@contextmanager
def stage(doing: str, total: int | None) -> Iterator[ProgressStage | None]:
    """A stage of the command that runs; None where no lines are told."""
    lines = _LINES.get()
    if lines is None:
        yield None
    else:
        with lines.stage(doing, total) as new:
            yield new
