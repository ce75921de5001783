"""Numba, imported late, with a cache where one can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surefoot.extras import library


def compiled(function: Callable[..., Any], signature: Any = None) -> Callable[..., Any]:
    """Compile a loop, at its first call or, with its types given, at once; without the interpreter's lock.

    It is cached on disk, unless no place for that can be written.
    """
    numba = library("numba", "learn", "Learning")
    given = () if signature is None else (signature,)
    try:
        return numba.njit(*given, cache=True, nogil=True)(function)  # type: ignore[no-any-return]
    except (RuntimeError, OSError):  # no folder for the cache
        return numba.njit(*given, nogil=True)(function)  # type: ignore[no-any-return]
