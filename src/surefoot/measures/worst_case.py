"""What a ranking could lose against another at most, whatever judgments would say: no judgment is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Flags, Floats, Ints
from surefoot.data.reading.columns import names_of, row_of
from surefoot.data.types.runs import RankedSource, Run
from surefoot.errors import MeasureError
from surefoot.measures.effectiveness import discount, discounts
from surefoot.measures.matching import ordinals
from surefoot.measures.notation import Measure


def worst_case_loss(
    run: RankedSource, baseline: RankedSource, measure: str | Measure, *, queries: Sequence[str] | None = None
) -> Floats:
    """W(q): the greatest loss M_b(q) − M_m(q) that any judgments could show; one value for each of the queries.

    These are the baseline's unless given. With r_b and r_m a document's ranks and D(r) the discount, 0 past k:

        nDCG@k   max over j of (the sum of the j largest D(r_b) − D(r_m)) / Σ_{i ≤ j, i ≤ k} D(i), whatever the gains
        RR@k     max over documents of 1/r_b − 1/r_m
        P@k      |top_b ∖ top_m| / k
        others   1 where the lists differ down to the cut-off; always 1 for rNDCG and SoftNDCG, which see the scores

    A DCG has no greatest loss: it is refused.

    >>> today, new = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}
    >>> worst_case_loss(new, today, "RR@10"), worst_case_loss(new, today, "P@2")
    (array([0.5]), array([0.]))
    """
    parsed = check_bounded(measure)
    candidate, reference = Run._read(run), Run._read(baseline)
    if parsed.family in ("nDCG", "RR", "P"):
        losses = _loss_by_rank(candidate, reference, parsed)
    elif parsed.kind.uses_scores:  # these change with the scores, though no document moves
        losses = np.ones(len(reference.queries))
    else:
        losses = _lists_differ(candidate, reference, parsed.depth).astype(np.float64)
    if queries is None:
        return losses
    value = dict(zip(reference.queries, losses.tolist(), strict=True))  # what the baseline does not answer cannot lose
    return np.array([value.get(query, 0.0) for query in names_of(queries, "the query", row_of("queries"))])


def check_bounded(measure: str | Measure) -> Measure:
    """The measure, if its values are from 0 to 1: bounds on losses need that."""
    parsed = Measure.parse(measure)
    if not parsed.kind.bounded:
        example = f"n{parsed}" if parsed.family == "DCG" else "nDCG@10"
        raise MeasureError(
            f"{parsed} has no maximum, so the possible loss has no limit; use a measure from 0 to 1, such as {example}"
        )
    return parsed


def _loss_by_rank(run: Run, baseline: Run, measure: Measure) -> Floats:
    """For measures to which each document adds by its rank alone: what falls, the greatest falls first."""
    query, rank, other = _ranks(run, baseline, measure.cutoff)
    fall = _gain_at_rank(rank, measure) - _gain_at_rank(other, measure)
    falls = fall > 0
    query, fall = query[falls], fall[falls]
    order = np.lexsort((-fall, query))
    query, fall = query[order], fall[order]
    losses = np.zeros(len(baseline.queries))
    if measure.family == "RR":
        np.maximum.at(losses, query, fall)
    elif measure.family == "P":
        losses = np.bincount(query, minlength=len(losses)) / float(measure.cutoff or 1)
    elif len(query):
        # All greatest falls, then all second ones, …: no query's sum depends on what other queries hold.
        number = ordinals(query)
        most = np.cumsum(discounts(int(number.max()) + 1, measure.cutoff))
        by_number = np.argsort(number, kind="stable")
        bounds = np.searchsorted(number[by_number], np.arange(len(most) + 1))
        total = np.zeros(len(losses))
        for ideal, start, end in zip(most.tolist(), bounds[:-1], bounds[1:], strict=True):
            here = query[by_number[start:end]]
            total[here] += fall[by_number[start:end]]
            losses[here] = np.maximum(losses[here], total[here] / ideal)
    return np.minimum(losses, 1.0)


def _gain_at_rank(rank: Ints, measure: Measure) -> Floats:
    """What one relevant document at each rank adds; rank 0 stands for a document that is not shown."""
    shown_rank = np.maximum(rank, 1)
    if measure.family == "nDCG":
        value = discount(shown_rank)
    else:
        value = 1.0 / shown_rank if measure.family == "RR" else np.ones(len(rank))
    return np.where(rank > 0, value, 0.0)


def _ranks(run: Run, baseline: Run, cutoff: float | None) -> tuple[Ints, Ints, Ints]:
    """Of each document that the baseline shows: its query, its rank there, and its rank in the run (0: not shown)."""
    rank = baseline.ranking.ranks()
    other = np.zeros(len(rank), dtype=np.int64)
    mine, theirs = run.ranking.match(baseline.ranking)
    other[theirs] = run.ranking.rank_at(mine)
    query = baseline.ranking.query_of_position()
    if cutoff is not None:
        other[other > cutoff] = 0
        within = rank <= cutoff
        query, rank, other = query[within], rank[within], other[within]
    return query, rank, other


def _lists_differ(run: Run, baseline: Run, depth: float | None) -> Flags:
    """Whether the run shows another list than the baseline, down to a rank."""
    query, rank, other = _ranks(run, baseline, depth)
    lengths = dict(zip(run.query_codes.tolist(), run.ranking.lengths.tolist(), strict=True))
    length = np.array([lengths.get(code, 0) for code in baseline.query_codes.tolist()], dtype=np.int64)
    if depth is not None:
        length = np.minimum(length, int(depth))
    same = np.bincount(query[rank == other], minlength=len(length))
    return (same < np.bincount(query, minlength=len(length))) | (same < length)
