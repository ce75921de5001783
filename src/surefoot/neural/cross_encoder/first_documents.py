"""The first documents of each query of a run, with their texts: what a re-ranker reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from surefoot.arguments import integer
from surefoot.arrays import Floats, Ints
from surefoot.data.reading.texts import read_texts
from surefoot.data.types.runs import Run
from surefoot.errors import DataError, other_queries_hint, shortened
from surefoot.progress import busy

DEPTH = 100
_DEEPEST = 1_000_000


@dataclass(frozen=True)
class FirstDocuments:
    """A run, and of each of its queries the text, and ids and texts of the documents that are re-ranked, in order."""

    run: Run
    queries: list[str]
    ids: list[list[str]]
    texts: list[list[str]]

    @classmethod
    def of_run(cls, run: Run, queries: Any, documents: Any, depth: int) -> FirstDocuments:
        """The first `depth` documents of each query; a missing text is refused with its query and rank."""
        depth = integer("depth", depth, 1, _DEEPEST)
        offsets = run.ranking.offsets
        ends = np.minimum(offsets[:-1] + depth, offsets[1:])
        found = run.documents(_ranges(offsets[:-1], ends)).to_list()
        bounds = np.concatenate([[0], np.cumsum(ends - offsets[:-1])]).tolist()
        ids = [found[start:end] for start, end in pairwise(bounds)]
        with busy("Reading texts"):
            query_texts = read_texts(queries, set(run.queries))
            document_texts = read_texts(documents, set(found), whole=True)
        _check_queries(run, query_texts)
        texts = [_texts_of(run, number, each, document_texts) for number, each in enumerate(ids)]
        return cls(run, [query_texts[query] for query in run.queries], ids, texts)

    def pairs(self, numbers: range) -> list[tuple[str, str]]:
        """The (query, document) pairs of queries by number, one query after the other."""
        return [(self.queries[number], text) for number in numbers for text in self.texts[number]]

    def reranked(self, scores: list[Floats], name: str) -> Run:
        """The run of new scores of the first documents; what comes after them stays in order, below them.

        Equal scores stay in the order in which they arrived, so scores are made to differ by the smallest step.
        """
        offsets = self.run.ranking.offsets
        columns: list[Floats] = []
        for number, own in enumerate(scores):
            after = int(offsets[number + 1] - offsets[number]) - len(own)
            lowest = own.min() if len(own) else 0.0
            columns.append(_distinct(np.concatenate([own, lowest - 1 - np.arange(after)])))
        frame = self.run.to_frame().with_columns(pl.Series("score", np.concatenate([np.zeros(0), *columns])))
        return Run.read(frame, name)


def only_judged(run: Run, judged: Collection[str]) -> Run:
    """The run of the queries that were judged; one without any is refused."""
    frame = run.to_frame()
    kept = frame.filter(pl.col("query_id").is_in(list(judged)))
    if not len(kept):
        raise DataError(
            f"the run {shortened(run.name)} has no judged query; "
            f"{other_queries_hint('results', run.queries, list(judged) or ['-'])}"
        )
    return run if len(kept) == len(frame) else Run.read(kept, run.name)


def _check_queries(run: Run, texts: Mapping[str, str]) -> None:
    row = next((row for row, query in enumerate(run.queries, start=1) if not texts.get(query)), None)
    if row is None:
        return
    query = run.queries[row - 1]
    hint = "" if texts else f"; {other_queries_hint('texts', texts, run.queries)}"
    raise DataError(f"row {row}, query {shortened(query)}: the query has no text; add it to the queries' texts{hint}")


def _texts_of(run: Run, number: int, ids: list[str], texts: Mapping[str, str]) -> list[str]:
    missing = next((rank for rank, each in enumerate(ids) if not texts.get(each)), None)
    if missing is not None:
        raise DataError(
            f"row {number + 1}, query {shortened(run.queries[number])}: document {shortened(ids[missing])} at rank "
            f"{missing + 1} has no text; add it to the documents' texts"
        )
    return [texts[each] for each in ids]


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """All numbers from each start up to its end, one range after the other."""
    lengths = ends - starts
    return np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())


def _distinct(scores: Floats) -> Floats:
    """The scores of a list, each lower than that of every document that comes before it by score and order."""
    falling = np.array(scores, dtype=np.float64)
    order = np.argsort(-falling, kind="stable")
    if (np.diff(falling[order]) < 0).all():
        return falling
    for above, below in pairwise(order):
        falling[below] = min(falling[below], np.nextafter(falling[above], -np.inf))
    return falling
