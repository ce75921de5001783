"""Judged queries that are not like traffic: strata with known shares of it."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np

from surefoot.arguments import finite_number
from surefoot.data.reading.by_query import query_table
from surefoot.data.reading.columns import ids_of
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.segments import Kinds
from surefoot.errors import ArgumentError, DataError, listed, shortened
from surefoot.risk.plain_data import Count

_ROUNDING = 1e-6  # by which shares may miss a sum of 1
_FORMS = "a file of two columns, stratum and share, or a dict {stratum: share}"


class StratumData(TypedDict):
    """A stratum's share of traffic, and how many of its queries were judged."""

    stratum: str
    share: float
    queries: Count


def read_weights(source: Any) -> dict[str, float]:
    """Each stratum's share of traffic, from a dict or from a CSV or Parquet file of two columns; they sum to 1.

    >>> read_weights({"head": 0.7, "tail": 0.3})
    {'head': 0.7, 'tail': 0.3}
    """
    where = str(source) if isinstance(source, str | os.PathLike) else "weights"
    if isinstance(source, Mapping):
        rows = [(str(name), value) for name, value in source.items()]
    else:
        names, columns, place = query_table(source, "weights", "share", _FORMS)
        if len(columns) != 2:
            raise DataError(f"{where}: expected two columns, stratum and share; found {listed(names)}")
        rows = list(zip(ids_of(columns[0], "the stratum", place).to_list(), columns[1], strict=True))
    shares: dict[str, float] = {}
    for name, value in rows:
        share = finite_number(value)
        if name in shares:
            raise DataError(f"{where}: stratum {shortened(name)} appears twice; give each once")
        if share is None or not 0 < share <= 1:
            raise DataError(
                f"{where}: the share of stratum {shortened(name)} is {shortened(value)}; it must be above "
                "0 and at most 1"
            )
        shares[name] = share
    total = math.fsum(shares.values())
    if not abs(total - 1) <= _ROUNDING:
        raise DataError(f"{where}: the shares of traffic sum to {total:g}; they must sum to 1")
    return shares


def weigh_strata(
    sample: JudgedQueries, kinds: Kinds, shares: Mapping[str, float]
) -> tuple[JudgedQueries, list[StratumData]]:
    """The sample with each query's weight, π_h·n/n_h, and for each stratum its share and number of queries."""
    if len(kinds) != 1:
        raise ArgumentError(
            f"strata need one column that says each query's stratum; found {listed([*kinds]) or 'none'}"
        )
    ((column, stratum_of),) = kinds.items()
    without = [query for query in sample.queries if query not in stratum_of]
    if without:
        raise DataError(
            f"{len(without):,} judged queries have no stratum in {shortened(column)} "
            f"({listed(without, 3, shortened)}); every query needs one"
        )
    strata = [stratum_of[query] for query in sample.queries]
    unknown = sorted(set(strata) - set(shares))
    if unknown:
        raise DataError(f"no share of traffic is given for {listed(unknown, 3, shortened)}; given: {listed([*shares])}")
    counted = Counter(strata)
    counts = {name: counted[name] for name in shares}
    empty = [name for name, count in counts.items() if not count]
    if empty:
        raise DataError(
            f"no judged query is of {listed(empty, 3, shortened)}, which has a share of traffic; nothing can be said "
            "of it: judge some of its queries"
        )
    for segment, flags in sample.members.items():
        if len({strata[place] for place in np.flatnonzero(flags).tolist()}) > 1:
            raise ArgumentError(
                f"segment {shortened(segment)} lies in several strata, and its shares of traffic there are not known; "
                "leave its conditions out, or make it a stratum"
            )
    weights = {name: shares[name] * len(strata) / counts[name] for name in shares}
    summary: list[StratumData] = [{"stratum": name, "share": shares[name], "queries": counts[name]} for name in shares]
    return replace(sample, share=np.array([weights[name] for name in strata])), summary
