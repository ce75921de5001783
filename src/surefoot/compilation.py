"""Numba, imported late, with a cache where one can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surefoot.errors import MissingExtraError


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop at its first call, free of the interpreter's lock; cached on disk unless no place can be written."""
    try:
        import numba
    except ImportError as error:
        raise MissingExtraError.of("learn", "Learning") from error
    options = {"nogil": True, "fastmath": False, "boundscheck": False}
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder for the cache
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
