"""Results per query in memory or JSON: nested dicts of pytrec_eval and PyTerrier, ranx' runs, ir_measures' records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from surefoot.data.per_query.long_scores import LongScores
from surefoot.data.per_query.tables import MEASURES, QUERIES, VALUES, from_long_table, is_long
from surefoot.data.reading.columns import row_of
from surefoot.data.reading.formats import is_ranx
from surefoot.data.reading.frames import is_pandas, is_table, keys_of, table_of
from surefoot.errors import DataError, shortened

Location = Callable[[tuple[Any, ...]], str]  # of a value in a nested dict, by its keys


def is_nested(value: Any, depth: int) -> bool:
    """Whether it is dicts within dicts, so many levels of them, the innermost with anything but dicts."""
    if depth == 0:
        return not isinstance(value, Mapping)
    return isinstance(value, Mapping) and bool(value) and all(is_nested(below, depth - 1) for below in value.values())


def is_measured(results: Any, is_measure: Callable[[str], bool]) -> bool:
    """Whether it is one system's `{query: {measure: value}}`, as pytrec_eval returns it: inner keys are measures."""
    return is_nested(results, 2) and all(
        isinstance(name, str) and is_measure(name) for measured in results.values() for name in measured
    )


def from_measured(results: Mapping[Any, Any], system: str, called: str, location: Location) -> LongScores:
    """One system's results, `{query: {measure: value}}`."""
    queries = keys_of(results, f"{called}, query").to_list()
    keys = [(query, measure) for query, measured in results.items() for measure in measured]
    names = [query for query, measured in zip(queries, results.values(), strict=True) for _ in measured]
    values = [value for measured in results.values() for value in measured.values()]
    return LongScores(
        called, [system] * len(names), names, [str(measure) for _, measure in keys], values,
        lambda row: location(keys[row]),
    )  # fmt: skip


def from_systems(source: Mapping[Any, Any]) -> list[LongScores] | None:
    """A dict by the systems' names of `{query: {measure: value}}`, long tables or records; nothing where it is not."""
    names = [str(name) for name in source]
    if is_nested(source, 3):
        return [
            from_measured(results, name, f"scores, system {shortened(name)}", _in(f"scores, system {shortened(name)}"))
            for name, results in zip(names, source.values(), strict=True)
        ]
    if any(name in (*QUERIES, *MEASURES, *VALUES) for name in names):  # a dict of columns
        return None
    parts = [_long_part(name, results) for name, results in zip(names, source.values(), strict=True)]
    return None if not parts or None in parts else [part for part in parts if part is not None]


def _in(called: str) -> Location:
    return lambda keys: f"{called}, query {shortened(keys[0])}, measure {shortened(keys[1])}"


def _long_part(name: str, results: Any) -> LongScores | None:
    """One system's results, of a long table or of records such as ir_measures' `Metric(query_id, measure, value)`."""
    called = f"scores, system {shortened(name)}"
    if is_pandas(results) or is_table(results):
        table = table_of(results, called)
    elif isinstance(results, Iterable) and not isinstance(results, str | bytes | Mapping):
        rows = list(results)
        if not rows or not all(hasattr(row, "_fields") and row._fields == rows[0]._fields for row in rows):
            return None
        table = dict(zip(rows[0]._fields, zip(*rows, strict=True), strict=True))
    else:
        return None
    return from_long_table(table, called, name, located(called)) if is_long([*table, "name"]) else None


def located(called: str) -> Callable[[int | None], str]:
    """Where a row of a table in memory stands, or with None the table."""
    return lambda row: called if row is None else row_of(called)(row)


def from_ranx(runs: Sequence[Any]) -> list[LongScores]:
    """The results of each query that ranx keeps in the runs it evaluated."""
    parts = []
    for number, run in enumerate(runs, start=1):
        if not is_ranx(run) or type(run).__name__ != "Run":
            called = f"{type(run).__name__} of ranx" if is_ranx(run) else type(run).__name__
            raise DataError(
                f"scores, item {number}: found a {called}. Reports of ranx have means only; give its runs after "
                "ranx.evaluate(qrels, run, metrics), which keep the results of each query"
            )
        name = str(run.name or f"run {number}")
        if not run.scores:
            raise DataError(
                f"scores, item {number}: the run {shortened(name)} of ranx has no results yet; call "
                "ranx.evaluate(qrels, run, metrics) first, or give judgments and runs to sf.score"
            )
        rows = [(measure, query, value) for measure, values in run.scores.items() for query, value in values.items()]
        measures, queries, values = (list(column) for column in zip(*rows, strict=True))
        called = f"scores, run {shortened(name)}"
        parts.append(LongScores(called, [name] * len(rows), queries, measures, values, row_of(called)))
    return parts
