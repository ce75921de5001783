"""The files of a saved guard, by name; light, so that a command can look before anything heavy is loaded."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.learn.model_files import model_files

GUARD, CERTIFICATE, RANKER = "guard.json", "certificate.json", "ranker"


def guard_files(folder: str | os.PathLike[str]) -> list[str]:
    """What is read of a saved guard."""
    return [*(str(Path(folder) / name) for name in (GUARD, CERTIFICATE)), *model_files(Path(folder) / RANKER)]


def is_guard_file(name: str) -> bool:
    """Whether a saved guard's folder holds something of this name."""
    return name in (GUARD, CERTIFICATE, RANKER)
