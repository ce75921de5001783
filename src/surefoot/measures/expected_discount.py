"""What each document of a run can expect of the rank discount, Σ_r D(r)·P_j(r): SoftNDCG's inner sum, made fast.

The recursion is that of `surefoot.measures.rank_binomial`, in an order that suits arrays:

- Only the documents of positive gain, and of their ranks only the first k.
- Documents are taken together in blocks of bounded size, by the length of their lists; the loop is over contests.
- With ρ = π/(1 − π) a contest is P(r) += ρ·P(r−1), two passes instead of three; the factors 1 − π come in
  every 16 contests, which keeps all numbers in range. A contest lost for certain (π = 1 in double precision) is
  a shift: it is counted, and moves the discount instead.
- π_ij is a smooth function of two scores. Where some 60 Chebyshev polynomials hold it to double precision (percentiles
  and σ ≥ 0.06, say) all of a list's contests are one product of matrices, twenty times as fast as Φ itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from surefoot.arrays import Floats, Ints, stretch_starts
from surefoot.measures.effectiveness import discounts
from surefoot.measures.rank_binomial import avoid_overflow, in_deviations

_CELLS = 1 << 19  # contests held at once: 4 MB
_MOST_DOCUMENTS = 2000  # documents taken together: enough to outweigh a call, few enough for the cache
_CONTESTS_TOGETHER = 16  # (2^53)^16 and its inverse are still in double range
_MOST_DEGREES = 64
# Products this small are left to one thread by BLAS: waking others takes longer, on busy cores much.
_ONE_THREAD = 1 << 17


def expected_discounts(
    scores: Floats, starts: Ints, lengths: Ints, documents: Ints, sigma: float, cutoff: float | None
) -> Floats:
    """Σ_r D(r)·P_j(r) of some documents j; `starts` and `lengths` say which part of `scores` is j's list.

    Documents of one list must follow each other in `documents`.

    >>> scores = np.array([0.6, 0.4])
    >>> expected_discounts(scores, np.array([0]), np.array([2]), np.array([0]), sigma=0.2, cutoff=None).round(6)
    array([0.911515])
    """
    expected = np.empty(len(documents))
    if not len(documents):
        return expected
    scores, sigma = avoid_overflow(scores, sigma)
    low, high = float(scores.min()), float(scores.max())
    smooth = _chebyshev(float(in_deviations(np.array(high - low), sigma)))
    space = _Workspace()
    order = np.argsort(lengths, kind="stable")  # documents of one list stay together
    for rows in _blocks(order, lengths[order], cutoff):
        start, length = starts[rows], lengths[rows]
        if smooth is None:
            chance = _by_normal(scores, start, length, documents[rows], sigma, space)
        else:
            chance = _by_product(scores, start, length, documents[rows], smooth, low, high, space)
        chance[documents[rows] - start, np.arange(len(rows))] = 0.0  # nobody contests itself
        expected[rows] = _discounted(chance, cutoff, space)
    return expected


class _Workspace:
    """Arrays that are used again for every block: fresh ones of this size cost more than the arithmetic in them."""

    def __init__(self) -> None:
        self._buffers: dict[str, Floats] = {}

    def array(self, name: str, rows: int, columns: int) -> Floats:
        """An array of that shape, with anything in it."""
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < rows * columns:
            buffer = self._buffers[name] = np.empty(rows * columns)
        return buffer[: rows * columns].reshape(rows, columns)


def _blocks(order: Ints, lengths: Ints, cutoff: float | None) -> Iterator[Ints]:
    """The rows of `order`, which ascends by length, in blocks of nearly equal lengths and bounded size."""
    first = 0
    while first < len(order):
        longest = int(lengths[first] * 1.25) + 4
        ranks = longest if cutoff is None else min(longest, int(cutoff))
        size = max(1, min(_MOST_DOCUMENTS, _CELLS // max(longest, 2 * ranks)))
        last = min(first + size, int(np.searchsorted(lengths, longest, side="right")))
        yield order[first:last]
        first = last


def _by_normal(scores: Floats, start: Ints, length: Ints, documents: Ints, sigma: float, space: _Workspace) -> Floats:
    """π[i, j] of the i-th result of j's list against j; 0 beyond the list's end."""
    from scipy.special import ndtr

    number = np.arange(int(length.max()))[:, None]
    at = np.minimum(start + number, start + length - 1)
    x = np.subtract(scores[at], scores[documents], out=space.array("chance", *at.shape))
    chance: Floats = ndtr(in_deviations(x, sigma), out=x)
    chance[number >= length] = 0.0
    return chance


def _by_product(
    scores: Floats,
    start: Ints,
    length: Ints,
    documents: Ints,
    smooth: Floats,
    low: float,
    high: float,
    space: _Workspace,
) -> Floats:
    """The same by Chebyshev polynomials T of both scores: π = T(s_i)·C·T(s_j), one product of matrices per list."""
    firsts = stretch_starts(start)  # documents of one list stand together
    ends = np.append(firsts[1:], len(start))
    sizes = length[firsts]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    at = np.arange(offsets[-1]) + np.repeat(start[firsts] - offsets[:-1], sizes)
    degrees = len(smooth)
    values = space.array("values", degrees, len(at))
    _polynomials(scores[at], low, high, values)
    document_columns = np.repeat(offsets[:-1], ends - firsts) + documents - start
    against = space.array("against", degrees, len(document_columns))
    step = max(1, _ONE_THREAD // degrees**2)
    for first in range(0, len(document_columns), step):
        against[:, first : first + step] = smooth @ values[:, document_columns[first : first + step]]
    chance = space.array("chance", int(length.max()), len(start))
    if length[0] < length[-1]:
        chance.fill(0.0)  # what lies beyond the shorter lists' ends
    listed = values.T
    spans = zip(offsets[:-1].tolist(), offsets[1:].tolist(), firsts.tolist(), ends.tolist(), strict=True)
    for begin, end, a, b in spans:
        step = max(1, _ONE_THREAD // (degrees * (b - a)))
        for first in range(begin, end, step):
            last = min(first + step, end)
            np.matmul(listed[first:last], against[:, a:b], out=chance[first - begin : last - begin, a:b])
    return chance


def _polynomials(scores: Floats, low: float, high: float, values: Floats) -> None:
    """Fill in T_0 … of scores brought to [−1, 1], one row per degree."""
    width = high - low
    x = (scores - low) * (2.0 / width) - 1.0 if width > 0 else np.zeros(len(scores))
    values[0] = 1.0
    if len(values) > 1:
        values[1] = x
    twice = 2.0 * x
    for degree in range(2, len(values)):
        np.multiply(twice, values[degree - 1], out=values[degree])
        values[degree] -= values[degree - 2]


@lru_cache(maxsize=64)
def _chebyshev(spread: float) -> Floats | None:
    """C with Φ(spread·(u − v)/2) = T(u)·C·T(v) on [−1, 1]² to double precision; None if it takes too many degrees."""
    from scipy.special import ndtr

    if not spread < 60:
        return None
    n = _MOST_DEGREES + 32
    # cos(a·θ) with the angle reduced in whole numbers first: otherwise its rounding would swamp the last coefficients.
    turn = np.outer(np.arange(n), 2 * np.arange(n) + 1) % (4 * n)
    cosine = np.cos(turn * (math.pi / (2 * n)))
    transform = cosine * (2.0 / n)
    transform[0] /= 2
    nodes = cosine[1]
    coefficients = transform @ ndtr(0.5 * spread * (nodes[:, None] - nodes)) @ transform.T
    needed = int(np.max(np.nonzero(np.abs(coefficients) > 2e-16)[0], initial=0)) + 1
    return np.ascontiguousarray(coefficients[:needed, :needed]) if needed <= _MOST_DEGREES else None


def _discounted(chance: Floats, cutoff: float | None, space: _Workspace) -> Floats:
    """Σ_r D(r)·P_j(r) from the chances [i, j] that i outranks j, which are overwritten."""
    n, documents = chance.shape
    ranks = n if cutoff is None else min(int(cutoff), n)
    p, moved = space.array("p", ranks, documents), space.array("moved", ranks - 1, documents)
    better, worse = p[:-1], p[1:]
    multiply, add = np.multiply, np.add  # the loop below is short enough for looking them up to matter
    p.fill(0.0)
    p[0] = 1.0
    lost: Ints | None = None
    for first in range(0, n, _CONTESTS_TOGETHER):
        odds = chance[first : first + _CONTESTS_TOGETHER]
        np.clip(odds, 0.0, 1.0, out=odds)  # a product of polynomials may miss the ends by a rounding
        stays = np.subtract(1.0, odds, out=space.array("stays", *odds.shape))
        if stays.min() <= 0.0:
            certain = stays <= 0.0
            lost = certain.sum(axis=0) + (0 if lost is None else lost)
            odds[certain], stays[certain] = 0.0, 1.0
        np.divide(odds, stays, out=odds)
        for row in odds:
            multiply(better, row, moved)
            add(worse, moved, worse)
        p *= np.multiply.reduce(stays, axis=0)
    if lost is None:
        return np.asarray(discounts(ranks) @ p)
    weights = np.concatenate([discounts(ranks), np.zeros(n)])
    return np.asarray((weights[np.arange(ranks)[:, None] + lost] * p).sum(axis=0))
