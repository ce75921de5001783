"""Which format a file of runs or judgments has, told by its ending, its header, its keys or its number of columns.

The sign holds for the whole file: no line is read in a way of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from surefoot.data.per_query.long_scores import means_in_json
from surefoot.data.reading.columns import row_of
from surefoot.data.reading.csv_table import check_csv_names, read_csv
from surefoot.data.reading.files import FORMAT_OF_ENDING, inner_ending, is_compressed, json_lines, lines_in, read_json
from surefoot.data.reading.frames import (
    DOCUMENT_COLUMNS,
    QUERY_COLUMNS,
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
from surefoot.data.tools import json_formats as tools
from surefoot.data.tools import judge_records, quepid
from surefoot.data.tools.judges import AUTOMATIC, JudgmentOrigin
from surefoot.data.tools.tool_file import Content, Rows, RowsByName
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.errors import ArgumentError, DataError, name_list, shortened

if TYPE_CHECKING:
    from surefoot.data.reading.held_rows import FileIds
    from surefoot.data.types.runs import RankedTable

_FIRST_BYTES = 1 << 16
_BLOCK = 1 << 20  # bytes of judgments that are looked through at once
_WORKBENCH_JUDGMENTS = "judgments of the Search Relevance Workbench"
_WORKBENCH_RESULTS = "results of the Search Relevance Workbench"
_UMBRELA = "judgments of umbrela"


class Format(NamedTuple):
    """A tool's format: its name, the files it comes in, what it holds, how it is known, and how it is read."""

    name: str
    file_format: str
    holds: str
    recognise: Callable[[Content], bool]
    read: Callable[[Content], RowsByName]
    names_judges: bool = False  # ratings say who gave them, so several judges' may be merged


# The first that recognises a file reads it; what none recognises is a plain table, dict or list of records.
FORMATS = (
    Format("a Quepid case's ratings", "table", "judgments", quepid.is_ratings, quepid.ratings),
    Format("a Quepid snapshot", "table", "run", quepid.is_snapshot, quepid.snapshot),
    Format("a Quepid book", "table", "judgments", quepid.is_book, quepid.book, names_judges=True),
    Format(_WORKBENCH_JUDGMENTS, "json", "judgments", tools.is_workbench_judgments, tools.workbench_judgments),
    Format(_WORKBENCH_RESULTS, "json", "run", tools.is_workbench_results, tools.workbench_results),
    Format("a _rank_eval request", "json", "judgments", tools.is_rank_eval_request, tools.rank_eval_request),
    Format("a _rank_eval response", "json", "run", tools.is_rank_eval_response, tools.rank_eval_response),
    Format("MTEB's predictions", "json", "run", tools.is_mteb, tools.mteb),
    Format(_WORKBENCH_RESULTS, "jsonl", "run", tools.is_workbench_result, tools.workbench_results),
    Format(_UMBRELA, "jsonl", "judgments", judge_records.is_umbrela, judge_records.umbrela, names_judges=True),
)


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
) -> RowsByName:
    """What a file that is not lines holds: one table, or several runs by their names.

    `what` says what is expected, a run or judgments, with one of `number_columns` as the name of its number;
    `rating_merge` is the rule for several judges' ratings, if one is given.
    """
    content = _content(path, file_format, number_columns, rating_merge)
    tool = next((each for each in FORMATS if each.file_format == file_format and each.recognise(content)), None)
    if tool is not None:
        if not tool.names_judges:
            refuse_judges(rating_merge)
        if tool.holds != what:
            actual = "a run" if tool.holds == "run" else "judgments"
            needed = "a run is" if what == "run" else "judgments are"
            raise DataError.at(path, None, f"this is {tool.name}, which contains {actual}, but {needed} needed here")
        parts = {name: rows for name, rows in tool.read(content).items() if len(rows.columns[0])}
        if not parts:
            raise DataError.at(path, None, f"this is {tool.name}, but no query in it has a document")
        return parts
    value = _records(path, content.lines) if file_format == "jsonl" else content.value
    if what == "judgments":
        judged = judge_records.judged_rows(str(path), columns_by_name(value), content.where, rating_merge)
        if judged is not None:
            return {None: judged}
    refuse_judges(rating_merge)
    if file_format in ("table", "parquet"):
        return {None: Rows(columns_of_table(value, number_columns, str(path), content.where), content.where)}
    return {None: Rows(columns_of(value, number_columns, str(path)), content.where)}


def _content(path: Path, file_format: str, number_columns: Sequence[str], rating_merge: str | None) -> Content:
    """What a file holds, whatever tool wrote it."""
    where = row_of(str(path))
    if file_format == "table":
        names, columns, where = read_csv(path, f"query_id,doc_id,{number_columns[0]}")
        return Content(str(path), dict(zip(names, columns, strict=True)), where, rating_merge)
    if file_format == "parquet":
        frame = read_table(path)
        return Content(str(path), dict(zip(frame.columns, frame.get_columns(), strict=True)), where, rating_merge)
    if file_format == "json":
        value = read_json(path)
        if means := means_in_json(value):
            raise DataError.at(path, None, means)
        return Content(str(path), value, where, rating_merge)
    lines = json_lines(path)
    first = list(islice(lines, 1))  # a pipe can be read once only
    return Content(str(path), first[0][1] if first else None, where, rating_merge, chain(first, lines))


def columns_by_name(value: Any) -> dict[str, Any]:
    """Columns, also those of records; nothing of what has none."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {name: [record.get(name) for record in value] for name in value[0]}
    return value if isinstance(value, dict) else {}


def judged_part(source: Any, what: str, rating_merge: str | None) -> Rows | None:
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
    return judge_records.judged_rows(what, table_of(source, what), row_of(what), rating_merge)


def lines_origin(path: str | os.PathLike[str]) -> JudgmentOrigin | None:
    """Who made the judgments in a file of lines, as the second column says of each; nothing where none says so."""
    mark, machine, others = AUTOMATIC.encode(), False, False
    for block in line_blocks(path, _BLOCK):
        if block.strip():
            lines = [line.split() for line in block.splitlines() if line.strip()] if mark in block else [[]]
            marked = [len(fields) == 4 and fields[1] == mark for fields in lines]
            machine |= any(marked)
            others |= not all(marked)
    return JudgmentOrigin("people and machine" if others else "machine") if machine else None


def one_part(parts: RowsByName, path: str | os.PathLike[str], name: str | None) -> Rows:
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
