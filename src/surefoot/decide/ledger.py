"""A ledger of how often a set of queries was used to decide: each further use of it gets a smaller share of δ.

Whoever tries many candidates on the same queries ships one by luck sooner or later. The j-th use of a set gets
δ·6/(π²j²); these sum to δ, so the chance of one wrong claim among all that were ever made of the set stays at most δ.
Deciding again on the same scores by the same policy is no new use.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.data.files import read_json, state
from surefoot.data.hashes import check_seal, queries_hash, sealed, text_hash
from surefoot.data.locks import alone_with
from surefoot.data.writing import destination, write_text
from surefoot.decide.policy import Policy
from surefoot.decide.sample import Sample
from surefoot.errors import DataError
from surefoot.report.plain_json import to_json

SCHEMA = "surefoot/ledger/1"


@dataclass(frozen=True)
class Use:
    """One use of a set of queries: the `number`-th, and whether the same was decided before."""

    number: int
    again: bool
    queries: str  # hash of the set

    def delta(self, delta: float) -> float:
        """What is left of δ for this use.

        >>> round(Use(1, False, "").delta(0.05), 4), round(Use(2, False, "").delta(0.05), 4)
        (0.0304, 0.0076)
        """
        return delta * 6 / (math.pi * self.number) ** 2


@contextmanager
def entered(path: str | os.PathLike[str], sample: Sample, measure: str, policy: Policy) -> Iterator[Use]:
    """The use that a decision is; written down when the block ends without an error, and no one else may meanwhile."""
    destination(path)
    with alone_with(path, "ledger"):
        sets = _read(path)
        queries = queries_hash(sample.queries)
        key = text_hash(to_json([measure, sorted_scores(sample), policy.to_dict()]))
        uses = sets.setdefault(queries, [])
        again = key in uses
        if not again:
            uses.append(key)
        yield Use(uses.index(key) + 1, again, queries)
        if not again:
            write_text(path, to_json(sealed({"schema": SCHEMA, "sets": sets})), durable=True)


def sorted_scores(sample: Sample) -> list[list[Any]]:
    """Everything of the sample that a decision depends on, whatever order it came in."""
    held = sample.to_dict()
    members = [*held.pop("segments").values()]
    columns = [column for column in [*held.values(), *members] if column is not None]
    return sorted(map(list, zip(*columns, strict=True)), key=repr)


def _read(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    if state(path) is None:
        return {}
    data = read_json(Path(path))
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise DataError.at(path, None, f"is no ledger; expected JSON with the schema {SCHEMA!r}")
    check_seal(data, path)
    sets = data.get("sets")
    if not isinstance(sets, dict) or not all(isinstance(uses, list) for uses in sets.values()):
        raise DataError.at(path, None, "is not whole, as a ledger; restore it from a copy")
    return {str(queries): [str(use) for use in uses] for queries, uses in sets.items()}
