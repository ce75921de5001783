"""The one ranking type: query offsets, document codes, scores and the order, sorted once under one tie rule.

A document's code is a 64-bit hash of its query's and its own id, the same in every run and in the judgments, so
rankings are matched without a shared dictionary and without holding ids. Two different documents of one
table sharing a code would need some four billion rows to be likely; a table where it happens is rejected
rather than matched wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.arrays import Codes, CompactInts, Flags, Floats, Ints, compact_type, stretch_starts
from surefoot.data.reading.polars_process import threads_lost
from surefoot.errors import DataError

TieRule: TypeAlias = Literal["document id descending", "row order"]

_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses nothing
_CHUNK = 1 << 16  # rows dealt with in one go where a copy of all would cost memory


def codes_of(ids: pl.Series) -> Codes:
    """A 64-bit code for each id."""
    return ids.hash(seed=20120812).to_numpy().astype(np.uint64, copy=False)


def pair_codes(queries: Codes, documents: Codes) -> Codes:
    """A code for each document of each query."""
    with np.errstate(over="ignore"):
        return (queries * _MIX) ^ documents


def gather_few(values: pl.Series, rows: Ints) -> pl.Series:
    """A few of the values. By a list, since for an array Polars imports numpy.ma, as slow as reading a small run."""
    return values.gather(rows.tolist())


def query_at(offsets: Ints, positions: npt.ArrayLike) -> Ints:
    """The index of the query that each position belongs to, where query i has `offsets[i]:offsets[i + 1]`.

    >>> query_at(np.array([0, 2, 5]), [1, 2, 4])
    array([0, 1, 1])
    """
    return np.asarray(np.searchsorted(offsets, positions, side="right") - 1)


class DuplicateDocumentError(DataError):
    """A document that appears twice in a query; `rows` says where in the source."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"rows {first} and {second} contain the same query and document")
        self.rows = (first, second)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranked lists, one per query, end to end.

    Query i's results are the positions `offsets[i]:offsets[i + 1]`, best first, with their `scores`. `order[p]` is the
    source's row at position p (None: the rows were ranked already). The `codes` ascend; `code_positions` are where
    their documents stand.
    """

    offsets: Ints
    scores: Floats
    order: CompactInts | None
    codes: Codes
    code_positions: CompactInts
    tie_rule: TieRule

    @property
    def lengths(self) -> Ints:
        """How many results each query has."""
        return np.diff(self.offsets)

    def query_of_position(self) -> Ints:
        """The index of the query each position belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    def ranks(self) -> Ints:
        """Each position's rank within its query, from 1."""
        return np.arange(len(self.scores)) - np.repeat(self.offsets[:-1], self.lengths) + 1

    def query_at(self, positions: npt.ArrayLike) -> Ints:
        """The index of the query each of these positions belongs to."""
        return query_at(self.offsets, positions)

    def rank_at(self, positions: Ints) -> Ints:
        """The rank of each of these positions within its query, from 1."""
        return positions - self.offsets[self.query_at(positions)] + 1

    def rows(self, positions: Ints) -> Ints:
        """The source's rows at these positions."""
        return positions if self.order is None else self.order[positions].astype(np.int64)

    def codes_at(self, positions: Ints) -> Codes:
        """The codes of the documents at these positions."""
        by_position = np.empty_like(self.codes)
        by_position[self.code_positions] = self.codes
        return by_position[positions]

    def find(self, codes: Codes) -> Ints:
        """The positions of documents, −1 for those not held."""
        if not len(self.codes):
            return np.full(len(codes), -1)
        at, present = self._search(codes)
        return np.where(present, self.code_positions[at].astype(np.int64), -1)

    def match(self, other: Ranking) -> tuple[Ints, Ints]:
        """Positions here and there of the documents both hold, in no particular order."""
        if len(self.codes) > len(other.codes):
            there, here = other.match(self)
            return here, there
        at, present = other._search(self.codes)
        return self.code_positions[present].astype(np.int64), other.code_positions[at[present]].astype(np.int64)

    def _search(self, codes: Codes) -> tuple[Ints, Flags]:
        at = np.searchsorted(self.codes, codes)
        np.minimum(at, len(self.codes) - 1, out=at)
        return at, self.codes[at] == codes


def index(codes: Codes) -> tuple[Codes, CompactInts]:
    """The codes in ascending order and the row of each; `DuplicateDocumentError` where two are equal."""
    bits = np.uint64(_bits(len(codes)))
    keys = codes >> bits
    keys <<= bits
    rows = _compact_argsort(keys)
    del keys
    ordered = codes[rows]
    if not (ordered[1:] > ordered[:-1]).all():
        # Some codes differ in the bits that were free for rows only, or not at all: sort just those.
        alike = np.flatnonzero((ordered[1:] >> bits) == (ordered[:-1] >> bits))
        alike = np.union1d(alike, alike + 1)
        by_code = alike[np.argsort(ordered[alike], kind="stable")]
        ordered[alike], rows[alike] = ordered[by_code], rows[by_code]
        twins = np.flatnonzero(ordered[1:] == ordered[:-1])
        if twins.size:
            # The pair whose second row comes first in the source: what a reader of the file meets.
            at = twins[np.argmin(rows[twins + 1])]
            raise DuplicateDocumentError(int(rows[at]), int(rows[at + 1]))
    return ordered, rows


