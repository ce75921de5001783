"""Which format a file of runs or judgments has, told by its ending, its header, its keys or its number of columns.

The sign holds for the whole file: no line is read in a way of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from surefoot.data.per_query.long_scores import means_in_json
from surefoot.data.reading.columns import RowNamer, row_of
from surefoot.data.reading.csv_table import check_csv_names, read_csv
from surefoot.data.reading.files import FORMAT_OF_ENDING, inner_ending, is_compressed, json_lines, lines_in, read_json
from surefoot.data.reading.frames import (
    DOCUMENT_COLUMNS,
    GRADE_COLUMNS,
    QUERY_COLUMNS,
    SCORE_COLUMNS,
    checked_columns,
    columns_of,
    columns_of_table,
    is_query_table,
    is_record,
    read_table,
    table_of,
    write_frame,
)
from surefoot.data.reading.polars_process import refuse_in_fork
from surefoot.data.reading.run_lines import line_blocks
from surefoot.data.tools import json_formats as workbench
from surefoot.data.tools import judge_records, mteb, quepid, rank_eval
from surefoot.data.tools.judges import AUTOMATIC, JudgmentOrigin
from surefoot.data.tools.tool_file import JsonFile, JsonValue, ToolFile
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.errors import ArgumentError, DataError, name_list, shortened

if TYPE_CHECKING:
    from surefoot.data.reading.held_rows import FileIds
    from surefoot.data.types.runs import RankedTable

_FIRST_BYTES = 1 << 16
_BLOCK = 1 << 20  # bytes of judgments that are looked through at once


class FilePart(NamedTuple):
    """Query, document and number columns, where a row stands, and who made judgments, where the file says."""

    columns: tuple[pl.Series, ...]
    where: RowNamer
    origin: JudgmentOrigin | None = None
    system: str | None = None  # which a run is of, where the file says


def format_of(path: str | os.PathLike[str]) -> str:
    """What the ending says: "parquet", "json", "jsonl", "table" (text with a header), or else "lines"."""
    file_format = FORMAT_OF_ENDING.get(inner_ending(path), "lines")
    return "lines" if file_format == "parquet" and is_compressed(Path(path)) else file_format


def write_in_format(path: str | os.PathLike[str], table: RankedTable) -> bool:
    """Write the table in the format that the ending names; False, with nothing written, where that is lines."""
    tabs = inner_ending(path) == ".tsv"  # written with a header, which a file to be read need not have
    file_format = "table" if tabs else format_of(path)
    if file_format == "lines":
        return False
    if file_format == "parquet":
        write_frame(path, table.to_frame())
        return True
    refuse_in_fork("writing runs and judgments")
    if file_format == "json":
        text = json.dumps(table.to_dict(), indent=1, ensure_ascii=False) + "\n"
    elif file_format == "jsonl":
        rows = table.to_frame().iter_rows(named=True)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        frame = table.to_frame()
        check_csv_names(path, pl.concat([frame["query_id"].unique(), frame["doc_id"].unique()]).to_list())
        text = frame.write_csv(separator="\t" if tabs else ",")
    write_text(path, text)
    return True


def first_fields(path: str | os.PathLike[str]) -> tuple[int | None, bool]:
    """How many columns single tabs part the first filled line into, and whether it names queries and documents.

    None where there is other white space, which may hide a column that is empty.
    """
    with closing(lines_in(line_blocks(path, _FIRST_BYTES))) as lines:
        line = next((line for line in lines if line.split()), b"").removesuffix(b"\r")
    for separator in "\t,;":
        names = {name.strip().strip('"') for name in line.decode(errors="replace").split(separator)}
        if names.intersection(QUERY_COLUMNS) and names.intersection(DOCUMENT_COLUMNS):
            return None, True
    fields = line.split(b"\t")
    return len(fields) if fields == line.split() else None, False


def read_parts(
    path: Path, file_format: str, what: str, number_columns: Sequence[str], rating_merge: str | None
) -> dict[str | None, FilePart]:
    """What a file that is not lines holds: one table, or several runs by their names.

    `what` says what is expected, a run or judgments, with one of `number_columns` as the name of its number;
    `rating_merge` is the rule for several judges' ratings, if one is given.
    """
    tool_file, content, where = _tool_file(path, file_format, what, number_columns, rating_merge)
    if not (tool_file and tool_file.names_judges):
        refuse_judges(rating_merge)
    if tool_file is not None:
        return _tool_parts(tool_file, path, what)
    if file_format == "table":
        return {None: FilePart(columns_of_table(content, number_columns, str(path), where), where)}
    return {None: FilePart(columns_of(content, number_columns, str(path)), where)}


def judges_in(path: Path, file_format: str) -> dict[str, FilePart] | None:
    """What each judge said, of a file that has several judges or names its one; nothing where it does neither."""
    tool_file, _, _ = _tool_file(path, file_format, "judgments", GRADE_COLUMNS, None)
    if tool_file is None or tool_file.by_judge is None:
        return None
    return {
        judge: FilePart(checked_columns(rows.queries, rows.documents, rows.numbers, rows.names, rows.where), rows.where)
        for judge, rows in tool_file.by_judge.items()
    }


def _tool_file(
    path: Path, file_format: str, what: str, number_columns: Sequence[str], rating_merge: str | None
) -> tuple[ToolFile | None, Any, RowNamer]:
    """A tool's file, or else its content; and where a row of it stands."""
    where: RowNamer = row_of(str(path))
    tool_file: ToolFile | None = None
    content: Any = None
    if file_format == "table":
        names, columns, where = read_csv(path, f"query_id,doc_id,{number_columns[0]}")
        tool_file = quepid.from_table(names, columns, where, (*GRADE_COLUMNS, *SCORE_COLUMNS, "position"), rating_merge)
        content = dict(zip(names, columns, strict=True))
    elif file_format == "parquet":
        content = read_table(path)
    elif file_format == "json":
        content = read_json(path)
        file = JsonValue(content, JsonFile(str(path)))
        if means := means_in_json(content):
            raise DataError.at(path, None, means)
        tool_file = workbench.from_json(file) or rank_eval.from_json(file) or mteb.from_json(file)
    else:
        tool_file, content = _read_json_lines(path, rating_merge)
    if tool_file is None and what == "judgments":
        tool_file = _judge_table(path, content, where, rating_merge)
    return tool_file, content, where


