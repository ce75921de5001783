"""Entries of the navigation that name a folder: its pages are found when the site is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Pages = Callable[[str], Iterable[Any]]


def with_folders(nav: list[Any], pages_of: Pages) -> list[Any]:
    """The navigation with each `Title: folder/` replaced by the folder's pages; a folder without pages is left out.

    >>> with_folders([{"Extend": "extend/"}, {"Home": "index.md"}], {"extend/": ["extend/a.md"]}.get)
    [{'Extend': ['extend/a.md']}, {'Home': 'index.md'}]
    """
    filled: list[Any] = []
    for entry in nav:
        if not isinstance(entry, dict):
            filled.append(entry)
            continue
        ((title, target),) = entry.items()
        if isinstance(target, list):
            filled.append({title: with_folders(target, pages_of)})
        elif target.endswith("/"):
            pages = list(pages_of(target) or [])
            if pages:
                filled.append({title: pages})
        else:
            filled.append(entry)
    return filled


def nav_files(nav: list[Any]) -> list[str]:
    """Every file that a navigation names, in its order.

    >>> nav_files([{"Home": "index.md"}, {"More": [{"One": "one.md"}, "two.md"]}])
    ['index.md', 'one.md', 'two.md']
    """
    found: list[str] = []
    for entry in nav:
        target = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found += nav_files(target) if isinstance(target, list) else [target]
    return found
