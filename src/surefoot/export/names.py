"""The names of an export's files, of the model and of its features; light, so that the command line can look first."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from surefoot.errors import ArgumentError, shortened
from surefoot.export.targets.table import find_target

STEM = "model"  # what all files of an export begin with


def export_files(to: Any, ending: str | None = None) -> dict[str, str]:
    """The names of the files in an export's folder: the model's under "", the others by what follows their stem.

    `ending` is the model's, where it is not that of trees.

    >>> [*export_files("solr").values()]
    ['model.json', 'model.features.json', 'model.rows.json', 'model.replay.py', 'model.md']
    """
    target = find_target(to)
    beside = {other: f"{STEM}.{other}" for other in target.all_companions}
    return {"": f"{STEM}{ending or target.ending}"} | beside


def model_name(folder: str | os.PathLike[str]) -> str:
    """A model's name made of its folder's.

    >>> model_name("exports/My model (new)/")
    'my-model-new'
    """
    return re.sub(r"[^a-z0-9_-]+", "-", Path(folder).resolve().name.lower())[:64].strip("-_") or "surefoot"


def check_feature_names(names: Any, features: int) -> list[str]:
    """Names of all features, if they are that: different texts, which a file can hold."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"features is {shortened(names)}; give a list of texts, one for each feature")
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
