"""Judgments, and documents that are still to be judged, in the formats that tools read.

Tools know a query by its text, TREC files by an id: texts take the place of ids here, and the other way round.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import polars as pl

from surefoot.arguments import integer
from surefoot.data.reading.csv_table import check_csv_names
from surefoot.data.reading.files import system_name
from surefoot.data.reading.texts import read_texts
from surefoot.data.tools.json_formats import judgments_text, query_set_text
from surefoot.data.tools.judges import JudgmentFormat
from surefoot.data.tools.quepid import ratings_text
from surefoot.data.types.runs import Qrels, RankedSource, RankedTable, Run
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.errors import ArgumentError, DataError, other_queries_hint, shortened, without_middle

_LONGEST_NAME = 50  # letters of a name in the Workbench


def write_judgments(
    judgments: RankedSource | None,
    path: str | os.PathLike[str],
    form: str = "quepid",
    *,
    unrated: RankedSource | None = None,
    depth: int | None = None,
    queries: Any = None,
    name: str | None = None,
) -> None:
    """Write judgments, and what is still to be judged, for a tool; all or nothing.

    `form` is "quepid" (a case's ratings, CSV, with an empty cell where a document is not rated), "workbench" (a list of
    judgments) or "query-set" (the queries alone). `unrated` is a run of documents to be judged, of each query the first
    `depth`; those that are rated already are left out. `queries` are texts that take the place of queries' ids: a tool
    knows a query by its text. `name` is what the Workbench calls the list; the file's name by default.

    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "to-judge.csv"
    >>> write_judgments({"q1": {"d1": 2}}, file, unrated={"q1": ["d1", "d7"]}, queries={"q1": "red dress"})
    >>> print(file.read_text())
    query,docid,rating
    red dress,d1,2
    red dress,d7,
    """
    judgment_format = JudgmentFormat.parse(form)
    if judgments is None and unrated is None:
        raise ArgumentError("there is nothing to write; give judgments, or documents that are unrated")
    if unrated is not None and judgment_format is JudgmentFormat.workbench:
        raise ArgumentError(
            "the Search Relevance Workbench has no place for documents that are not rated; write them for Quepid, or "
            "the queries alone as a query-set"
        )
    if depth is not None:
        if unrated is None:
            raise ArgumentError("depth is only for unrated documents, but there are none; leave it out")
        integer("depth", depth, 1)

    def by_query(table: RankedTable) -> dict[str, dict[str, float]]:
        return (table if queries is None else with_texts(table, queries)).to_dict()

    rated = {} if judgments is None else by_query(Qrels._read(judgments))
    results = {} if unrated is None else by_query(Run._read(unrated))
    to_judge = {query: list(documents)[:depth] for query, documents in results.items()}
    if judgment_format is JudgmentFormat.quepid:
        text = _quepid(path, rated, to_judge)
    else:
        list_name = _name(name, path)
        if judgment_format is JudgmentFormat.workbench:
            ratings = {
                query: {document: repr(grade) for document, grade in grades.items()} for query, grades in rated.items()
            }
            text = judgments_text(ratings, list_name)
        else:
            text = query_set_text(dict.fromkeys([*rated, *to_judge]), list_name)
    write_text(path, text)


def _quepid(path: str | os.PathLike[str], rated: dict[str, dict[str, float]], unrated: dict[str, list[str]]) -> str:
    rows: list[tuple[str, str, str]] = []
    for query in dict.fromkeys([*rated, *unrated]):
        grades = rated.get(query, {})
        rows += [(query, document, _number(grade)) for document, grade in grades.items()]
        rows += [(query, document, "") for document in unrated.get(query, ()) if document not in grades]
    names = dict.fromkeys(name for query, document, _ in rows for name in (query, document))
    check_csv_names(path, names, "rename it, or write the judgments for the Workbench")
    return ratings_text(rows)


def _number(grade: float) -> str:
    return str(int(grade)) if grade == int(grade) and abs(grade) < 2**53 else repr(grade)


def _name(name: str | None, path: str | os.PathLike[str]) -> str:
    if name is None:
        return without_middle(system_name(path), _LONGEST_NAME)
    if not 0 < len(name.strip()) <= len(name) <= _LONGEST_NAME:
        raise ArgumentError(
            f"a name for the Workbench must have 1 to {_LONGEST_NAME} characters, but this name has {len(name)}"
        )
    return name


Ranked = TypeVar("Ranked", bound=RankedTable)


def with_texts(table: Ranked, texts: Any) -> Ranked:
    """The same table with a text for each query's id; `texts` is a file, a dict or a table.

    >>> from surefoot.data.types.runs import read_qrels
    >>> with_texts(read_qrels({"q1": {"d1": 2}}), {"q1": "red dress"}).to_dict()
    {'red dress': {'d1': 2.0}}
    """
    return _rename_queries(table, read_texts(texts, set(table.queries)), "text")


def with_ids(table: Ranked, texts: Any) -> Ranked:
    """The same table with an id for each query's text: what `with_texts` does, undone.

    >>> from surefoot.data.types.runs import read_qrels
    >>> with_ids(read_qrels({"red dress": {"d1": 2}}), {"q1": "red dress", "q2": "shoes"}).to_dict()
    {'q1': {'d1': 2.0}}
    """
    ids = _ids_of_texts(texts, table.queries, "queries")
    text_of_query = {query: " ".join(query.split()) for query in table.queries}
    return _rename_queries(table, {query: ids[text] for query, text in text_of_query.items() if text in ids}, "id")


def with_document_ids(table: Ranked, texts: Any) -> Ranked:
    """The same table with an id for each document's text, as judges write them that were given texts alone.

    >>> from surefoot.data.types.runs import read_qrels
    >>> with_document_ids(read_qrels({"q1": {"A red dress.": 2}}), {"d1": "A red dress.", "d2": "Shoes"}).to_dict()
    {'q1': {'d1': 2.0}}
    """
    documents = table.documents().to_list()
    ids = _ids_of_texts(texts, documents, "documents")
    found = [ids.get(" ".join(text.split())) for text in documents]
    if None in found:
        raise DataError(
            f"{found.count(None):,} of {len(documents):,} judged documents have no id; the first of them is "
            f"{shortened(documents[found.index(None)])}; give the texts that the judge was given"
        )
    return _with_column(table, pl.Series("doc_id", found, dtype=pl.String))


def _ids_of_texts(texts: Any, wanted: Iterable[str], what: str) -> dict[str, str]:
    """The id of each wanted text that has one, by the text with single spaces."""
    plain = {" ".join(text.split()) for text in wanted}
    ids: dict[str, str] = {}
    for key, text in read_texts(texts).items():
        if text in plain and text in ids:
            raise DataError(
                f"{what} {shortened(ids[text])} and {shortened(key)} have the same text, {shortened(text)}, so it is "
                "not clear which of them was judged; keep one of the two"
            )
        if text in plain:
            ids[text] = key
    return ids


def _rename_queries(table: Ranked, names: Mapping[str, str], what: str) -> Ranked:
    unnamed = [query for query in table.queries if not names.get(query)]
    if unnamed:
        more = "" if names else f"; {other_queries_hint(f'{what}s', names, table.queries)}"
        raise DataError(
            f"{len(unnamed):,} of {len(table.queries):,} queries have no {what}; the first of them is "
            f"{shortened(unnamed[0])}{more}"
        )
    query_of_name: dict[str, str] = {}
    for query in table.queries:
        first = query_of_name.setdefault(names[query], query)
        if first != query:
            raise DataError(
                f"queries {shortened(first)} and {shortened(query)} have the same {what}, {shortened(names[query])}, "
                "so a tool would treat them as one query; keep one of the two"
            )
    of_query = pl.Series("query_id", [names[query] for query in table.queries], dtype=pl.String)
    return _with_column(table, of_query.gather(table.ranking.query_of_position()))


def _with_column(table: Ranked, column: pl.Series) -> Ranked:
    """The same table with other ids of queries or documents."""
    renamed = type(table)._read(table.to_frame().with_columns(column), table.name)
    renamed.origin = table.origin
    return renamed
