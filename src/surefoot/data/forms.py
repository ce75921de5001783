"""Which form a file of runs or judgments has, told by its ending, its header or its number of columns.

The sign holds for the whole file: no line is read in a way of its own.
"""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from surefoot.data.csv_text import check_csv_names
from surefoot.data.files import FORMS, inner_ending, is_compressed, json_lines, text_lines
from surefoot.data.forks import refuse_in_fork
from surefoot.data.frames import DOCUMENT_COLUMNS, QUERY_COLUMNS, is_record, write_frame
from surefoot.data.writing import write_text
from surefoot.errors import DataError, shortened

if TYPE_CHECKING:
    from surefoot.data.documents import FileIds
    from surefoot.data.tables import RankedTable

_SNIFFED = 1 << 16


def form_of(path: str | os.PathLike[str]) -> str:
    """What the ending says: "parquet", "json", "jsonl", "table" (text with a header), or else "lines"."""
    form = FORMS.get(inner_ending(path), "lines")
    return "lines" if form == "parquet" and is_compressed(Path(path)) else form


def write_form(path: str | os.PathLike[str], table: RankedTable) -> bool:
    """Write the table in the form that the ending asks for; does nothing, and says so, where that is lines."""
    tabs = inner_ending(path) == ".tsv"  # written with a header, which a file to be read need not have
    form = "table" if tabs else form_of(path)
    if form == "lines":
        return False
    if form == "parquet":
        write_frame(path, table.to_frame())
        return True
    refuse_in_fork("writing runs and judgments")
    if form == "json":
        text = json.dumps(table.to_dict(), indent=1, ensure_ascii=False) + "\n"
    elif form == "jsonl":
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
    with closing(text_lines(path, _SNIFFED)) as lines:
        line = next((line for line in lines if line.split()), b"").removesuffix(b"\r")
    for separator in "\t,;":
        names = {name.strip().strip('"') for name in line.decode(errors="replace").split(separator)}
        if names.intersection(QUERY_COLUMNS) and names.intersection(DOCUMENT_COLUMNS):
            return None, True
    fields = line.split(b"\t")
    return len(fields) if fields == line.split() else None, False


def read_json_lines(path: str | os.PathLike[str]) -> Any:
    """What a file of JSON lines holds: a list of records, or one dict of all queries."""
    found: list[dict[str, Any]] = []
    nested: dict[str, Any] = {}
    records = False
    for number, value in json_lines(path):
        if not isinstance(value, dict):
            raise DataError.at(path, number, f"expected an object {{…}}, found {shortened(value)}")
        record = is_record(value)
        if found and record != records:
            raise DataError.at(
                path, number, 'lines like {"query_id": …, "doc_id": …} and like {query: …} are mixed; use one form'
            )
        records = record
        found.append(value)
        if not record:
            twice = next((query for query in value if query in nested), None)
            if twice is not None:
                raise DataError.at(path, number, f"query {shortened(twice)} stands on a line before; give it once")
            nested |= value
    return nested or found


def check_ranks(table: RankedTable, ids: FileIds) -> None:
    """Reject three columns whose last does not count 1, 2, 3, … in each query: they may be scores."""
    wrong = np.flatnonzero(-table.ranking.scores != table.ranking.ranks())
    if wrong.size:
        rows = table.ranking.rows(wrong)
        row, first = int(rows.min()), wrong[rows.argmin()]
        query = table.queries[int(table.ranking.query_at(first))]
        raise DataError(
            f"{ids.place(row)}: three columns without a header are 'query document rank', but in query "
            f"{shortened(query)} the last does not count 1, 2, 3, …; if it is a score, put a line "
            "'query_id doc_id score' with tabs above"
        )


def is_ranx(source: Any) -> bool:
    """Whether it is a Run or Qrels of ranx, told by its module, so that ranx need not be installed."""
    return type(source).__module__.partition(".")[0] == "ranx"


def of_ranx(source: Any, wanted: str) -> Any:
    """The nested dict of a ranx object, which must be of the wanted class."""
    if type(source).__name__ != wanted:
        raise DataError(f"found ranx's {type(source).__name__} where its {wanted} is needed")
    return source.to_dict()
