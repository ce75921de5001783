"""Queries' texts in place of their ids, and back: tools know a query by its text, TREC files by an id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import polars as pl

from surefoot.data.reading.texts import read_texts
from surefoot.data.types.runs import RankedTable
from surefoot.errors import DataError, other_queries_hint, shortened

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
    query_of_text = {" ".join(query.split()): query for query in table.queries}
    ids: dict[str, str] = {}
    for key, text in read_texts(texts).items():
        query = query_of_text.get(text)
        if query is None:
            continue
        if query in ids:
            raise DataError(
                f"queries {shortened(ids[query])} and {shortened(key)} have the same text, {shortened(text)}, so it is "
                "not clear which of them was judged; keep one of the two"
            )
        ids[query] = key
    return _rename_queries(table, ids, "id")


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
    column = of_query.gather(table.ranking.query_of_position())
    renamed = type(table)._read(table.to_frame().with_columns(column), table.name)
    renamed.origin = table.origin
    return renamed


def with_document_ids(table: Ranked, texts: Any) -> Ranked:
    """The same table with an id for each document's text, as judges write them that were given texts alone.

    >>> from surefoot.data.types.runs import read_qrels
    >>> with_document_ids(read_qrels({"q1": {"A red dress.": 2}}), {"d1": "A red dress.", "d2": "Shoes"}).to_dict()
    {'q1': {'d1': 2.0}}
    """
    documents = table.documents().to_list()
    wanted = {" ".join(text.split()) for text in documents}
    ids: dict[str, str] = {}
    for key, text in read_texts(texts).items():
        if text not in wanted:
            continue
        if text in ids:
            raise DataError(
                f"documents {shortened(ids[text])} and {shortened(key)} have the same text, {shortened(text)}, so it "
                "is not clear which of them was judged; keep one of the two"
            )
        ids[text] = key
    unnamed = [text for text in documents if " ".join(text.split()) not in ids]
    if unnamed:
        raise DataError(
            f"{len(unnamed):,} of {len(documents):,} judged documents have no id; the first of them is "
            f"{shortened(unnamed[0])}; give the texts that the judge was given"
        )
    column = pl.Series("doc_id", [ids[" ".join(text.split())] for text in documents], dtype=pl.String)
    renamed = type(table)._read(table.to_frame().with_columns(column), table.name)
    renamed.origin = table.origin
    return renamed
