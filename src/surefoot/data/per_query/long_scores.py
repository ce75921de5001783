"""Values of systems on queries by measures, one row each: the form that all results of other programs become.

Long tables have this form, as `pt.Experiment(…, perquery=True)` of PyTerrier gives them. Results that have means over
queries only are refused, with what to save: no risk can be told from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.data.reading.columns import RowNamer, RowOrTableNamer, ids_of
from surefoot.data.reading.frames import QUERY_COLUMNS
from surefoot.errors import DataError, name_list, shortened

ALL = "all"  # in place of a query: what trec_eval and ir_measures say of all queries together


@dataclass(frozen=True)
class LongScores:
    """A row per system, query and measure, as they were written; `measures` is None where none is named.

    `called` is the file or table, for messages, and `where` says where a row of it stands.
    """

    called: str
    systems: Sequence[str]
    queries: Sequence[str]
    measures: Sequence[str] | None
    values: Sequence[Any]
    where: RowNamer

    def rows_of(self, measure: str | None) -> tuple[list[int], list[int]]:
        """The rows of a measure: those of queries, and those of all queries together."""
        rows = range(len(self.queries))
        chosen = rows if self.measures is None else [row for row in rows if self.measures[row] == measure]
        single: list[int] = []
        together: list[int] = []
        for row in chosen:
            (together if self.queries[row] == ALL else single).append(row)
        return single, together


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


_BEIR = {"ndcg", "map", "recall", "precision", "mrr", "recall_cap", "hole"}
_BEIR_MEAN = re.compile(r"\w+@[0-9]+")
_MEANS = "with one mean per measure. Risk needs the results of each query"
_SYSTEM_HEADS = (*SYSTEMS, "model_names")  # the last is ranx'


def means_in_json(content: Any) -> str | None:
    """Which program's means a JSON file holds, and what to save in their place; nothing where it holds none.

    >>> means_in_json({"ndcg": {"NDCG@10": 0.31}, "map": {"MAP@10": 0.2}}).partition(",")[0]
    'this is what save_results of BEIR writes'
    """
    if not isinstance(content, Mapping):
        return None
    if {"stat_test", "metrics", "model_names"} <= content.keys():
        return (
            f"this is a saved report of ranx, {_MEANS}: save the runs (run.save('new.json')) and give them with the "
            "judgments; or in Python give the runs after ranx.evaluate, which keep the results of each query"
        )
    if {"task_name", "scores"} <= content.keys():
        return (
            f"this is a result of MTEB, {_MEANS}: run mteb.evaluate(…, prediction_folder='predictions') and give the "
            "judgments and the files …_predictions.json"
        )
    if content and set(content) <= _BEIR and all(map(_is_beir_mean, content.values())):
        return (
            f"this is what save_results of BEIR writes, {_MEANS}: save the run (beir.util.save_runfile, or the results "
            "as JSON) and give it with the judgments"
        )
    return None


def _is_beir_mean(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(_BEIR_MEAN.fullmatch(str(name)) for name in value)


def refuse_table_of_means(names: Sequence[str], where: str) -> None:
    """Refuse a table with a row per system, such as `pt.Experiment` gives without `perquery=True`."""
    if names and names[0] in _SYSTEM_HEADS:
        raise DataError(
            f"{where}: the first column is {shortened(names[0])}, so each row seems to be a system {_MEANS}: with "
            "PyTerrier, pt.Experiment(…, perquery=True). If the first column has the queries, call it 'query'"
        )
