"""What `pt.Experiment(…, perquery=True)` returns, as scores by each measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.data.per_query.long_scores import is_long
from surefoot.data.reading.frames import is_pandas
from surefoot.data.types.scores import Scores
from surefoot.errors import DataError, name_list
from surefoot.measures.score_reading import assessed_scores, read_scores


def scores(results: Any, measures: Sequence[str] | None = None, *, missing: str = "error") -> list[Scores]:
    """The scores by each measure of an experiment, or by those of `measures`, of any spelling; `assess` takes them.

    `results` is what `pt.Experiment(…, perquery=True)` returns, with "both" or without a data frame too. If a system
    has no value for a query, `missing` says what to do: "error", "zero" or "drop".

    >>> rows = {"name": ["BM25", "new"], "qid": ["1", "1"], "measure": ["map", "map"], "value": [0.5, 0.75]}
    >>> scores(rows)
    [<Scores AP: 2 systems × 1 queries>]
    """
    both = getattr(results, "perquery", None)
    if both is None and isinstance(results, tuple) and len(results) == 2:
        both = results[1]
    table = results if both is None else both
    if is_pandas(table) and not is_long(map(str, table.columns)):
        raise DataError(
            "expected what pt.Experiment(…, perquery=True) returns, with the columns name, qid, measure and value; "
            f"found {name_list([str(name) for name in table.columns])}"
        )
    if measures is None:
        return assessed_scores(table, missing)
    return read_scores(table, list(measures), missing=missing)
