"""`--set NAME=VALUE`: engine parameters on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from typing import Annotated, Any

import typer

from surefoot.cli.printing import either
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.options import ENGINES

Threads = Annotated[
    int | None, typer.Option(help="Threads of the learner.", min=1, max=1024, show_default="as many as cores")
]
Engine = Annotated[str, typer.Option(help=f"Who grows the trees: {either(ENGINES)}.")]


def parameters(
    given: Iterable[str], taken: Collection[str], read: Callable[[str], Any] | None = None
) -> dict[str, Any]:
    """The parameters by name; `taken` have options of their own, and `read` says what a value's text means."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ArgumentError(f"--set {shortened(text)} is not understood; write --set num_leaves=50")
        if name in taken:
            raise ArgumentError(f"--set {name} is no engine's parameter; it has an option of its own, see --help")
        if name in found:
            raise ArgumentError(f"--set {name} is given twice")
        found[name] = (read or plain)(value)
    return found


def plain(text: str) -> Any:
    """A value as JSON has it, or else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
