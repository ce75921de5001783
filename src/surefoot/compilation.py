"""Numba, imported late, with a cache where one can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surefoot.errors import MissingExtraError


def compiled(function: Callable[..., Any], signature: Any = None) -> Callable[..., Any]:
    """Compile a loop, at its first call or, with its types given, at once; without the interpreter's lock.

    It is cached on disk, unless no place for that can be written.
    """
    try:
        import numba
    except ImportError as error:
        raise MissingExtraError.of("learn", "Learning") from error
    given = () if signature is None else (signature,)
    try:
        return numba.njit(*given, cache=True, nogil=True)(function)  # type: ignore[call-overload,no-any-return]
    except (RuntimeError, OSError):  # no folder for the cache
        return numba.njit(*given, nogil=True)(function)
