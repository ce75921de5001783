"""Loading a learner so that its threads wait briefly for each other, and then sleep.

By default OpenMP's threads spin for milliseconds at the end of every loop. Where another program keeps a core busy, the
one that is waited for does not run meanwhile, and training was seen to take ten times as long. OpenMP reads its
settings once, when it is loaded; where the user has set any, they stay.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from surefoot.runtime import library

_WAIT_SETTINGS = {
    "GOMP_SPINCOUNT": "500",
    "KMP_BLOCKTIME": "1",
}  # of GNU's OpenMP, in turns, and of LLVM's, in milliseconds
_USER_SETTINGS = ("OMP_WAIT_POLICY", *_WAIT_SETTINGS)


def import_learner(name: str, extra: str, purpose: str) -> Any:
    """A learner's module, which comes with an extra of surefoot."""
    if name in sys.modules:
        return library(name, extra, purpose)
    with brief_waiting():
        return library(name, extra, purpose)


@contextmanager
def brief_waiting() -> Iterator[None]:
    """While it lasts, an OpenMP that is loaded takes these settings; every import that may load one belongs in it."""
    if any(setting in os.environ for setting in _USER_SETTINGS):
        yield
        return
    os.environ.update(_WAIT_SETTINGS)
    try:
        yield
    finally:
        for setting in _WAIT_SETTINGS:
            os.environ.pop(setting, None)
