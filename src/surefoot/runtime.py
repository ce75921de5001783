"""The machine and what is installed on it: cores, optional libraries, and Numba's compiler.

All are looked at when they are needed, so that importing this costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from surefoot.errors import MissingExtraError


def cores() -> int:
    """How many threads can run at once: the cores that this process may use, which can be fewer than there are."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13; it also heeds PYTHON_CPU_COUNT
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def library(name: str, extra: str, purpose: str) -> Any:
    """A module that comes with an extra of surefoot, which `purpose` needs; without it, the line that installs it.

    >>> library("json", "learn", "Learning").dumps([1])
    '[1]'
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError.for_extra(extra, purpose) from error


def compiled(function: Callable[..., Any], signature: Any = None) -> Callable[..., Any]:
    """Compile a loop with Numba, at its first call or, with its types given, at once; without the interpreter's lock.

    It is cached on disk, unless no place for that can be written.
    """
    numba = library("numba", "learn", "Learning")
    signatures = () if signature is None else (signature,)
    try:
        return numba.njit(*signatures, cache=True, nogil=True)(function)  # type: ignore[no-any-return]
    except (RuntimeError, OSError):  # no folder for the cache
        return numba.njit(*signatures, nogil=True)(function)  # type: ignore[no-any-return]
