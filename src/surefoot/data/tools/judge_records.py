"""Judgments that say who made them: umbrela's JSON lines, and tables with a column of judges.

A line of umbrela is `{"model", "query", "passage", "prompt", "prediction", "judgment"}`, with a judgment from 0 to 3,
in newer versions with `result_status` (0 where the answer could not be parsed, which is no judgment), and with `qid`
and `docid` where these were given; else the texts stand for the ids, until `convert` finds those.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from surefoot.arguments import decimal
from surefoot.data.reading.columns import RowNamer, is_missing
from surefoot.data.reading.frames import DOCUMENT_COLUMNS, GRADE_COLUMNS, QUERY_COLUMNS, checked_columns
from surefoot.data.tools.judges import JudgmentMaker, JudgmentOrigin, RatingMerge, count_disagreement
from surefoot.data.tools.tool_file import Content, Rows, RowsByName
from surefoot.errors import DataError, shortened

_COLUMNS = (QUERY_COLUMNS, DOCUMENT_COLUMNS, GRADE_COLUMNS)
_HIGHEST_UMBRELA_GRADE = 3  # the highest grade that umbrela gives
_JUDGES, _MODEL, _PROMPTS = ("judge", "judge_id", "annotator"), "model", ("prompt_hash", "prompt_sha256", "prompt")


def is_umbrela(content: Content) -> bool:
    """Whether the first of JSON lines is umbrela's."""
    return _is_umbrela(content.value)


def umbrela(content: Content) -> RowsByName:
    """What umbrela's lines hold; lines of several models are ratings of several judges."""
    path = content.path
    queries: list[str] = []
    documents: list[str] = []
    grades: list[float] = []
    places: list[tuple[int, str]] = []
    judges: list[str] = []
    for number, value in content.lines:
        where = f"{path}, line {number}"
        if not _is_umbrela(value):
            raise DataError(
                f"{where}: expected a judgment of umbrela with 'judgment', 'query' and 'passage' (or 'qid' and "
                f"'docid'), found {shortened(value)}"
            )
        judges.append(str(value.get(_MODEL) or "umbrela"))
        grade = value["judgment"]
        if value.get("result_status", 1) in (0, False) or grade is None:
            continue
        if isinstance(grade, bool) or not isinstance(grade, int | float) or not 0 <= grade <= _HIGHEST_UMBRELA_GRADE:
            raise DataError(
                f"{where}: the judgment is {shortened(grade)}; umbrela's are from 0 to {_HIGHEST_UMBRELA_GRADE}"
            )
        query, document = _id(value, "qid", "query", where), _id(value, "docid", "passage", where)
        queries.append(query)
        documents.append(document)
        grades.append(float(grade))
        places.append((number, judges[-1]))
    if not places:
        raise DataError(f"{path}: no line has a judgment; all {len(judges):,} answers of the judge failed to parse")
    rows = _merged(
        queries, documents, grades, [judge for _, judge in places], lambda row: f"{path}, line {places[row][0]}",
        RatingMerge.parse(content.rating_merge), ["machine"] * len(places),
    )  # fmt: skip
    return {None: rows}


def _is_umbrela(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and "judgment" in value
        and ("query" in value or "qid" in value)
        and ("passage" in value or "docid" in value)
    )


def _id(value: Mapping[str, Any], key: str, text: str, where: str) -> str:
    """An id, or the text in its place, its white space made single spaces."""
    found = value.get(key)
    inner = value.get(text)
    if found is None and isinstance(inner, Mapping):  # {"qid": …, "text": …}
        found, inner = inner.get(key), inner.get("text")
    found = inner if found is None else found
    if isinstance(found, bool) or not isinstance(found, str | int) or not str(found).strip():
        raise DataError(f"{where}: {key!r} or {text!r} is {shortened(found)}; expected an id or a text")
    return " ".join(str(found).split())


def has_judges(names: Iterable[str]) -> bool:
    """Whether a table says who judged: a model alone may be that of a product."""
    found = set(names)
    return not found.isdisjoint(_JUDGES) or (_MODEL in found and not found.isdisjoint(_PROMPTS))


