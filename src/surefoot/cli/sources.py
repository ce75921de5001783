"""The files that the baselines of a command line are read from."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.cli.outputs import model_files
from surefoot.learn.sources import named


def files_of(specifications: Sequence[str]) -> list[str]:
    """The files that the baselines are read from."""
    found = []
    for text in specifications:
        kind, _, where = named(text)[1].partition(":")
        found += model_files(where) if kind == "model" else [where] if kind == "run" else []
    return found