def rank(
    starts: Ints,
    query_codes: Codes,
    documents: Callable[[], tuple[Codes, CompactInts]],
    scores: Floats,
    ids: Callable[[Ints], pl.Series] | None = None,
) -> Ranking:
    """Sort rows into ranked lists: queries by first appearance, scores descending, ties by the tie rule.

    The rows come in stretches of one query, which start at `starts` and have `query_codes`; `documents` gives the
    `index` of the rows' codes, whose rows turn into positions in place. Ties go by document id, descending, where `ids`
    can name a row's (as trec_eval has it), and by row otherwise.
    """
    query_starts = stretch_starts(query_codes)  # a stretch may go on in the source's next block
    starts, query_codes = starts[query_starts], query_codes[query_starts]
    lengths = np.diff(np.append(starts, len(scores)))
    first, number = _by_appearance(query_codes)
    order: CompactInts | None = None
    if len(first) < len(starts) or not _descending(starts, scores):
        order = _by_score(np.repeat(number, lengths), scores)
        scores = scores[order]
    sizes = np.bincount(number, lengths).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    if ids is not None:
        order = _break_ties(offsets, scores, order, ids)
    codes, code_positions = documents()
    if order is not None:  # rows become positions, in place and by chunks, which saves two more columns
        position = np.empty_like(order)
        for start in range(0, len(order), _CHUNK):
            part = order[start : start + _CHUNK]
            position[part] = np.arange(start, start + len(part), dtype=order.dtype)
        for start in range(0, len(order), _CHUNK):
            code_positions[start : start + _CHUNK] = position[code_positions[start : start + _CHUNK]]
    return Ranking(
        offsets=offsets,
        scores=scores,
        order=order,
        codes=codes,
        code_positions=code_positions,
        tie_rule="row order" if ids is None else "document id descending",
    )


def _by_appearance(query_codes: Codes) -> tuple[Ints, Ints]:
    """Of stretches: the first of each query, in order of appearance, and each one's query's number in that order."""
    _, first, inverse = np.unique(query_codes, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    number = np.empty_like(appearance)
    number[appearance] = np.arange(len(appearance))
    return first[appearance], number[inverse]


def _descending(starts: Ints, scores: Floats) -> bool:
    rises = scores[1:] > scores[:-1]
    rises[starts[1:] - 1] = False
    return not rises.any()


def _by_score(query: Ints, scores: Floats) -> CompactInts:
    """Rows by query, then by score, descending, then as they are."""
    top, span = scores.max(), np.ptp(scores)
    if span < 2**16 and (scores == np.rint(scores)).all():  # grades: their distance from the best orders them
        level = (top - scores).astype(np.int64)
    else:
        level = np.unique(-scores, return_inverse=True)[1]
    keys = query * (int(level.max()) + 1) + level
    bits = _bits(len(keys))
    if int(keys.max()) >> (64 - bits):
        return np.argsort(keys, kind="stable").astype(compact_type(len(keys)))
    return _compact_argsort(keys.astype(np.uint64) << np.uint64(bits))


def _break_ties(
    offsets: Ints, scores: Floats, order: CompactInts | None, ids: Callable[[Ints], pl.Series]
) -> CompactInts | None:
    """Reorder only equal scores, since ids are slow to compare and ties are few."""
    as_last = np.empty(len(scores), dtype=bool)
    np.equal(scores[1:], scores[:-1], out=as_last[1:])
    as_last[offsets[:-1]] = False
    if not as_last.any():
        return order
    tied = np.flatnonzero(as_last | np.append(as_last[1:], False))
    rows = tied if order is None else order[tied].astype(np.int64)
    new = np.arange(len(scores), dtype=compact_type(len(scores))) if order is None else order
    new[tied] = rows[_by_tie(np.cumsum(~as_last[tied]).tolist(), ids(rows))]
    return new


def _by_tie(ties: list[int], ids: pl.Series) -> Ints:
    """What sorts rows by their tie, ids descending within it, as `argsort` does."""
    if threads_lost():
        names = ids.to_list()
        by_id = sorted(range(len(ties)), key=names.__getitem__, reverse=True)
        return np.array(sorted(by_id, key=ties.__getitem__))
    keys = pl.DataFrame({"tie": ties, "id": ids})
    return keys.select(pl.arg_sort_by("tie", "id", descending=[False, True])).to_series().to_numpy()


def _compact_argsort(keys: Codes) -> CompactInts:
    """`argsort` of the keys; their low bits must be free, and are overwritten.

    Numbers are sorted several times as fast as the indices of numbers, so each takes its index along.
    """
    for start in range(0, len(keys), _CHUNK):
        keys[start : start + _CHUNK] |= np.arange(start, min(start + _CHUNK, len(keys)), dtype=np.uint64)
    keys.sort()
    keys &= np.uint64((1 << _bits(len(keys))) - 1)
    return keys.astype(compact_type(len(keys)))


def _bits(rows: int) -> int:
    return max(rows - 1, 1).bit_length()
