"""Labelled feature vectors in the shape of MSLR-WEB, of any size, with queries on which the features mislead."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from surefoot.arguments import integer
from surefoot.arrays import Floats
from surefoot.data.types.preferences import PreferencePairs
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError
from surefoot.measures.notation import check_choice
from surefoot.measures.sigma import soft_ndcg_gradient

_SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)  # of the labels 0 to 4, about those of MSLR-WEB10K
_BM25 = 110  # BM25 of the whole document, in MSLR's numbering
_STREAMS = 5  # title, body, anchor, URL and whole document err each in their own way
_CLARITY = 0.45  # how much of relevance a stream shows
_BM25_CLARITY = 0.30
_ASTRAY = -0.9  # what is left of a stream's signal where it misleads
_QUERIES_AT_ONCE = 256
_COUNT, _WEIGHT, _FLAG, _SCORE, _NOISE = range(5)


def letor(
    *,
    queries: int = 1000,
    documents: int = 120,
    features: int = 136,
    misleading: float = 0.1,
    seed: int = 0,
) -> RankingData:
    """Data like MSLR-WEB's: about `documents` a query, labels 0–4, and BM25 as feature 110 and as baseline `bm25`.

    Features are counts with many zeros, log-normal weights, flags, scores and noise; most show relevance through one
    of five streams. On a share `misleading` of the queries all streams point the wrong way and only BM25, the weaker
    signal elsewhere, is right: a model that minds the average alone ruins them. The last feature, the same for all
    documents of a query, hints at which they are. With fewer than 110 features BM25 is the first.

    >>> data = letor(queries=20, documents=30, features=12, seed=7)
    >>> data
    <RankingData: 20 queries, 475 documents, 12 features, baselines bm25>
    >>> bool((data.baselines["bm25"] == data.feature(1)).all())
    True
    """
    queries, documents, features = (
        integer(name, value, 1)
        for name, value in (("queries", queries), ("documents", documents), ("features", features))
    )
    if not 0 <= misleading <= 1:
        raise ArgumentError(f"misleading is {misleading}; it is a share of the queries, from 0 to 1")
    rng = np.random.default_rng(integer("seed", seed, 0))
    lengths = np.clip(np.rint(rng.gamma(4, documents / 4, queries)), 1, 8 * documents).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    wrong = np.zeros(queries, dtype=bool)
    wrong[rng.permutation(queries)[: round(misleading * queries)]] = True
    bm25 = _BM25 - 1 if features >= _BM25 else 0
    columns = _SyntheticColumns(features, rng)
    X, y = np.empty((offsets[-1], features), dtype=np.float32), np.empty(offsets[-1])
    for first in range(0, queries, _QUERIES_AT_ONCE):
        here = slice(first, min(first + _QUERIES_AT_ONCE, queries))
        sizes = lengths[here]
        rows = slice(offsets[here.start], offsets[here.stop])
        count = int(sizes.sum())
        # Some queries have many good documents and some none, as in MSLR.
        easy = np.repeat(rng.standard_normal(len(sizes)), sizes)
        relevance = (0.4 * easy + np.sqrt(1 - 0.4**2) * rng.standard_normal(count)).astype(np.float32)
        y[rows] = np.searchsorted(ndtri(np.cumsum(_SHARES[:-1])), relevance)
        signal = relevance * np.repeat(np.where(wrong[here], np.float32(_ASTRAY), np.float32(1)), sizes)
        block = columns.fill(signal, rng)
        hint = 0.8 * wrong[here] + rng.standard_normal(len(sizes)) * 0.5
        block[:, -1] = np.repeat(np.round(hint, 4), sizes)
        # BM25's scale differs from query to query, with the number and the rarity of its terms.
        scale = np.repeat(rng.gamma(9, 1.2, len(sizes)), sizes)
        seen = _mixed(relevance, _BM25_CLARITY, rng)
        block[:, bm25] = np.round(np.maximum(0, scale * (1 + 0.35 * seen)), 6)
        X[rows] = block
    names = [str(number) for number in range(1, queries + 1)]
    return RankingData.from_queries(X, y, names, lengths, baselines={"bm25": X[:, bm25]})


def _mixed(signal: npt.NDArray[np.float32], clarity: float, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    noise = rng.standard_normal(len(signal), dtype=np.float32)
    return np.float32(clarity) * signal + np.float32(np.sqrt(1 - clarity**2)) * noise


class _SyntheticColumns:
    """What each feature is like: its kind, the stream it belongs to, how much of it it shows, and its scale."""

    def __init__(self, features: int, rng: np.random.Generator) -> None:
        self.kind = np.resize([_COUNT, _WEIGHT, _COUNT, _FLAG, _WEIGHT, _SCORE, _NOISE], features)
        self.stream = np.arange(features) % _STREAMS
        self.clarity = rng.uniform(0.2, 0.95, features)
        self.scale: Floats = np.exp(rng.normal(0, 1.2, features))
        self.shift: Floats = rng.uniform(-0.5, 1.0, features)

    def fill(self, signal: npt.NDArray[np.float32], rng: np.random.Generator) -> npt.NDArray[np.float32]:
        """Values of all features for documents whose relevance shows as `signal`."""
        streams = [_mixed(signal, _CLARITY, rng) for _ in range(_STREAMS)]
        block = np.empty((len(self.kind), len(signal)), dtype=np.float32)
        for row, kind, stream, clarity, scale, shift in zip(
            block, self.kind, self.stream, self.clarity, self.scale, self.shift, strict=True
        ):
            value = _mixed(streams[stream], clarity, rng) if kind != _NOISE else rng.random(len(signal), np.float32)
            if kind == _COUNT:
                row[:] = np.floor(np.maximum(0, value - np.float32(shift)) * np.float32(4 * scale))
            elif kind == _WEIGHT:
                row[:] = np.round(np.exp(value) * np.float32(scale), 6)
            elif kind == _FLAG:
                row[:] = value > shift
            else:
                row[:] = np.round(value * np.float32(10 * scale), 6)
        return np.ascontiguousarray(block.T)


def preferences(
    n: int, *, sigma: float = 0.2, seed: int = 0, length: int = 5, dcg: str = "log2", cutoff: int | None = 5
) -> PreferencePairs:
    """Pairs of two permutations of a query's top results, preferred as SoftNDCG at a known σ has it.

    A query has `length` scores, uniform on [0, 1] as percentiles are, and as many grades from 0 to 4; each list
    shows the documents in another random order under the same scores. A is preferred with chance P(A ≻ B).

    >>> preferences(3, seed=0).preferred
    array([1, 0, 1])
    """
    from scipy.special import expit

    integer("n", n, 1)
    integer("length", length, 1)
    check_choice("dcg", dcg)
    rng = np.random.default_rng(integer("seed", seed, 0))
    list_scores = -np.sort(-rng.random((n, length)), axis=1)
    grade = rng.choice(5, size=(n, length), p=[0.35, 0.25, 0.2, 0.12, 0.08]).astype(np.float64)
    scores = np.repeat(list_scores[:, None], 2, axis=1)
    grades = np.stack([rng.permuted(grade, axis=1), rng.permuted(grade, axis=1)], axis=1)
    value = [soft_ndcg_gradient(scores[:, i], grades[:, i], sigma, dcg=dcg, cutoff=cutoff)[0] for i in (0, 1)]
    preferred = (rng.random(n) >= expit(value[0] - value[1])).astype(np.int64)
    return PreferencePairs(scores, grades, preferred)
