"""Effectiveness of a run on each judged query, from the judged documents it retrieved.

A measure's function takes `Hits`, the cut-off (or None) and the measure's parameters, and gives one value per judged
query. Values follow trec_eval, ERR and exponential nDCG follow gdeval.
"""

from __future__ import annotations

import itertools

import numpy as np

from surefoot.arrays import LARGEST_POWER, LARGEST_SCORE, Floats, Ints
from surefoot.errors import MeasureError
from surefoot.measures.matching import Hits, ordinals


def divisor(rank: Ints) -> Floats:
    """log2(1 + r), by which DCG divides a gain at rank r (Järvelin and Kekäläinen, TOIS 2002)."""
    return np.asarray(np.log2(1.0 + rank))


def discount(rank: Ints, cutoff: float | None = None) -> Floats:
    """D(r) = 1 / log2(1 + r), 0 beyond the cut-off.

    >>> discount(np.array([1, 3, 7]), cutoff=3)
    array([1. , 0.5, 0. ])
    """
    factor = 1.0 / divisor(rank)
    return np.asarray(factor if cutoff is None else np.where(rank <= cutoff, factor, 0.0))


def discounts(length: int, cutoff: float | None = None) -> Floats:
    """D(r) of ranks 1 to `length`."""
    return discount(np.arange(1, length + 1), cutoff)


def dcg(hits: Hits, cutoff: float | None, *, dcg: str) -> Floats:
    """Discounted cumulative gain: Σ g(r) / log2(1 + r) (Järvelin and Kekäläinen, TOIS 2002)."""
    return _discounted(hits, hits.query, hits.rank, hits.grade, cutoff, dcg)


def ndcg(hits: Hits, cutoff: float | None, *, dcg: str) -> Floats:
    """DCG over that of the ideal order of all judged documents (Järvelin and Kekäläinen, TOIS 2002)."""
    return ratio(_discounted(hits, hits.query, hits.rank, hits.grade, cutoff, dcg), ideal_dcg(hits, cutoff, dcg))


def ideal_dcg(hits: Hits, cutoff: float | None, form: str) -> Floats:
    """DCG of the ideal order of all judged documents."""
    judged_ranking = hits.judgments.ranking
    return _discounted(
        hits, judged_ranking.query_of_position(), judged_ranking.ranks(), judged_ranking.scores, cutoff, form
    )


def gains(grade: Floats, form: str) -> Floats:
    """What grades above 0 are worth: themselves ('log2') or 2^g − 1 ('exp-log2')."""
    return grade if form == "log2" else np.exp2(grade) - 1


def _discounted(hits: Hits, query: Ints, rank: Ints, grade: Floats, cutoff: float | None, form: str) -> Floats:
    top, most = float(np.max(hits.judgments.grades)), LARGEST_SCORE if form == "log2" else LARGEST_POWER
    if top > most:
        power = "" if form == "log2" else "2 to the power of "
        raise MeasureError(f"a gain of {power}{top:g}, the largest grade, would overflow; grades go up to {most:g}")
    mask = grade > 0
    if cutoff is not None:
        mask &= rank <= cutoff
    return hits.per_query(query[mask], gains(grade[mask], form) / divisor(rank[mask]))


def check_top(top: float, max_rel: float, what: str = "grade") -> None:
    """Refuse a top grade above ERR's, at which a reader would stop with a chance above 1."""
    if top > max_rel:
        can_be = top <= LARGEST_POWER
        hint = f"write ERR(max_rel={top:g}) if that is the top {what}" if can_be else "check the data"
        raise MeasureError(f"the data contains a {what} of {top:g}, but ERR has max_rel={max_rel:g}; {hint}")


def stopping_chance(grade: Floats, max_rel: float) -> Floats:
    """How likely a reader of ERR stops at grades from 0 to max_rel: (2^g − 1) / 2^max_rel."""
    return np.asarray((np.exp2(grade) - 1) / 2.0**max_rel)


def err(hits: Hits, cutoff: float | None, *, max_rel: float) -> Floats:
    """Expected reciprocal rank, stopping at grade g with chance (2^g − 1) / 2^max_rel (Chapelle et al., CIKM 2009)."""
    check_top(float(np.max(hits.judgments.grades)), max_rel)
    mask = hits.grade > 0
    if cutoff is not None:
        mask &= hits.rank <= cutoff
    query, rank = hits.query[mask], hits.rank[mask]
    stop = stopping_chance(hits.grade[mask], max_rel)
    # All first relevant results, then all second ones, …: the chance of getting there is known by then.
    number = ordinals(query)
    by_number = np.argsort(number.astype(np.min_scalar_type(number.max(initial=0))), kind="stable")  # radix, if small
    bounds = np.searchsorted(number[by_number], np.arange(number.max(initial=-1) + 2))
    value, reach = np.zeros(hits.n_queries), np.ones(hits.n_queries)
    for start, end in itertools.pairwise(bounds):
        rows = by_number[start:end]
        here = query[rows]
        value[here] += reach[here] * stop[rows] / rank[rows]
        reach[here] *= 1 - stop[rows]
    return value