def _judge_table(path: Path, content: Any, where: RowNamer, rating_merge: str | None) -> ToolFile | None:
    """A table that says who judged, if it is one."""
    if isinstance(content, list) and content and isinstance(content[0], dict):
        content = {name: [record.get(name) for record in content] for name in content[0]}
    table = content if isinstance(content, dict) else {name: content[name] for name in getattr(content, "columns", ())}
    if not judge_records.has_judges(table):
        return None
    wanted = (QUERY_COLUMNS, DOCUMENT_COLUMNS, GRADE_COLUMNS)
    picked = [next((name for name in names if name in table), "") for names in wanted]
    if not all(picked):
        return None
    return judge_records.from_judge_table(str(path), table, (picked[0], picked[1], picked[2]), where, rating_merge)


def judged_part(source: Any, what: str, rating_merge: str | None) -> FilePart | None:
    """The judgments of a table in memory that says who judged; nothing where it does not."""
    names: Any
    if is_query_table(source):
        names = list(source)
    elif isinstance(source, pl.LazyFrame):
        names = source.collect_schema().names()
    else:  # Arrow's columns have no names
        names = getattr(source, "column_names", None) or getattr(source, "columns", ())
    if not judge_records.has_judges(map(str, names)):
        return None
    where = row_of(what)
    tool_file = _judge_table(Path(what), table_of(source, what), where, rating_merge)
    return None if tool_file is None else _tool_parts(tool_file, Path(what), "judgments")[None]


def _mark(line: bytes) -> bytes:
    """The second of four columns."""
    fields = line.split()
    return fields[1] if len(fields) == 4 else b""


def lines_origin(path: str | os.PathLike[str]) -> JudgmentOrigin | None:
    """Who made the judgments in a file of lines, as the second column says of each; nothing where none says so."""
    mark, machine, others = AUTOMATIC.encode(), False, False
    for block in line_blocks(path, _BLOCK):
        if block.strip():
            marked = [_mark(line) == mark for line in block.splitlines() if line.strip()] if mark in block else [False]
            machine |= any(marked)
            others |= not all(marked)
    return JudgmentOrigin("people and machine" if others else "machine") if machine else None


