"""Judged queries on which nothing can be lost: those that neither system answers, and those without a relevant
document.

They add to the number of queries and never to the losses, so that risk looks smaller the more of them there are: of
1,000 judged queries of which 200 are answered, a risk of 0.05 on those looks like 0.01. In a plain sample they are
left out, unless they are a part of traffic; with draws and strata, whose shares are of all traffic, they are counted
and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.arrays import Flags
from surefoot.data.types.runs import Qrels
from surefoot.data.types.scores import Scores
from surefoot.decide.evidence.evidence_data import UnansweredData
from surefoot.decide.options import NothingToLoseTreatment
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.measures.notation import Measure


def parse_treatment(value: Any) -> NothingToLoseTreatment:
    """What is to become of such queries, checked."""
    try:
        return NothingToLoseTreatment(value)
    except ValueError:
        raise ArgumentError(
            f"unanswered is {shortened(value)}; it must be {' or '.join(NothingToLoseTreatment)}"
        ) from None


class NothingToLose(NamedTuple):
    """The same as flags, one for each query."""

    unanswered: Flags
    no_relevant: Flags
    both_zero: Flags

    @property
    def any(self) -> Flags:
        """Whether nothing can be lost by the judgments; of queries that merely score 0 that is not known."""
        return self.unanswered | self.no_relevant

    def counts(self, *, left_out: bool) -> UnansweredData:
        """How many of each kind."""
        return {
            "treatment": "leave-out" if left_out else "count", "left_out": int(self.any.sum()) if left_out else 0,
            "no_answer": int(self.unanswered.sum()), "no_relevant": int(self.no_relevant.sum()),
            "both_zero": int(self.both_zero.sum()),
        }  # fmt: skip

    def mask(self, *, leave_out: bool, among: Flags | None = None) -> Flags:
        """Which queries, `among` some or of all, count; none is an error."""
        mask = np.ones(len(self.any), dtype=bool) if among is None else among.copy()
        which = "no judged query" if mask.all() else f"none of the {int(mask.sum()):,} queries judged since"
        if leave_out:
            mask &= ~self.any
        if not mask.any():
            raise DataError(
                f"{which} can lose anything, because neither system answers it or none of its documents is "
                "judged relevant; judge queries that the systems answer"
            )
        return mask


def nothing_to_lose(scores: Scores, baseline: str, candidate: str, among: Iterable[str] | None = None) -> NothingToLose:
    """Of each query whether nothing can be lost on it; of those `among` some, where these are given."""
    no_loss = _nothing_to_lose(scores, baseline, candidate)
    if among is None:
        return no_loss
    chosen = frozenset(among)
    is_chosen = np.array([query in chosen for query in scores.queries])
    return NothingToLose(*(flags & is_chosen for flags in no_loss))


def _nothing_to_lose(scores: Scores, baseline: str, candidate: str) -> NothingToLose:
    none = np.zeros(len(scores.queries), dtype=bool)
    runs = {run.name: run for run in scores.runs}
    if scores.qrels is None or baseline not in runs or candidate not in runs:
        return NothingToLose(none, none, (scores[baseline] == 0) & (scores[candidate] == 0))
    answered = {query for name in (baseline, candidate) for query in runs[name].queries}
    relevant = with_relevant(scores.qrels, Measure.parse(scores.measure))
    unanswered = np.array([query not in answered for query in scores.queries])
    return NothingToLose(unanswered, ~unanswered & np.array([query not in relevant for query in scores.queries]), none)


def with_relevant(qrels: Qrels, measure: Measure) -> frozenset[str]:
    """The queries that have a document which the measure takes for relevant; Judged looks at no grade."""
    if measure.family == "Judged":
        return frozenset(qrels.queries)
    best = qrels.grades[qrels.ranking.offsets[:-1]]
    enough = best >= measure.settings["rel"] if "rel" in measure.settings else best > 0
    return frozenset(query for query, fine in zip(qrels.queries, enough.tolist(), strict=True) if fine)


def sum_counts(parts: Sequence[UnansweredData]) -> UnansweredData:
    """The counts of several batches together."""
    return {
        "treatment": parts[0]["treatment"], "left_out": sum(counts["left_out"] for counts in parts),
        "no_answer": sum(counts["no_answer"] for counts in parts),
        "no_relevant": sum(counts["no_relevant"] for counts in parts),
        "both_zero": sum(counts["both_zero"] for counts in parts),
    }  # fmt: skip


def nothing_to_lose_notes(counts: UnansweredData) -> list[str]:
    """What a reader must know of them."""
    notes = []
    kinds = (("no_answer", "that neither system answers"), ("no_relevant", "without a relevant document"))
    # A guard has no score for queries without an answer, and leaves them out whatever becomes of the others.
    everywhere = counts["left_out"] in (0, counts["no_answer"] + counts["no_relevant"])
    number_of = {"no_answer": counts["no_answer"], "no_relevant": counts["no_relevant"]}
    groups = [kinds] if everywhere else [(kind,) for kind in kinds]
    for group in groups:
        many = sum(number_of[kind] for kind, _ in group)
        if not many:
            continue
        told = ", ".join(f"{number_of[kind]:,} {what}" for kind, what in group if number_of[kind])
        cannot = f"{many:,} judged {'query' if many == 1 else 'queries'} ({told}) cannot lose anything."
        if counts["left_out"] and (everywhere or group[0][0] == "no_answer"):
            how = " To count them, use --unanswered count." if counts["treatment"] == "leave-out" else ""
            notes.append(f"{cannot} Such queries would make the risk look smaller, so they were left out.{how}")
        else:
            notes.append(f"{cannot} They count, and make the risk look smaller.")
    if counts["both_zero"]:
        zero = counts["both_zero"]
        notes.append(
            f"Both systems score 0 on {zero:,} {'query' if zero == 1 else 'queries'}. They count. If neither "
            "system answers them, or they have no relevant document, remove them, because they make the risk look "
            "smaller."
        )
    return notes
