"""Draws read from their file, which must be as it was written."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any, get_args

import numpy as np

from surefoot.arguments import MOST_DRAWS, is_real
from surefoot.arrays import Floats
from surefoot.data.reading.columns import first_repeated
from surefoot.decide.evidence.automatic_judge import AutomaticData
from surefoot.decide.evidence.draws import SCHEMA, Draws, RunIdentity
from surefoot.decide.evidence.sealed_files import read_sealed
from surefoot.decide.evidence.traffic import DrawnFor, DrawnTraffic
from surefoot.errors import DataError, expecting, shortened
from surefoot.measures.worst_case import check_bounded

_REFUSED = {
    "surefoot/draws/1": "contains draws of version 0.1. They do not store the order of the draws, which the proof "
    "needs. Draw again with surefoot judge-next, and judge the queries that are not judged yet",
}


def read_draws(source: Draws | str | os.PathLike[str]) -> Draws:
    """Draws from a file that `Draws.write` or `surefoot judge-next` wrote; one that was changed is refused."""
    if isinstance(source, Draws):
        return source
    data = read_sealed(source, (SCHEMA,), "does not contain draws", _REFUSED)
    try:
        with expecting("draws", source, "draw again"):
            return _parse(data)
    except _WrongError as error:
        raise DataError.at(source, None, f"{error}; draw again") from error


class _WrongError(Exception):
    """What is wrong with the draws in a file."""


def _parse(data: dict[str, Any]) -> Draws:
    rows = data["queries"]
    queries, times, weights = ([row[key] for row in rows] for key in ("query", "times", "weight"))
    if not rows or not all(isinstance(query, str) for query in queries):
        raise _WrongError("names no queries")
    twice = first_repeated(queries)
    if twice is not None:
        raise _WrongError(f"lists query {shortened(twice)} twice")
    at = {query: number for number, query in enumerate(queries)}
    sequence = data["sequence"]
    if not isinstance(sequence, list) or not all(isinstance(query, str) and query in at for query in sequence):
        raise _WrongError("has a sequence with other queries")
    drawn = np.array([at[query] for query in sequence], dtype=np.int64)
    _check_numbers("times drawn", times, lambda value: type(value) is int and 1 <= value <= MOST_DRAWS)
    _check_numbers("weight", weights, _is_weight)
    _check_numbers("mean or largest weight", [data["mean_weight"], data["largest_weight"]], _is_weight)
    counts = [data["draws"], data["traffic"], data["seed"]]
    _check_numbers("number of draws or queries, or seed", counts, lambda value: type(value) is int and value >= 0)
    if max(weights) > data["largest_weight"] or data["mean_weight"] > data["largest_weight"]:
        raise _WrongError("has a weight above the largest")
    counted = np.bincount(drawn, minlength=len(queries)).tolist()
    if counted != times or len(sequence) != data["draws"] or len(queries) > data["traffic"]:
        raise _WrongError("has queries that do not add up to its draws")
    if data["drawn_for"] not in get_args(DrawnFor):
        raise _WrongError(
            f"has the wrong value {shortened(data['drawn_for'])} for drawn_for (it must be 'risk' or 'gain')"
        )
    systems: list[RunIdentity] = []
    for key in ("candidate", "baseline"):
        name, hashed = data[key]["name"], data[key]["sha256"]
        if not isinstance(name, str) or not isinstance(hashed, str) or len(hashed) != 64:
            raise _WrongError(f"does not say which {key} it is for")
        systems.append({"name": name, "sha256": hashed})
    by_traffic, asked = _parse_traffic(data.get("by_traffic"), rows)
    return Draws(
        measure=str(check_bounded(data["measure"])),
        candidate=systems[0],
        baseline=systems[1],
        drawn_for=data["drawn_for"],
        seed=data["seed"],
        traffic=data["traffic"],
        mean_weight=float(data["mean_weight"]),
        largest_weight=float(data["largest_weight"]),
        queries=tuple(queries),
        weights=np.array(weights, dtype=np.float64),
        sequence=drawn,
        automatic=_parse_automatic(data.get("automatic")),
        by_traffic=by_traffic,
        counts=asked,
    )


def _parse_automatic(data: Any) -> AutomaticData | None:
    if data is None:
        return None
    name, hashed = data["name"], data["sha256"]
    if not isinstance(name, str) or not isinstance(hashed, str) or len(hashed) != 64:
        raise _WrongError("does not say which automatic judgments it is for")
    counts = [data["unjudged"], data["holes"]]
    _check_numbers("number of documents or queries without judgment", counts, lambda n: type(n) is int and n >= 0)
    return {"name": name, "sha256": hashed, "unjudged": counts[0], "holes": counts[1]}


def _parse_traffic(data: Any, rows: Sequence[Any]) -> tuple[DrawnTraffic | None, Floats | None]:
    """How often the drawn queries are asked, where that differs."""
    if data is None:
        if any("count" in row for row in rows):
            raise _WrongError("has counts of queries, but does not say of what traffic")
        return None, None
    counts = [row["count"] for row in rows]
    hashed, total, left_out = data["sha256"], data["total"], data["left_out"]
    if not isinstance(hashed, str) or len(hashed) != 64:
        raise _WrongError("does not say with which traffic it was drawn")
    _check_numbers("count", [*counts, total], lambda value: is_real(value) and math.isfinite(value) and value > 0)
    _check_numbers("number of queries without traffic", [left_out], lambda value: type(value) is int and value >= 0)
    if sum(counts) > total * (1 + 1e-9):
        raise _WrongError("has counts that add up to more than all traffic")
    return {"sha256": hashed, "total": float(total), "left_out": left_out}, np.array(counts, dtype=np.float64)


def _is_weight(value: Any) -> bool:
    return is_real(value) and math.isfinite(value) and 0 < value <= 1


def _check_numbers(what: str, values: Iterable[Any], right: Any) -> None:
    for value in values:
        if not right(value):
            raise _WrongError(f"has a {what} of {shortened(value)}")