def _tool_parts(tool_file: ToolFile, path: Path, what: str) -> dict[str | None, FilePart]:
    if tool_file.holds != what:
        actual = "a run" if tool_file.holds == "run" else "judgments"
        needed = "a run is" if what == "run" else "judgments are"
        raise DataError.at(path, None, f"this is {tool_file.what}, which contains {actual}, but {needed} needed here")
    if not any(len(rows.documents) for rows in tool_file.parts.values()):
        raise DataError.at(path, None, f"this is {tool_file.what}, but no query in it has a document")
    return {
        name: FilePart(
            checked_columns(rows.queries, rows.documents, rows.numbers, rows.names, rows.where), rows.where,
            tool_file.origin, name if tool_file.names_system else None,
        )
        for name, rows in tool_file.parts.items()
        if len(rows.documents)
    }  # fmt: skip


def one_part(parts: dict[str | None, FilePart], path: str | os.PathLike[str], name: str | None) -> FilePart:
    """The one table of a file, or of several runs the one of that name."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    if name is not None and name in parts:
        return parts[name]
    not_among = "" if name is None else f", none of them {shortened(name)}"
    raise DataError.at(
        path,
        None,
        f"contains {len(parts)} runs{not_among}: {name_list([str(run) for run in parts])}; choose one of them, or use "
        "all of them (without a name on the command line, with read_runs in Python)",
    )


def refuse_judges(rating_merge: str | None) -> None:
    """Refuse a rule for several judges where there are none."""
    if rating_merge is not None:
        raise ArgumentError(
            f"judges={shortened(rating_merge)} says how several judges' ratings become one. Only files that name their "
            "judges have several: a Quepid book (a CSV file with 'query,docid' and a column for each judge), umbrela's "
            "JSON lines, or a table with a column 'judge'; leave it out"
        )


def _read_json_lines(path: Path, rating_merge: str | None) -> tuple[ToolFile | None, Any]:
    """What a file of JSON lines holds: a tool's results, or a list of records, or one dict of all queries."""
    lines = json_lines(path)
    first = list(islice(lines, 1))  # a pipe can be read once only
    tool_file = workbench.from_json_lines(str(path), chain(first, lines))
    if tool_file is None:
        tool_file = judge_records.from_umbrela(str(path), chain(first, lines), rating_merge) if first else None
    return (tool_file, None) if tool_file else (None, _records(path, chain(first, lines)))


def _records(path: Path, lines: Iterable[tuple[int, Any]]) -> Any:
    """A list of records, or one dict of all queries."""
    values: list[dict[str, Any]] = []
    nested: dict[str, Any] = {}
    records = False
    for number, value in lines:
        if not isinstance(value, dict):
            raise DataError.at(path, number, f"expected an object {{…}}, found {shortened(value)}")
        record = is_record(value)
        if values and record != records:
            raise DataError.at(
                path, number, 'lines like {"query_id": …, "doc_id": …} and like {query: …} are mixed; use one form'
            )
        records = record
        values.append(value)
        if not record:
            twice = next((query for query in value if query in nested), None)
            if twice is not None:
                raise DataError.at(
                    path, number, f"query {shortened(twice)} already appears on an earlier line; keep one of the two"
                )
            nested |= value
    return nested or values


def check_ranks(table: RankedTable, ids: FileIds) -> None:
    """Reject three columns whose last does not count 1, 2, 3, … in each query: they may be scores."""
    wrong = np.flatnonzero(-table.ranking.scores != table.ranking.ranks())
    if wrong.size:
        rows = table.ranking.rows(wrong)
        row, first = int(rows.min()), wrong[rows.argmin()]
        query = table.queries[int(table.ranking.query_at(first))]
        raise DataError(
            f"{ids.location(row)}: a file with three columns and no header is read as 'query document rank', but in "
            f"query {shortened(query)} the last column is not 1, 2, 3, …. If it is a score, add the header line "
            "'query_id doc_id score', separated by tabs"
        )


def is_ranx(source: Any) -> bool:
    """Whether it is a Run or Qrels of ranx, told by its module, so that ranx need not be installed."""
    return type(source).__module__.partition(".")[0] == "ranx"


def ranx_dict(source: Any, class_name: str) -> Any:
    """The nested dict of a ranx object, which must be of the wanted class."""
    if type(source).__name__ != class_name:
        raise DataError(f"found {type(source).__name__} of ranx, but {class_name} of ranx is needed")
    return source.to_dict()
