"""`--sample`: how the judged queries were chosen, from the draws of `judge next` or from a table of strata."""

from __future__ import annotations

from typing import Any

from surefoot.errors import DataError, name_list, shortened

_FORMS = "draws of surefoot judge next (JSON), or CSV or Parquet with the columns query, stratum, share"


def read_sample(path: str | None) -> dict[str, Any]:
    """What the gate takes for it: draws, or the strata of queries and their shares of traffic."""
    found: dict[str, Any] = {"drawn": None, "weights": None, "strata": None}
    if path is None:
        return found
    from surefoot.data.reading.by_query import query_table
    from surefoot.data.reading.columns import ids_of
    from surefoot.data.reading.files import existing_file, inner_ending

    if inner_ending(path) == ".json":
        return found | {"drawn": existing_file(path)}
    names, columns, where = query_table(path, "sample", "stratum and share", _FORMS)
    if len(columns) != 3:
        raise DataError.at(path, None, f"has the columns {name_list(names)}; give {_FORMS}")
    queries = ids_of(columns[0], "the query", where).to_list()
    strata = ids_of(columns[1], "the stratum", where).to_list()
    shares: dict[str, Any] = {}
    stratum_of: dict[str, str] = {}
    for row, (query, stratum, share) in enumerate(zip(queries, strata, columns[2], strict=True)):
        if stratum_of.setdefault(query, stratum) != stratum:
            raise DataError(f"{where(row)}: query {shortened(query)} is in two strata; give each query once")
        if shares.setdefault(stratum, share) != share:
            raise DataError(
                f"{where(row)}: stratum {shortened(stratum)} has the share {shortened(share)} here and "
                f"{shortened(shares[stratum])} above; a stratum has one share of traffic"
            )
    return found | {"weights": shares, "strata": {"stratum": stratum_of}}
