"""How the judged queries were chosen: drawn by what they could lose, or of strata with known shares of traffic."""

from __future__ import annotations

import os
from typing import Any

from surefoot.data.reading.columns import ids_of
from surefoot.data.reading.files import inner_ending
from surefoot.data.reading.frames import is_columns
from surefoot.data.reading.query_tables import query_table
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.strata import Strata
from surefoot.errors import ArgumentError, DataError, name_list, shortened

_FORMS = "draws of surefoot judge next (JSON), or a table with the columns query, stratum and share"


def read_sample(source: Any) -> Draws | Strata | None:
    """Draws or strata, or the file of either; None is a plain random sample of the traffic."""
    if source is None or isinstance(source, Draws | Strata):
        return source
    if isinstance(source, str | os.PathLike) and inner_ending(source) == ".json":
        return Draws.read(source)
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "columns") and not is_columns(source):
        raise ArgumentError(f"sample is {shortened(source)}; give Draws, Strata, or a file: {_FORMS}")
    names, columns, where = query_table(source, "sample", "stratum and share", _FORMS)
    if len(columns) != 3:
        raise DataError(f"{where(None)}: expected three columns, found {name_list(names)}; give {_FORMS}")
    queries = ids_of(columns[0], "the query", where).to_list()
    strata = ids_of(columns[1], "the stratum", where).to_list()
    shares: dict[str, Any] = {}
    stratum_of: dict[str, str] = {}
    for row, (query, stratum, share) in enumerate(zip(queries, strata, columns[2], strict=True)):
        if query in stratum_of:
            raise DataError(f"{where(row)}: query {shortened(query)} appears twice; give each query once")
        stratum_of[query] = stratum
        if shares.setdefault(stratum, share) != share:
            raise DataError(
                f"{where(row)}: stratum {shortened(stratum)} has the share {shortened(share)} here and "
                f"{shortened(shares[stratum])} above; a stratum has one share of traffic"
            )
    return Strata({"stratum": stratum_of}, shares)
