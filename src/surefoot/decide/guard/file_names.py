"""The files of a saved controller, by name; light, so that a command can look before anything heavy is loaded."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.learn.model_files import model_files

CONTROLLER, RANKER = "controller.json", "ranker"


def controller_files(folder: str | os.PathLike[str]) -> list[str]:
    """What is read of a saved controller."""
    return [str(Path(folder) / CONTROLLER), *model_files(Path(folder) / RANKER)]


def is_controller_file(name: str) -> bool:
    """Whether a saved controller's folder holds something of this name."""
    return name in (CONTROLLER, RANKER)
