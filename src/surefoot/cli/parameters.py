"""`--set NAME=VALUE`: engine parameters on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from typing import Any

from surefoot.errors import ArgumentError, shortened


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
