"""rNDCG and SoftNDCG: nDCG that also asks how nearly scores tie, and so how easily a ranking flips (Li, CIKM 2009).

Both see a run's scores, so they need more than ranks: `Hits.run`. Scores first become percentiles in a sample of the
same function's scores, which makes functions comparable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Floats, stretch_starts
from surefoot.measures.effectiveness import discount, discounts, gains, ideal_dcg, ratio
from surefoot.measures.expected_discount import expected_discounts
from surefoot.measures.matching import Hits
from surefoot.measures.rank_binomial import avoid_overflow, check_sigma

if TYPE_CHECKING:
    from surefoot.data.types.runs import Run

_SAMPLED_LISTS, _SAMPLED_DEPTH, _SHORTEST_LIST = 5, 100, 20  # what `filled_ranks` looks at


def percentiles(scores: npt.ArrayLike, sample: npt.ArrayLike | None = None) -> Floats:
    """Where each score stands in a sample (by default the scores themselves), from 0 to 1.

    The percentile of s is the middle of the empirical distribution's step there,
    (#{x < s} + #{x ≤ s}) / 2N: equal scores have equal percentiles, and a constant sample gives ½.

    >>> percentiles([3.0, 1.0, 1.0, 2.0])
    array([0.875, 0.25 , 0.25 , 0.625])
    >>> percentiles([0.0, 5.0], sample=[1.0, 2.0, 3.0, 5.0])
    array([0.   , 0.875])
    """
    values = np.asarray(scores, dtype=np.float64)
    if sample is not None:
        ascending = np.sort(np.asarray(sample, dtype=np.float64))
        below, not_above = (np.searchsorted(ascending, values, side) for side in ("left", "right"))
        return (below + not_above) / (2.0 * len(ascending))
    if not len(values):
        return values
    order = np.argsort(values)
    starts = stretch_starts(values[order])
    ends = np.append(starts[1:], len(values))
    result = np.empty(len(values))
    result[order] = np.repeat((starts + ends) / (2.0 * len(values)), ends - starts)
    return result


def comparable_scores(run: Run, normalize: str) -> Floats:
    """A run's scores in ranked order: as percentiles of `run.score_sample` (or of themselves), or as they are."""
    return run.ranking.scores if normalize == "none" else percentiles(run.ranking.scores, run.score_sample)


def rndcg(hits: Hits, cutoff: float | None, *, sigma: float, dcg: str, normalize: str) -> Floats:
    """nDCG in which neighbours may change places, the more so the nearer their scores (Li et al., CIKM 2009).

    Σ_r D(r) [p_{r−1} g(r−1) + (1 − p_{r−1} − p_r) g(r) + p_r g(r+1)] over the ideal DCG, where
    p_r = 1/(1 + exp((s_r − s_{r+1})/σ)) is the chance that ranks r and r + 1 change places.
    """
    from scipy.special import expit

    check_sigma(sigma)
    mask = hits.grade > 0
    if cutoff is not None:
        mask &= hits.rank <= cutoff + 1  # the one below the cut-off may come up
    query, rank, at = hits.query[mask], hits.rank[mask], hits.position[mask]
    scores, scale = avoid_overflow(comparable_scores(hits.run, normalize), sigma)
    last = len(scores) - 1
    with np.errstate(over="ignore"):
        above = expit((scores[at] - scores[np.maximum(at - 1, 0)]) / scale)
        below = expit((scores[np.minimum(at + 1, last)] - scores[at]) / scale)
    above[rank == 1] = 0.0
    below[rank == hits.retrieved[query]] = 0.0
    expected = above * discount(np.maximum(rank - 1, 1), cutoff)
    expected += (1.0 - above - below) * discount(rank, cutoff)
    expected += below * discount(rank + 1, cutoff)
    total = hits.per_query(query, gains(hits.grade[mask], dcg) * expected)
    return ratio(total, ideal_dcg(hits, cutoff, dcg))


def filled_ranks(run: Run, sigma: float, cutoff: float | None, normalize: str) -> float:
    """How much of the first ranks' weight the rank-binomial distribution hands out, on average over the lists.

    In every order each rank holds a document, so that Σ_j Σ_r D(r)·P(j at r) would be Σ_r D(r), and this 1. The
    contests are taken as independent, though, and where σ spans many documents each of them loses about half
    of many contests: then none is expected among the first ranks, and SoftNDCG falls towards 0 whatever the ranking.

    >>> from surefoot.data.types.runs import read_run
    >>> run = read_run({"q": {f"d{i}": 1 / i for i in range(1, 101)}})
    >>> round(filled_ranks(run, 0.2, 5, "percentile"), 2), round(filled_ranks(run, 0.01, 5, "percentile"), 2)
    (0.0, 0.98)
    """
    lengths = run.ranking.lengths
    # In a list of at most two cut-offs' length a document has an even chance of the first ranks even if all are tied.
    long = np.flatnonzero(lengths > max(2 * (np.inf if cutoff is None else cutoff), _SHORTEST_LIST))
    if cutoff is None or not len(long):
        return 1.0
    sampled = long[np.unique(np.linspace(0, len(long) - 1, _SAMPLED_LISTS).astype(np.int64))]
    depth = np.minimum(lengths[sampled], max(2 * int(cutoff), _SAMPLED_DEPTH))  # hardly any weight falls further down
    start = np.repeat(run.ranking.offsets[sampled], depth)
    at = start + np.concatenate([np.arange(number) for number in depth])
    scores = comparable_scores(run, normalize)
    expected = expected_discounts(scores, start, np.repeat(lengths[sampled], depth), at, check_sigma(sigma), cutoff)
    filled = expected.sum() / (len(sampled) * discounts(int(cutoff), cutoff).sum())
    return float(1 - (1 - filled) * len(long) / len(lengths))


def soft_ndcg(hits: Hits, cutoff: float | None, *, sigma: float, dcg: str, normalize: str) -> Floats:
    """nDCG expected when scores are normal variables of deviation σ (Taylor et al., WSDM 2008; Li et al., CIKM 2009).

    Σ_j g(j) Σ_r D(r)·P(document j at rank r) over the ideal DCG, with the rank-binomial distribution of
    `surefoot.measures.rank_binomial`.
    """
    check_sigma(sigma)
    mask = hits.grade > 0
    at = hits.position[mask]
    ranking = hits.run.ranking
    list_of = ranking.query_at(at)
    scores = comparable_scores(hits.run, normalize)
    expected = expected_discounts(scores, ranking.offsets[list_of], ranking.lengths[list_of], at, sigma, cutoff)
    total = hits.per_query(hits.query[mask], gains(hits.grade[mask], dcg) * expected)
    return ratio(total, ideal_dcg(hits, cutoff, dcg))
