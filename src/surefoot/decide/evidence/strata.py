"""Judged queries that are not like traffic: strata with known shares of it."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.arguments import finite_number
from surefoot.data.reading.columns import ids_of
from surefoot.data.reading.query_tables import query_table, read_segments
from surefoot.decide.evidence.evidence_data import StratumData
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.errors import ArgumentError, DataError, name_list, shortened

_ROUNDING = 1e-6  # by which shares may miss a sum of 1
_FORMS = "a file of two columns, stratum and share, or a dict {stratum: share}"


class Strata:
    """Judged queries that are not like traffic: the stratum of each, and each stratum's share of all traffic.

    `stratum_of` is a dict {query: stratum} or a file or table of two columns; `shares` is a dict {stratum: share}, or
    a file or table of two columns. Shares sum to 1.

    >>> Strata({"q1": "head", "q2": "tail"}, {"head": 0.7, "tail": 0.3}).shares
    {'head': 0.7, 'tail': 0.3}
    """

    def __init__(self, stratum_of: Any, shares: Any) -> None:
        columns = read_segments(stratum_of)
        if len(columns) != 1:
            raise ArgumentError(
                f"strata need one column with the stratum of each query; found {name_list([*columns]) or 'none'}"
            )
        ((self._column, self.stratum_of),) = columns.items()
        self.shares = read_shares(shares)


def read_shares(source: Any) -> dict[str, float]:
    """Each stratum's share of traffic, from a dict or from a CSV or Parquet file of two columns; they sum to 1.

    >>> read_shares({"head": 0.7, "tail": 0.3})
    {'head': 0.7, 'tail': 0.3}
    """
    where = str(source) if isinstance(source, str | os.PathLike) else "shares"
    if isinstance(source, Mapping):
        rows = [(str(name), value) for name, value in source.items()]
    else:
        names, columns, row_location = query_table(source, "shares", "share", _FORMS)
        if len(columns) != 2:
            raise DataError(f"{where}: expected two columns, stratum and share; found {name_list(names)}")
        rows = list(zip(ids_of(columns[0], "the stratum", row_location).to_list(), columns[1], strict=True))
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


def weigh_strata(sample: JudgedQueries, given: Strata) -> tuple[JudgedQueries, list[StratumData]]:
    """The sample with each query's weight, π_h·n/n_h, and for each stratum its share and number of queries."""
    stratum_of, shares = given.stratum_of, given.shares
    without = [query for query in sample.queries if query not in stratum_of]
    if without:
        raise DataError(
            f"{len(without):,} judged queries have no stratum in {shortened(given._column)} "
            f"({name_list(without, 3, shortened)}); every query needs a stratum"
        )
    strata = [stratum_of[query] for query in sample.queries]
    unknown = sorted(set(strata) - set(shares))
    if unknown:
        raise DataError(
            f"no share of traffic is given for {name_list(unknown, 3, shortened)}; there are shares for: "
            f"{name_list([*shares])}"
        )
    counted = Counter(strata)
    counts = {name: counted[name] for name in shares}
    empty = [name for name, count in counts.items() if not count]
    if empty:
        raise DataError(
            f"no judged query belongs to {name_list(empty, 3, shortened)}, which has a share of traffic, so nothing "
            "can be decided about it; judge some of its queries"
        )
    for segment, flags in sample.members.items():
        if len({strata[row] for row in np.flatnonzero(flags).tolist()}) > 1:
            raise ArgumentError(
                f"segment {shortened(segment)} covers several strata, and its share of traffic in each is not known; "
                "remove its conditions, or make it a stratum"
            )
    stratum_weights = {name: shares[name] * len(strata) / counts[name] for name in shares}
    summary: list[StratumData] = [{"stratum": name, "share": shares[name], "queries": counts[name]} for name in shares]
    return replace(sample, stratum_weight=np.array([stratum_weights[name] for name in strata])), summary