def judged_rows(
    what: str, table: Mapping[str, Sequence[Any]], where: RowNamer, rating_merge: str | None
) -> Rows | None:
    """What a table with a column of judges or models holds; nothing where it has none.

    Who has a model is a machine; rows without a grade are not rated. `rating_merge` names a rule of `RatingMerge`.
    """
    columns = [next((name for name in names if name in table), None) for names in _COLUMNS]
    if not has_judges(table) or None in columns:
        return None
    query, document, grade = (list(table[str(name)]) for name in columns)
    judge = next((list(table[name]) for name in _JUDGES if name in table), [None] * len(query))
    model = list(table[_MODEL]) if _MODEL in table else [None] * len(query)
    prompt = next((list(table[name]) for name in _PROMPTS if name in table), [None] * len(query))
    rows = [row for row, value in enumerate(grade) if not _is_blank(value)]
    if not rows:
        raise DataError(f"{what}: no document is rated")
    machine: list[JudgmentMaker] = ["people" if _is_blank(model[row]) else "machine" for row in rows]
    prompts = {(str(judge[row]), str(model[row])): set() for row in rows}  # type: dict[tuple[str, str], set[str]]
    for row in rows:
        prompts[str(judge[row]), str(model[row])].add(str(prompt[row]))

    def name(row: int) -> str:
        parts = [str(part) for part in (judge[row], model[row]) if not _is_blank(part)]
        if len(prompts[str(judge[row]), str(model[row])]) > 1 and not _is_blank(prompt[row]):
            parts.append(str(prompt[row])[:12])
        return " ".join(dict.fromkeys(parts)) or "unnamed"

    return _merged(
        [query[row] for row in rows], [document[row] for row in rows],
        [_grade(grade[row], where(row), str(columns[2])) for row in rows], [name(row) for row in rows],
        lambda row: where(rows[row]), RatingMerge.parse(rating_merge), machine,
    )  # fmt: skip


def _is_blank(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def _grade(value: Any, where: str, column: str) -> float:
    try:
        grade = decimal(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        raise DataError(f"{where}: {column!r} is {shortened(value)}, not a number") from None
    if not math.isfinite(grade):
        raise DataError(f"{where}: {column!r} is {grade}; every value must be finite")
    return grade


def _merged(
    queries: Sequence[Any], documents: Sequence[Any], grades: Sequence[float], judges: Sequence[str],
    where: RowNamer, merge: RatingMerge, makers: Sequence[JudgmentMaker],
) -> Rows:  # fmt: skip
    """One row for each document, with what all its judges said as one grade."""
    of_document: dict[tuple[str, str], list[int]] = {}
    of_judge: dict[str, list[int]] = {}
    seen: dict[tuple[str, str, str], int] = {}
    for row, (query, document, judge) in enumerate(zip(queries, documents, judges, strict=True)):
        key = (str(query), str(document), judge)
        first = seen.setdefault(key, row)
        if first != row:
            raise DataError(
                f"{where(row)}: judge {shortened(judge)} judged document {shortened(document)} of query "
                f"{shortened(query)} twice (first at {where(first).rpartition(', ')[2]}); keep one of the two"
            )
        of_document.setdefault(key[:2], []).append(row)
        of_judge.setdefault(judge, []).append(row)
    names = ("the query", "the document", "the grade")

    def rows_of(rows: Sequence[int], values: Sequence[float]) -> Rows:
        def own(row: int) -> str:
            return where(rows[row])

        ids = [queries[row] for row in rows], [documents[row] for row in rows]
        return Rows(checked_columns(*ids, values, names, own), own)

    ratings = [[grades[row] for row in rows] for rows in of_document.values()]
    kinds = set(makers)
    made_by: JudgmentMaker = next(iter(kinds)) if len(kinds) == 1 else "people and machine"
    return replace(
        rows_of([rows[0] for rows in of_document.values()], [merge.grade(each) for each in ratings]),
        origin=JudgmentOrigin(made_by, tuple(of_judge), *count_disagreement(ratings)),
        by_judge={judge: rows_of(rows, [grades[row] for row in rows]) for judge, rows in of_judge.items()},
    )
