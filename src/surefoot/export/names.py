"""The names of an export's files, of the model and of its features; light, so that the command line can look first."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from surefoot.errors import ArgumentError, shortened
from surefoot.export.targets.table import find_target


def export_stem(path: str | os.PathLike[str]) -> str:
    """What all files of an export begin with."""
    name = Path(path).name
    return name.removesuffix(Path(name).suffix)


def companion_paths(path: str | os.PathLike[str], to: Any) -> dict[str, Path]:
    """The files beside the model, by what follows its stem; none may be the model itself.

    >>> [file.name for file in companion_paths("es.json", "solr").values()]
    ['es.features.json', 'es.rows.json', 'es.replay.py', 'es.md']
    """
    home = Path(path)
    if home.name in ("", ".."):
        raise ArgumentError(f"{str(path)!r} is a folder; give a file name for the model, such as es.json")
    files = {ending: home.with_name(f"{export_stem(home)}.{ending}") for ending in find_target(to).all_companions}
    if home in files.values():
        raise ArgumentError(
            f"{path} is the name of another file of the export; call the model {export_stem(home)}.json"
        )
    return files


def model_name(path: str | os.PathLike[str]) -> str:
    """A model's name made of its file's.

    >>> model_name("My model (new).json")
    'my-model-new'
    """
    return re.sub(r"[^a-z0-9_-]+", "-", export_stem(path).lower())[:64].strip("-_") or "surefoot"


def check_feature_names(names: Any, features: int) -> list[str]:
    """Names of all features, if they are that: different texts, which a file can hold."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"feature_names is {shortened(names)}; give a list of texts, one for each feature")
    if len(names) != features:
        raise ArgumentError(f"there are {len(names):,} feature names; the model has {features:,} features")
    if len(set(names)) < features:
        raise ArgumentError("two features have the same name; every feature needs a different name")
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(
            "the name of a feature contains an incomplete character (a lone surrogate); names must be valid Unicode "
            "text"
        ) from error
    return list(names)
