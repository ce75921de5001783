"""What each judge of a file said."""

from __future__ import annotations

import os

from surefoot.data.reading.files import existing_file, system_name
from surefoot.data.reading.formats import first_fields, format_of, judges_in
from surefoot.data.types.runs import Qrels, RankedSource


def read_judges(source: RankedSource) -> dict[str, Qrels]:
    """Each judge's judgments by name: of a Quepid book, a table with a column `judge`, or umbrela's lines.

    A source that names no judges has one, by the name of the file.

    >>> read_judges({"q1": {"d1": 1}})
    {'judgments': <Qrels 'judgments': 1 queries, 1 documents>}
    """
    if isinstance(source, str | os.PathLike):
        file, file_format = existing_file(source), format_of(source)
        if file_format == "lines" and file.is_file() and first_fields(source)[1]:
            file_format = "table"
        parts = None if file_format == "lines" or not file.is_file() else judges_in(file, file_format)
        if parts is not None:
            columns = ("query_id", "doc_id", "relevance")
            return {
                judge: Qrels._read(dict(zip(columns, part.columns, strict=True)), judge)
                for judge, part in parts.items()
            }
        return {system_name(source): Qrels._read(source)}
    judgments = Qrels._read(source)
    return {judgments.name: judgments}
