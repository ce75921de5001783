"""Quepid's CSV files: a case's ratings, plain or detailed, a book of several judges' ratings, and snapshots (runs).

Quepid puts a space before a cell that a spreadsheet would take for a formula. White space around a cell does not count
when CSV is read here, which takes that space off again.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

import polars as pl

from surefoot.arguments import decimal
from surefoot.data.reading.columns import RowOrTableNamer
from surefoot.data.reading.frames import GRADE_COLUMNS, SCORE_COLUMNS, checked_columns
from surefoot.data.tools.judges import JudgmentOrigin, RatingMerge, count_disagreement
from surefoot.data.tools.tool_file import Content, Rows, RowsByName
from surefoot.errors import DataError, shortened

TextCells: TypeAlias = "list[str | None]"
TextColumns: TypeAlias = "dict[str, TextCells]"

RATINGS = ["query", "docid", "rating"]
_SNAPSHOT = ("Snapshot Name", "Snapshot Time", "Case ID")  # what says which snapshot a row is of
_QUERY, _DOCUMENT, _POSITION, _RATING = "Query Text", "Doc ID", "Doc Position", "Rating"
_NO_JUDGES = {*GRADE_COLUMNS, *SCORE_COLUMNS, "position"}  # columns of another kind of table
_FORMULA = ("-", "=", "+", "@")


def is_snapshot(content: Content) -> bool:
    """Whether it is a snapshot, or at least tells of queries' documents as one does."""
    return _QUERY in content.value and _DOCUMENT in content.value


def is_ratings(content: Content) -> bool:
    """Whether it is a case's ratings, plain or detailed."""
    detailed = is_snapshot(content) and _POSITION not in content.value and _RATING in content.value
    return detailed or list(content.value) == RATINGS


def is_book(content: Content) -> bool:
    """Whether it is a book, all of whose columns but the first two are judges."""
    names = list(content.value)
    return names[:2] == RATINGS[:2] and len(names) > 2 and not _NO_JUDGES.intersection(names)


def _texts(content: Content) -> TextColumns:
    return {
        name: cells.to_list() if isinstance(cells, pl.Series) else list(cells) for name, cells in content.value.items()
    }


def ratings(content: Content) -> RowsByName:
    """The ratings of a case."""
    table, where = _texts(content), content.where
    if _QUERY in table:
        table |= {"query": table[_QUERY], "docid": table[_DOCUMENT], "rating": table[_RATING]}
    rated = [row for row, rating in enumerate(table["rating"]) if rating is not None]
    return {None: _rated_rows(table, rated, table["rating"], where)}


def book(content: Content) -> RowsByName:
    """The ratings of a book's judges, as one grade for each document, and by judge."""
    table, where, merge = _texts(content), content.where, RatingMerge.parse(content.rating_merge)
    names = list(table)
    grades: TextCells = []
    of_document: list[list[float]] = []
    of_judge: dict[str, TextCells] = {judge: [None] * len(table["query"]) for judge in names[2:]}
    for row in range(len(table["query"])):
        # A judge who rated a pair several times has all the ratings in one cell, with | between.
        cells = [(judge, part) for judge in names[2:] for part in (table[judge][row] or "").split("|") if part.strip()]
        ratings = [_rating(judge, part, where, row) for judge, part in cells]
        grades.append(repr(float(merge.grade(ratings))) if ratings else None)
        of_document.append(ratings)
        for judge in names[2:]:
            own = [rating for (name, _), rating in zip(cells, ratings, strict=True) if name == judge]
            of_judge[judge][row] = repr(float(merge.grade(own))) if own else None
    rated = [row for row, grade in enumerate(grades) if grade is not None]
    rows = _rated_rows(table, rated, grades, where)
    own_rows = {judge: [row for row, cell in enumerate(cells) if cell is not None] for judge, cells in of_judge.items()}
    by_judge = {judge: _rated_rows(table, own, of_judge[judge], where) for judge, own in own_rows.items() if own}
    origin = JudgmentOrigin(None, tuple(by_judge), *count_disagreement(of_document))
    return {None: replace(rows, origin=origin, by_judge=by_judge)}


