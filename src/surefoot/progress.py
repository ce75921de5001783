"""How far long work has come. Nothing is shown by default; the command line shows a bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")
Show = Callable[[Iterable[Any], int | None, str], Iterable[Any]]

_SHOW: ContextVar[Show | None] = ContextVar("surefoot.progress", default=None)


def steps(items: Sequence[Item], doing: str) -> Iterable[Item]:
    """The items, one after the other, while the number of those that are done is shown.

    >>> list(steps(["a", "b"], "Reading runs"))
    ['a', 'b']
    """
    show = _SHOW.get()
    return items if show is None or len(items) < 2 else show(items, len(items), doing)


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Work that cannot be counted; also a decorator."""
    show = _SHOW.get()
    for _ in [None] if show is None else show([None], None, doing):
        yield


@contextmanager
def show_with(show: Show) -> Iterator[None]:
    """Have `show` (of the items, how many they are, and what is done) wrap all work within."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)