def average_precision(hits: Hits, cutoff: float | None, *, rel: float) -> Floats:
    """Mean over all relevant documents of the precision where each was retrieved, 0 where it was not."""
    query, rank = hits.relevant(rel, cutoff)
    return ratio(hits.per_query(query, (ordinals(query) + 1) / rank), hits.total_relevant(rel))


def reciprocal_rank(hits: Hits, cutoff: float | None, *, rel: float) -> Floats:
    """One over the rank of the first relevant document."""
    query, rank = hits.relevant(rel, cutoff)
    first = ordinals(query) == 0
    return hits.per_query(query[first], 1.0 / rank[first])


def precision(hits: Hits, cutoff: float, *, rel: float) -> Floats:
    """Share of the first k results that are relevant; a short list is filled up with non-relevant ones."""
    return hits.per_query(hits.relevant(rel, cutoff)[0]) / cutoff


def recall(hits: Hits, cutoff: float | None, *, rel: float) -> Floats:
    """Share of the relevant documents retrieved."""
    return ratio(hits.per_query(hits.relevant(rel, cutoff)[0]), hits.total_relevant(rel))


def r_precision(hits: Hits, cutoff: None, *, rel: float) -> Floats:
    """Precision at the number of relevant documents."""
    total = hits.total_relevant(rel)
    query, rank = hits.relevant(rel, None)
    return ratio(hits.per_query(query[rank <= total[query]]), total)


def success(hits: Hits, cutoff: float, *, rel: float) -> Floats:
    """1 if a relevant document is among the first k results."""
    return np.minimum(hits.per_query(hits.relevant(rel, cutoff)[0]), 1.0)


def rank_biased_precision(hits: Hits, cutoff: float | None, *, p: float, rel: float) -> Floats:
    """(1 − p) Σ p^(r−1) over the relevant ranks r (Moffat and Zobel, TOIS 2008)."""
    query, rank = hits.relevant(rel, cutoff)
    return (1 - p) * hits.per_query(query, np.power(p, rank - 1.0))


def judged_share(hits: Hits, cutoff: float | None) -> Floats:
    """Share of the first k results that were judged at all."""
    seen = hits.retrieved if cutoff is None else np.minimum(hits.retrieved, cutoff)
    return ratio(hits.per_query(hits.relevant(-np.inf, cutoff)[0]), seen.astype(np.float64))


def interpolated_precision(hits: Hits, cutoff: float, *, rel: float, version: int) -> Floats:
    """Greatest precision at any rank where recall is at least the cut-off.

    A recall level stands for a number of documents, which trec_eval 10 rounds to the nearest, trec_eval 9 mostly up.
    """
    query, rank = hits.relevant(rel, None)
    relevant_so_far = ordinals(query) + 1
    enough = relevant_so_far >= np.floor(cutoff * hits.total_relevant(rel) + (0.5 if version == 10 else 0.9))[query]
    best = np.zeros(hits.n_queries)
    np.maximum.at(best, query[enough], relevant_so_far[enough] / rank[enough])
    return best


def bpref(hits: Hits, cutoff: None, *, rel: float) -> Floats:
    """How seldom judged non-relevant documents stand above relevant ones (Buckley and Voorhees, SIGIR 2004)."""
    total = hits.total_relevant(rel)
    other = hits.total_relevant(0) - total
    judged_mask = hits.grade >= 0
    query, relevant = hits.query[judged_mask], hits.grade[judged_mask] >= rel
    wrong = np.cumsum(~relevant)
    before = np.concatenate([[0], wrong])[np.arange(len(query)) - ordinals(query)]
    query, above = query[relevant], (wrong - before)[relevant]
    share = np.minimum(above, total[query]) / np.maximum(np.minimum(total, other)[query], 1)
    return ratio(hits.per_query(query, 1 - share), total)


def ratio(part: Floats, total: Floats) -> Floats:
    """part / total, 0 where the total is 0."""
    return np.divide(part, total, out=np.zeros_like(part), where=total > 0)
