"""The one ranking type: query offsets, document codes, scores and the order, sorted once under one tie rule.

A document's code is a 64-bit hash of its query's and its own id, the same in every run and in the judgments, so
rankings are matched without a shared dictionary and without holding ids. Two different documents of one
table sharing a code would need some four billion rows to be likely; a table where it happens is refused
rather than matched wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.errors import DataError

Codes: TypeAlias = npt.NDArray[np.uint64]
Floats: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]
TieRule: TypeAlias = Literal["document id descending", "row order"]

_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses nothing
_CHUNK = 1 << 16  # rows looked at in one go where a copy of all would cost memory


def codes_of(ids: pl.Series) -> Codes:
    """A 64-bit code for each id."""
    return ids.hash(seed=20120812).to_numpy().astype(np.uint64, copy=False)


def pair_codes(queries: Codes, documents: Codes) -> Codes:
    """A code for each document of each query."""
    with np.errstate(over="ignore"):
        return (queries * _MIX) ^ documents


def changes(values: npt.NDArray[np.generic]) -> Rows:
    """Where each stretch of equal values starts."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))


class DuplicateDocumentError(DataError):
    """A document that stands twice in a query; `rows` says where in the source."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"rows {first} and {second} hold the same query and document")
        self.rows = (first, second)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranked lists, one a query, end to end.

    Query i's results are the positions `offsets[i]:offsets[i + 1]`, best first. `order[p]` is the source's row at
    position p (None: the rows were ranked already); `codes` and `scores` are in ranked order, and `by_code`
    lists the positions by ascending code.
    """

    offsets: Rows
    codes: Codes
    scores: Floats
    order: Rows | None
    by_code: npt.NDArray[np.integer]
    tie_rule: TieRule

    @property
    def lengths(self) -> Rows:
        """How many results each query has."""
        return np.diff(self.offsets)

    def query_of_position(self) -> Rows:
        """The index of the query each position belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    def ranks(self) -> Rows:
        """Each position's rank within its query, from 1."""
        return np.arange(len(self.codes)) - np.repeat(self.offsets[:-1], self.lengths) + 1

    def rows(self, positions: Rows) -> Rows:
        """The source's rows at these positions."""
        return positions if self.order is None else self.order[positions]

    def match(self, other: Ranking) -> tuple[Rows, Rows]:
        """Positions here and there of the documents both hold, in no particular order."""
        if len(self.codes) > len(other.codes):
            there, here = other.match(self)
            return here, there
        mine, theirs = self.codes[self.by_code], other.codes[other.by_code]
        at = np.minimum(np.searchsorted(theirs, mine), len(theirs) - 1)
        found = theirs[at] == mine
        return self.by_code[found].astype(np.int64), other.by_code[at[found]].astype(np.int64)


def rank(
    starts: Rows,
    query_codes: Codes,
    codes: Codes,
    scores: Floats,
    ids: Callable[[Rows], pl.Series] | None = None,
) -> Ranking:
    """Sort rows into ranked lists: queries by first appearance, scores descending, ties by the tie rule.

    The rows come in stretches of one query, which start at `starts` and have `query_codes`. Ties go by document
    id, descending, where `ids` can name a row's (as trec_eval has it), and by row otherwise.
    """
    whole = changes(query_codes)  # a stretch may go on in the source's next block
    starts, query_codes = starts[whole], query_codes[whole]
    lengths = np.diff(np.append(starts, len(codes)))
    first, place = _by_appearance(query_codes)
    order: Rows | None = None
    if len(first) < len(starts) or not _descending(starts, scores):
        levels, level = np.unique(-scores, return_inverse=True)
        order = np.argsort(np.repeat(place, lengths) * len(levels) + level, kind="stable")
        del levels, level
        scores = scores[order]
    sizes = np.bincount(place, lengths).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    if ids is not None:
        order = _break_ties(offsets, scores, order, ids)
    if order is not None:
        codes = codes[order]
    return Ranking(
        offsets=offsets,
        codes=codes,
        scores=scores,
        order=order,
        by_code=_index(codes, order),
        tie_rule="row order" if ids is None else "document id descending",
    )


def _by_appearance(query_codes: Codes) -> tuple[Rows, Rows]:
    """Of stretches: the first of each query, in order of appearance, and each one's query's number in that order."""
    _, first, inverse = np.unique(query_codes, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    number = np.empty_like(appearance)
    number[appearance] = np.arange(len(appearance))
    return first[appearance], number[inverse]


def _descending(starts: Rows, scores: Floats) -> bool:
    rises = scores[1:] > scores[:-1]
    rises[starts[1:] - 1] = False
    return not rises.any()


def _break_ties(offsets: Rows, scores: Floats, order: Rows | None, ids: Callable[[Rows], pl.Series]) -> Rows | None:
    """Reorder only the stretches of equal scores, since ids are slow to compare and ties are few."""
    as_last = np.empty(len(scores), dtype=bool)
    np.equal(scores[1:], scores[:-1], out=as_last[1:])
    as_last[offsets[:-1]] = False
    if not as_last.any():
        return order
    tied = np.flatnonzero(as_last | np.append(as_last[1:], False))
    rows = tied if order is None else order[tied]
    by = pl.DataFrame({"tie": np.cumsum(~as_last)[tied], "id": ids(rows)})
    new = np.arange(len(scores)) if order is None else order
    new[tied] = rows[by.select(pl.arg_sort_by("tie", "id", descending=[False, True])).to_series().to_numpy()]
    return new


def _index(codes: Codes, order: Rows | None) -> npt.NDArray[np.integer]:
    """Positions by ascending code; `DuplicateDocumentError` where two are equal."""
    by_code = np.argsort(codes).astype(np.uint32 if len(codes) < 2**32 else np.int64)
    twins = np.concatenate([
        start + np.flatnonzero(np.diff(codes[by_code[start : start + _CHUNK + 1]]) == 0)
        for start in range(0, len(codes), _CHUNK)
    ])  # fmt: skip
    if twins.size:
        pairs = np.stack([by_code[twins], by_code[twins + 1]]).astype(np.int64)
        pairs = np.sort(pairs if order is None else order[pairs], axis=0)
        # The pair whose second row comes first in the source: what a reader of the file meets.
        first, second = pairs[:, np.argmin(pairs[1])]
        raise DuplicateDocumentError(int(first), int(second))
    return np.asarray(by_code)
