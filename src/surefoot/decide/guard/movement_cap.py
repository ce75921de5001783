"""Lists that stay near the baseline's: a cap on how far a document may move."""

from __future__ import annotations

import heapq
import itertools

import numpy as np

from surefoot.arrays import Ints


def capped_ranks(candidate: Ints, baseline: Ints, offsets: Ints, cap: int) -> Ints:
    """Ranks near the candidate's, none of them more than `cap` places from the baseline's.

    Both are ranks from 1 within each query. Place p takes the document of baseline rank p − k if it still waits, else
    the candidate's best among those of baseline rank ≤ p + k.

    >>> capped_ranks(np.array([4, 3, 2, 1]), np.array([1, 2, 3, 4]), np.array([0, 4]), 1).tolist()
    [2, 1, 4, 3]
    """
    ranks = np.empty_like(candidate)
    for start, end in itertools.pairwise(offsets.tolist()):
        rows = slice(start, end)
        ranks[rows] = _cap_query(candidate[rows], baseline[rows], cap)
    return ranks


def _cap_query(candidate: Ints, baseline: Ints, cap: int) -> Ints:
    documents = len(baseline)
    by_baseline = np.argsort(baseline).tolist()  # which document has each baseline rank
    candidate_ranks = candidate.tolist()
    waiting: list[tuple[int, int]] = []  # the documents that may come now, the candidate's best first
    new_rank = np.zeros(documents, dtype=np.int64)
    eligible = 0
    for rank in range(1, documents + 1):
        while eligible < min(documents, rank + cap):
            heapq.heappush(waiting, (candidate_ranks[by_baseline[eligible]], by_baseline[eligible]))
            eligible += 1
        document = by_baseline[rank - cap - 1] if rank > cap else -1
        if document < 0 or new_rank[document]:
            while new_rank[waiting[0][1]]:  # it came before its turn, as it could wait no longer
                heapq.heappop(waiting)
            document = heapq.heappop(waiting)[1]
        new_rank[document] = rank
    return new_rank
