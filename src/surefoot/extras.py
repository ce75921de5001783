"""Optional libraries, imported when they are needed; where one is missing, the line that installs it is shown."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from surefoot.errors import MissingExtraError


def library(name: str, extra: str, purpose: str) -> Any:
    """A module that comes with an extra of surefoot, which `purpose` needs.

    >>> library("json", "learn", "Learning").dumps([1])
    '[1]'
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError.of(extra, purpose) from error
