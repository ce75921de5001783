"""A table of lists re-ranked by a personal model, as a run."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from surefoot.arrays import Floats
from surefoot.data.reading.files import existing_file
from surefoot.data.reading.frames import read_table
from surefoot.data.types.runs import Run
from surefoot.data.writing.all_or_nothing import writing
from surefoot.errors import ArgumentError, DataError, name_list, shortened
from surefoot.personal.personal_ranker import PersonalRanker
from surefoot.progress import steps

_NEEDED = ("time", "query", "results")
_FURTHER = ("user", "session", "day", "terms", "domains", "scores")


def rerank_lists(
    model: str | os.PathLike[str],
    lists: str | os.PathLike[str],
    output: str | os.PathLike[str],
    name: str,
    why: str | os.PathLike[str] | None = None,
) -> tuple[int, int]:
    """Write the run of a table of lists; how many lists changed, and how many there are."""
    table = _read(Path(lists))
    rows, changed = [], 0
    with ExitStack() as opened:
        ranker = opened.enter_context(PersonalRanker.load(model, read_only=True))
        reasons = None if why is None else opened.enter_context(writing(why))
        for number, row in enumerate(steps(list(table.iter_rows(named=True)), "Re-ranking"), start=1):
            known = {key: row[key] for key in _FURTHER[1:] if row.get(key) is not None}
            try:
                one = ranker.rerank(row.get("user"), row["query"], row["results"], row["time"], **known)
            except ArgumentError as error:
                raise DataError.at(lists, None, f"row {number}: {error}") from error
            scores = falling(np.array(one.scores))
            rows.append(
                pl.DataFrame({"doc_id": one.documents, "score": scores}).with_columns(query_id=pl.lit(row["id"]))
            )
            if reasons is not None:
                reasons.write(f"{json.dumps({'id': row['id'], **one.to_dict()}, ensure_ascii=False)}\n".encode())
            changed += one.changed
        Run._read(pl.concat(rows).select("query_id", "doc_id", "score"), name).write(output)
    return changed, len(rows)


def falling(scores: Floats) -> Floats:
    """Scores in falling order, each below the one before it: a run sorts equal ones in its own way.

    >>> falling(np.array([1.0, 1.0, 0.5])).tolist()
    [1.0, 0.9999999999999999, 0.5]
    """
    for place in range(1, len(scores)):
        if scores[place] >= scores[place - 1]:
            scores[place] = np.nextafter(scores[place - 1], -np.inf)
    return scores


def _read(path: Path) -> pl.DataFrame:
    """The table, with an id for each list: its row, where it names none."""
    table = read_table(existing_file(path))
    if "results" not in table.columns and "documents" in table.columns:  # as the lists of a log call them
        table = table.rename({"documents": "results"})
    missing = [column for column in _NEEDED if column not in table.columns]
    if missing:
        raise DataError.at(
            path, None, f"has no column {name_list(missing)}; a table of lists has {', '.join(_NEEDED)}, and may have "
            f"id, {', '.join(_FURTHER)}"
        )  # fmt: skip
    if not len(table):
        raise DataError.at(path, None, "has no rows; expected a list on each")
    if "id" not in table.columns:
        table = table.with_columns(id=pl.int_range(1, len(table) + 1).cast(pl.String))
    try:
        ids: Any = table["id"].cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise DataError.at(path, None, f"id is of type {table['id'].dtype}; expected texts or numbers") from error
    if ids.null_count() or ids.n_unique() < len(ids):
        twice = ids.filter(ids.is_duplicated() | ids.is_null())[0]
        raise DataError.at(path, None, f"id {shortened(twice)} is missing or appears twice; give each list its own")
    return table.with_columns(id=ids)
