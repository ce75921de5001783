"""The settings of an export, checked: the target, its version, the model's name, the meaning of a missing feature."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.errors import ArgumentError, shortened
from surefoot.export.targets import table
from surefoot.export.targets.table import ExportTarget, UnsetTreatment, Version, find_target

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")  # what every target takes, unchanged in a URL
_VERSION = re.compile(r"\d{1,4}(\.\d{1,6}){0,3}")


@dataclass(frozen=True)
class ExportSettings:
    """The target, what its unset features mean, the model's name there, and where it matters the target's version."""

    target: ExportTarget
    missing: str
    name: str
    version: Version = ()

    @classmethod
    def parse(cls, to: Any, missing: Any, name: Any, target_version: Any = None) -> ExportSettings:
        """The settings that users give."""
        target = find_target(to)
        if not isinstance(missing, str) or missing not in MISSING:
            raise ArgumentError(
                f"missing is {shortened(missing)}; choose what a feature that a document lacks means to the model: "
                "zero (the value 0), nan (missing, as NaN in the training data) or never (every document has every "
                "feature)"
            )
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ArgumentError(
                f"the model's name is {shortened(name)}; it must have at most 64 lower-case letters, digits, - and _, "
                "with a letter or digit first and last"
            )
        return cls(target, missing, name, _parse_version(target, target_version))

    @property
    def title(self) -> str:
        """The target, and its version where one is given, as messages name it."""
        return f"{self.target.title} {'.'.join(map(str, self.version))}".rstrip()

    @property
    def unset(self) -> UnsetTreatment:
        """What this version of the target does with a feature that is not set."""
        return self.target.unset_in(self.version)


def _parse_version(target: ExportTarget, text: Any) -> Version:
    if text is None:
        return ()
    if not target.has_versions:
        raise ArgumentError(
            f"the export to {target.name} is the same for all versions; do not give a version (--target-version)"
        )
    if not isinstance(text, str) or not _VERSION.fullmatch(text):
        raise ArgumentError(f"the target's version is {shortened(text)}; write numbers separated by dots, such as 3.2")
    return tuple(int(part) for part in text.split("."))


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


MISSING = ("zero", "nan", "never")  # what a feature that is not set means
ROWS = 100
TARGETS = tuple(table.TARGETS)