def _rating(judge: str, text: str, where: RowOrTableNamer, row: int) -> float:
    try:
        rating = decimal(text)
    except ValueError:
        raise DataError(
            f"{where(row)}: the rating by {shortened(judge)} is {shortened(text)}, not a number "
            "(behind 'query,docid' each column is a judge)"
        ) from None
    if not math.isfinite(rating):
        raise DataError(
            f"{where(row)}: the rating by {shortened(judge)} is {text.strip()}; every rating must be finite"
        )
    return rating


def _rated_rows(table: TextColumns, rows: list[int], grades: TextCells, where: RowOrTableNamer) -> Rows:
    """The rows that are rated."""
    if not rows:
        raise DataError(f"{where(None)}: no document is rated; rate some documents, and export the file again")
    queries, documents, rated = ([cells[row] for row in rows] for cells in (table["query"], table["docid"], grades))
    names = "'query'", "'docid'", "'rating'"

    def rated_where(row: int) -> str:
        return where(rows[row])

    return Rows(checked_columns(queries, documents, rated, names, rated_where), rated_where)


def snapshot(content: Content) -> RowsByName:
    """The run of a snapshot."""
    table, where = _texts(content), content.where
    if _POSITION not in table:
        raise DataError(
            f"{where(None)}: no column {_POSITION!r}, so the order of the results is not known; export a snapshot, "
            f"whose header is {','.join((*_SNAPSHOT, _QUERY, _DOCUMENT, _POSITION))}"
        )
    queries, documents, positions = table[_QUERY], table[_DOCUMENT], table[_POSITION]
    snapshot_columns = [(name, table[name]) for name in _SNAPSHOT if name in table]
    first_rows: dict[tuple[str | None, int], int] = {}
    ranks: list[int] = []
    for row, (query, position) in enumerate(zip(queries, positions, strict=True)):
        for name, cells in snapshot_columns:
            if cells[row] != cells[0]:
                raise DataError(
                    f"{where(row)}: {name!r} is {shortened(cells[row])}, but {shortened(cells[0])} in the rows above, "
                    "so a second snapshot starts here. A file can contain only one run; export each snapshot to a "
                    "separate file"
                )
        rank = _position(position, where, row)
        first = first_rows.setdefault((query, rank), row)
        if first != row:
            raise DataError(
                f"{where(row)}: position {rank} of query {shortened(query)} appears twice "
                f"(first at {where(first).rpartition(', ')[2]})"
            )
        ranks.append(-rank)
    names = repr(_QUERY), repr(_DOCUMENT), repr(_POSITION)
    return {None: Rows(checked_columns(queries, documents, ranks, names, where), where)}


def _position(text: str | None, where: RowOrTableNamer, row: int) -> int:
    if text is None:
        raise DataError(f"{where(row)}: {_POSITION!r} is missing; every result needs its position")
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 16 and int(text)):
        raise DataError(f"{where(row)}: {_POSITION!r} is {shortened(text)}, not a position 1, 2, 3, …")
    return int(text)


def ratings_text(rows: Iterable[tuple[str, str, str]]) -> str:
    """The CSV of a case's ratings, each as a text, which is empty where a document is not rated yet.

    >>> ratings_text([("-40 degrees", "d1", "2"), ("-40 degrees", "d2", "")])
    'query,docid,rating\\n -40 degrees,d1,2\\n -40 degrees,d2,\\n'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(RATINGS)
    writer.writerows((_safe(query), _safe(document), rating) for query, document, rating in rows)
    return stream.getvalue()


def _safe(cell: str) -> str:
    return f" {cell}" if cell.startswith(_FORMULA) else cell
