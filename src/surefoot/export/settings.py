"""What an export was asked for, checked: the engine, its version, the model's name, what a missing feature means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from surefoot.errors import ArgumentError, did_you_mean, shortened
from surefoot.export.options import MISSING, TARGETS

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")  # what every engine takes, in a URL as it stands
_VERSION = re.compile(r"\d{1,4}(\.\d{1,6}){0,3}")
_VERSIONED = ("elasticsearch", "opensearch", "solr")


@dataclass(frozen=True)
class Asked:
    """An export's target, what its unset features mean, what the model is called there and, where it matters, the
    engine's version; () is the newest.
    """

    to: str
    missing: str
    name: str
    version: tuple[int, ...] = ()

    @classmethod
    def of(cls, to: Any, missing: Any, name: Any, engine_version: Any = None) -> Asked:
        """What users gave."""
        if not isinstance(to, str) or to not in TARGETS:
            hint = did_you_mean(to, TARGETS) or "."
            raise ArgumentError(f"cannot export to {shortened(to)}{hint} Known are: {', '.join(TARGETS)}")
        if not isinstance(missing, str) or missing not in MISSING:
            raise ArgumentError(
                f"missing is {shortened(missing)}; say what a feature that a document lacks means to the model: zero "
                "(the value 0), nan (missing, as NaN in the training data) or never (every document has every feature)"
            )
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ArgumentError(
                f"the model's name is {shortened(name)}; every engine takes small letters, digits, - and _, up to 64, "
                "a letter or digit first and last"
            )
        return cls(to, missing, name, _version(to, engine_version))


def _version(to: str, given: Any) -> tuple[int, ...]:
    if given is None:
        return ()
    if to not in _VERSIONED:
        raise ArgumentError(
            f"what is exported to {to} is the same for all its versions; leave the engine's version out"
        )
    if not isinstance(given, str) or not _VERSION.fullmatch(given):
        raise ArgumentError(f"the engine's version is {shortened(given)}; write numbers with dots between, such as 3.2")
    return tuple(int(part) for part in given.split("."))
