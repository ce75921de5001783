"""Preferences between lists as SoftNDCG at a known σ has them, to see how well it can be found again."""

from __future__ import annotations

import numpy as np

from surefoot.arguments import integer
from surefoot.data.types.preferences import PreferencePairs
from surefoot.measures.notation import check_choice
from surefoot.measures.sigma import soft_ndcg_gradient


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
