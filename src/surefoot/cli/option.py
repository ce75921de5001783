"""An option of a command in one line: its names, its text, and the word for what it takes; several as one value."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import typer

from surefoot.errors import ArgumentError, shortened

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


@dataclass(frozen=True)
class OptionGroup:
    """Options, each with its default, that a command takes as the one value which `make` makes of them."""

    make: Callable[..., Any]
    options: dict[str, tuple[Any, Any]]


def parameters(
    settings: Iterable[str], names_with_own_option: Collection[str], parse: Callable[[str], Any] | None = None
) -> dict[str, Any]:
    """The parameters by name; `names_with_own_option` are refused, and `parse` reads a value's text."""
    values: dict[str, Any] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ArgumentError(f"--set {shortened(text)} is not understood; write --set num_leaves=50")
        if name in names_with_own_option:
            raise ArgumentError(f"--set {name} is not a parameter of the engine; it has a separate option, see --help")
        if name in values:
            raise ArgumentError(f"you gave --set {name} twice; give it once")
        values[name] = (parse or json_or_text)(value)
    return values


def json_or_text(text: str) -> Any:
    """A value as JSON has it, or else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
