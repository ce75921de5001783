"""The names of an export's files, and the model's in its engine; light, so that the command line can look first."""

from __future__ import annotations

import os
import re
from pathlib import Path

from surefoot.errors import ArgumentError
from surefoot.export.defaults import BESIDE


def stem(path: str | os.PathLike[str]) -> str:
    """What all files of an export begin with."""
    name = Path(path).name
    return name.removesuffix(Path(name).suffix)


def beside(path: str | os.PathLike[str], to: str) -> dict[str, Path]:
    """The files beside the model, by what follows the stem; none may be the model itself.

    >>> [file.name for file in beside("es.json", "solr").values()]
    ['es.features.json', 'es.rows.json', 'es.replay.py', 'es.md']
    """
    home = Path(path)
    files = {ending: home.with_name(f"{stem(home)}.{ending}") for ending in BESIDE.get(to, ())}
    if home in files.values():
        raise ArgumentError(f"{path} is what a file beside the model is called; name the model {stem(home)}.json")
    return files


def name_of(path: str | os.PathLike[str]) -> str:
    """A model's name made of its file's.

    >>> name_of("My model (new).json")
    'my-model-new'
    """
    return re.sub(r"[^a-z0-9_-]+", "-", stem(path).lower())[:64].strip("-_") or "surefoot"
