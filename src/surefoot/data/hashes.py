"""What tells queries, rankings and files apart: SHA-256 of what they hold, whatever order it came in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from surefoot.errors import DataError

if TYPE_CHECKING:
    from surefoot.data.tables import RankedTable

SEAL = "sha256"  # the name under which a file holds the hash of all else in it


def text_hash(text: str) -> str:
    """SHA-256 of a text, in hexadecimal; a text may hold half a character, as a file's name may."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def queries_hash(queries: Iterable[str]) -> str:
    """One hash of a set of queries, in whatever order they come.

    >>> queries_hash(["q1", "q2"]) == queries_hash(["q2", "q1"]) != queries_hash(["q1", "q3"])
    True
    """
    return text_hash(json.dumps(sorted(set(queries))))


def lists_hash(table: RankedTable) -> str:
    """One hash of a run's lists: its queries, and each one's documents in ranked order.

    The order of queries, the scores and the name do not count: a run written again is the same run.
    """
    documents, bounds = table.documents().to_list(), table.ranking.offsets.tolist()
    whole = hashlib.sha256()
    for number in sorted(range(len(table.queries)), key=table.queries.__getitem__):
        held = [table.queries[number], documents[bounds[number] : bounds[number + 1]]]
        whole.update(json.dumps(held).encode())
    return whole.hexdigest()


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """Plain data with a hash of all of it, so that a file that was changed by hand is noticed.

    >>> check_seal(sealed({"level": 0.02}), "state.json")
    >>> check_seal(sealed({"level": 0.02}) | {"level": 0.2}, "state.json")
    Traceback (most recent call last):
    ...
    surefoot.errors.DataError: state.json: was changed after it was written (its hash does not fit); make it again
    """
    plain = {name: value for name, value in data.items() if name != SEAL}
    return plain | {SEAL: text_hash(json.dumps(plain, sort_keys=True, allow_nan=False))}


def check_seal(data: dict[str, Any], where: Any) -> None:
    """Refuse plain data that is not what was sealed."""
    if data.get(SEAL) != sealed(data)[SEAL]:
        raise DataError(f"{where}: was changed after it was written (its hash does not fit); make it again")
