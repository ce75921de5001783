"""Long tables: a row per system, query and measure, as `pt.Experiment(…, perquery=True)` of PyTerrier gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from surefoot.data.per_query.long_scores import LongScores
from surefoot.data.reading.columns import RowOrTableNamer, ids_of
from surefoot.data.reading.frames import QUERY_COLUMNS
from surefoot.errors import DataError, name_list

SYSTEMS = ("name", "system", "run", "run_id", "model")
MEASURES = ("measure", "metric")
VALUES = ("value", "score")
QUERIES = (*QUERY_COLUMNS, "topic")
LONG_FORM = "name, qid, measure, value"


def is_long(names: Iterable[str]) -> bool:
    """Whether these columns are those of a long table: a query, a value, and a measure or a system.

    >>> is_long(["name", "qid", "measure", "value"]), is_long(["query", "today", "new"])
    (True, False)
    """
    present = set(names)
    return all(map(present.intersection, (QUERIES, VALUES, (*MEASURES, *SYSTEMS))))


def from_long_table(
    table: Mapping[str, Sequence[Any]], called: str, system: str | None, where: RowOrTableNamer
) -> LongScores:
    """The rows of a long table; `system` is its name where no column says so."""
    columns = {
        what: next((name for name in names if name in table), None)
        for what, names in (("system", SYSTEMS), ("query", QUERIES), ("measure", MEASURES), ("value", VALUES))
    }
    values = list(table[str(columns["value"])])
    if not values:
        raise DataError(f"{where(None)}: the table is empty; expected at least one row")
    if columns["system"] is None and system is None:
        raise DataError(
            f"{where(None)}: no column says which system a row belongs to; found {name_list(list(table))}. Add one of "
            f"{', '.join(SYSTEMS)}, or give a dict of tables by the systems' names"
        )

    def texts(column: str | None, what: str) -> Sequence[str] | None:
        return None if column is None else ids_of(_plain(table[column]), what, where).to_list()

    queries = texts(columns["query"], repr(columns["query"]))
    assert queries is not None
    return LongScores(
        called,
        texts(columns["system"], repr(columns["system"])) or [str(system)] * len(values),
        queries,
        texts(columns["measure"], repr(columns["measure"])),
        values,
        where,
    )


def _plain(values: Any) -> Any:
    """A column of ids; measures that are objects of ir_measures become their names."""
    if isinstance(values, list | tuple) and any(type(value).__module__.startswith("ir_measures") for value in values):
        return [str(value) for value in values]
    return values
