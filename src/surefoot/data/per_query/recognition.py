"""Which form a source of scores has: results per query of other programs, or a score matrix.

Results are files, or in memory nested dicts of pytrec_eval and PyTerrier, ranx' runs and ir_measures' records.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from surefoot.data.per_query.long_scores import (
    LONG_FORM,
    MEASURES,
    QUERIES,
    VALUES,
    LongScores,
    from_long_table,
    is_long,
    means_in_json,
)
from surefoot.data.per_query.trec_eval_lines import are_lines, read_result_lines
from surefoot.data.reading.columns import RowOrTableNamer, row_of
from surefoot.data.reading.csv_table import read_csv
from surefoot.data.reading.files import existing_file, is_folder, json_lines, read_json, system_name, text_lines
from surefoot.data.reading.folders import files_in
from surefoot.data.reading.formats import columns_by_name, format_of, is_ranx
from surefoot.data.reading.frames import (
    is_columns,
    is_pandas,
    is_table,
    keys_of,
    one_split,
    read_schema,
    read_table,
    table_of,
)
from surefoot.data.tools.tool_file import JsonValue
from surefoot.errors import ArgumentError, DataError, shortened

IsMeasure = Callable[[str], bool]

_SNIFFED = 1 << 16


def results_in(source: Any, is_measure: IsMeasure) -> list[LongScores] | None:
    """The results per query that a source holds; nothing where it is a score matrix.

    `source` is a file, a folder, several files (a dict gives them names), a table, nested dicts or ranx' runs;
    `is_measure` knows the names of measures.
    """
    if isinstance(source, str | os.PathLike):
        return _results_in_file(source, None, is_measure)
    if is_ranx(source):
        return _from_ranx([source])
    if isinstance(source, list | tuple) and source:
        if all(isinstance(item, str | os.PathLike) for item in source):
            return _results_in_files([(None, item) for item in source], is_measure)
        return _from_ranx(source) if any(map(is_ranx, source)) else None
    source = one_split(source, "scores")
    if isinstance(source, Mapping) and source:
        if all(isinstance(item, str | os.PathLike) for item in source.values()):
            return _results_in_files([(str(name), item) for name, item in source.items()], is_measure)
        if means := means_in_json(source):
            raise DataError(f"scores: {means}")
        if _is_measured(source, is_measure):
            raise DataError(
                "scores: this looks like the results of one system, {query: {measure: value}}; give the systems by "
                "their names: {'today': results, 'new': other_results}"
            )
        parts = _from_systems(source)
        if parts is not None or not is_columns(source):
            return parts
    elif not (is_pandas(source) or is_table(source)):
        return None
    table = table_of(source, "scores")
    return [from_long_table(table, "scores", None, row_of("scores"))] if is_long(table) else None


def _results_in_files(
    files: list[tuple[str | None, str | os.PathLike[str]]], is_measure: IsMeasure
) -> list[LongScores] | None:
    """The results of several files, each with the name of its system where one is given.

    Nothing where the one file is a score matrix.
    """
    if len(files) == 1 and files[0][0] is None:
        return _results_in_file(files[0][1], None, is_measure)
    parts: list[LongScores] = []
    for name, path in files:
        results = _results_in_file(path, name, is_measure)
        if results is None:
            raise ArgumentError(
                f"{path}: this is a score matrix, and it is given with other files; give either judgments and runs or "
                "--scores, not both, and with --scores one matrix or several files of results per query (trec_eval -q)"
            )
        parts += results
    return parts


def _results_in_file(path: str | os.PathLike[str], name: str | None, is_measure: IsMeasure) -> list[LongScores] | None:
    """The results per query of one file, or of all files of a folder; nothing where it is a score matrix."""
    if is_folder(path):
        found = files_in(path)
        parts = [_results_in_file(file, system, is_measure) for system, file in found]
        if None in parts:
            file = found[parts.index(None)][1]
            raise DataError.at(
                file,
                None,
                "these are not results per query, as trec_eval -q prints them (a score matrix, or something "
                f"else), but each file of the folder {path} must have those of one system; move it elsewhere",
            )
        return [result for part in parts for result in part or ()]
    file, file_format = existing_file(path), format_of(path)
    if not file.is_file():  # a pipe can be read once only: it holds a matrix
        return None
    system = name or system_name(path)
    given = [] if name is None else ["name"]  # with its name a table of queries and values alone is one system's
    if file_format == "json":
        return [_from_json(file, system, is_measure)]
    if file_format == "jsonl":
        return [_from_json_lines(file, system)]
    table: Mapping[str, Any]
    if file_format == "parquet":
        if not is_long([*read_schema(file), *given]):
            return None
        frame = read_table(file)
        table, where = dict(zip(frame.columns, frame.get_columns(), strict=True)), row_of(str(path))
    else:
        with closing(text_lines(file, _SNIFFED)) as lines:
            first = next((line for line in lines if line.split()), b"")
        if file_format == "lines" and are_lines(first, QUERIES):
            return [read_result_lines(file, system, is_measure)]
        if not any(is_long([*_fields(first, separator), *given]) for separator in "\t,;"):
            return None
        names, texts, where = read_csv(file, LONG_FORM)
        if not is_long([*names, *given]):  # quotation marks, or another separator
            return None
        table = dict(zip(names, map(list, texts), strict=True))
    return [from_long_table(table, str(path), system, where)]


def _fields(line: bytes, separator: str) -> list[str]:
    return [field.strip().strip('"') for field in line.decode(errors="replace").split(separator)]


def _from_json(path: Path, system: str, is_measure: IsMeasure) -> LongScores:
    content = read_json(path)
    if means := means_in_json(content):
        raise DataError.at(path, None, means)
    file = JsonValue(content, str(path))

    def location(keys: tuple[Any, ...]) -> str:
        return file.child(keys[0]).child(keys[1]).location()

    if _is_measured(content, is_measure):
        return _from_measured(content, system, str(path), location)
    if isinstance(content, list) and content and all(isinstance(row, dict) for row in content):
        return _from_records(path, system, content, row_of(str(path)))
    raise DataError.at(
        path,
        None,
        "expected the results of each query: {query: {measure: value}} as pytrec_eval returns them, or a list of "
        f"{{{LONG_FORM}}}; found {shortened(content)}",
    )


def _from_json_lines(path: Path, system: str) -> LongScores:
    rows = list(json_lines(path))
    for number, row in rows:
        if not isinstance(row, dict):
            raise DataError.at(path, number, f"expected an object {{…}}, found {shortened(row)}")

    def where(row: int | None) -> str:
        return str(path) if row is None else f"{path}, line {rows[row][0]}"

    return _from_records(path, system, [row for _, row in rows], where)


def _from_records(path: Path, system: str, rows: list[dict[str, Any]], where: RowOrTableNamer) -> LongScores:
    names = list(rows[0]) if rows else []
    if not is_long([*names, "name"]):
        raise DataError.at(
            path,
            None,
            f"expected records of query_id, measure and value, as ir_measures writes them; found {shortened(names)}",
        )
    return from_long_table(columns_by_name(rows), str(path), system, where)


Location = Callable[[tuple[Any, ...]], str]  # of a value in a nested dict, by its keys


def _is_nested(value: Any, depth: int) -> bool:
    """Whether it is dicts within dicts, so many levels of them, the innermost with anything but dicts."""
    if depth == 0:
        return not isinstance(value, Mapping)
    return isinstance(value, Mapping) and bool(value) and all(_is_nested(below, depth - 1) for below in value.values())


def _is_measured(results: Any, is_measure: Callable[[str], bool]) -> bool:
    """Whether it is one system's `{query: {measure: value}}`, as pytrec_eval returns it: inner keys are measures."""
    return _is_nested(results, 2) and all(
        isinstance(name, str) and is_measure(name) for measured in results.values() for name in measured
    )


