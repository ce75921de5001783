"""Numba, imported late, with a cache where one can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surefoot.errors import MissingExtraError


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop at its first call, without the interpreter's lock; cached where a cache can be written."""
    try:
        import numba
    except ImportError as error:
        raise MissingExtraError.of("learn", "Learning") from error
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder for the cache
        return numba.njit(nogil=True)(function)