def _from_measured(results: Mapping[Any, Any], system: str, called: str, location: Location) -> LongScores:
    """One system's results, `{query: {measure: value}}`."""
    queries = keys_of(results, f"{called}, query").to_list()
    keys = [(query, measure) for query, measured in results.items() for measure in measured]
    names = [query for query, measured in zip(queries, results.values(), strict=True) for _ in measured]
    values = [value for measured in results.values() for value in measured.values()]
    return LongScores(
        called, [system] * len(names), names, [str(measure) for _, measure in keys], values,
        lambda row: location(keys[row]),
    )  # fmt: skip


def _from_systems(source: Mapping[Any, Any]) -> list[LongScores] | None:
    """A dict by the systems' names of `{query: {measure: value}}`, long tables or records; nothing where it is not."""
    names = [str(name) for name in source]
    if _is_nested(source, 3):
        return [_measured_part(name, results) for name, results in zip(names, source.values(), strict=True)]
    if any(name in (*QUERIES, *MEASURES, *VALUES) for name in names):  # a dict of columns
        return None
    parts = [_long_part(name, results) for name, results in zip(names, source.values(), strict=True)]
    return None if not parts or None in parts else [part for part in parts if part is not None]


def _measured_part(name: str, results: Mapping[Any, Any]) -> LongScores:
    called = f"scores, system {shortened(name)}"

    def location(keys: tuple[Any, ...]) -> str:
        return f"{called}, query {shortened(keys[0])}, measure {shortened(keys[1])}"

    return _from_measured(results, name, called, location)


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
    return from_long_table(table, called, name, row_of(called)) if is_long([*table, "name"]) else None


def _from_ranx(runs: Sequence[Any]) -> list[LongScores]:
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
