"""A measure on the queries of one data set, as the kernel sees it, and queries that models are chosen and judged by."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from surefoot.arrays import CompactInts, Floats, Ints
from surefoot.data.types.labels_and_scores import check_labels, standardise
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError
from surefoot.learn import kernel
from surefoot.measures.effectiveness import check_top, discounts, gains, stopping_chance
from surefoot.measures.notation import Measure
from surefoot.risk.churn import kendall_tau
from surefoot.runtime import cores

_KERNEL_CONSTANTS = {"nDCG": kernel.NDCG, "AP": kernel.AP, "RR": kernel.RR, "ERR": kernel.ERR}
_NO_CUTOFF = 1 << 60  # four times it is still an integer of 64 bits
PARTS = ("train", "valid", "test")  # of the data of a study
EVALUATION_PARTS = PARTS[1:]  # those that models are chosen and judged by


class MeasuredQueries:
    """The labels of documents, query by query, under the measure that is optimised and a tie rule.

    `gains` are what the measure sees of a label (nDCG's gain, ERR's stopping chance, relevant or not for AP and RR),
    `ideal` the ideal DCG or the number of relevant documents of each query. `tie_order` lists each query's rows in the
    tie rule's order.
    """

    def __init__(
        self, measure: Measure | str, labels: Floats, offsets: Ints, tie_order: Ints, threads: int | None = None
    ) -> None:
        self.measure = Measure.parse(measure)
        if self.measure.family not in _KERNEL_CONSTANTS:
            raise ArgumentError(f"{self.measure} cannot be optimised; nDCG, AP, RR and ERR can")
        settings = self.measure.settings
        self.kind = _KERNEL_CONSTANTS[self.measure.family]
        self.cutoff = _NO_CUTOFF if self.measure.cutoff is None else int(self.measure.cutoff)
        self.labels = np.ascontiguousarray(labels, dtype=np.float64)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        rows = np.int32 if len(labels) < 2**31 else np.int64
        self.tie_order: CompactInts = np.ascontiguousarray(tie_order, dtype=rows)
        self._label_order: CompactInts = np.lexsort((self.labels, query)).astype(rows)
        self.discounts = discounts(int(self.lengths.max(initial=1)))
        if self.kind == kernel.ERR:
            check_top(float(self.labels.max(initial=0)), settings["max_rel"], "label")
            self.gains = stopping_chance(self.labels, settings["max_rel"])
        elif self.kind != kernel.NDCG:
            self.gains = (self.labels >= settings["rel"]).astype(np.float64)
        else:
            self.gains = gains(self.labels, settings["dcg"])
        self.ideal = self._ideals()
        self._parts = _balanced(self.lengths, min(self.cutoff, 1 << 20), threads or cores())
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    @classmethod
    def from_data(cls, data: RankingData, measure: Measure | str, threads: int | None = None) -> Self:
        """The documents of `data`, whose labels must have a gain under the measure."""
        known = Measure.parse(measure)
        check_labels(data.y, exponential=known.settings.get("dcg") == "exp-log2" or known.family == "ERR")
        return cls(known, data.y, data.offsets, data.tie_order(), threads)

    @property
    def lengths(self) -> Ints:
        """Documents per query."""
        return np.diff(self.offsets)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def rank(self, scores: Floats, *, fully: bool = False) -> CompactInts:
        """The rows of each query in ranked order, down to the cut-off: scores descending, ties by the tie rule.

        Below the cut-off no measure looks at the order; long lists go by label there, unless `fully` is True.
        """
        order = np.empty_like(self.tie_order)
        depth = _NO_CUTOFF if fully else self.cutoff
        self.run_in_threads(kernel.rank_queries, self.offsets, self.tie_order, self._label_order, depth, scores, order)
        return order

    def places(self, scores: Floats) -> Floats:
        """Each document's rank in its query by these scores, from 0."""
        order = self.rank(np.ascontiguousarray(scores, dtype=np.float64), fully=True)
        result = np.empty(len(order))
        result[order] = np.arange(len(order)) - np.repeat(self.offsets[:-1], self.lengths)
        return result

    def measure_order(self, order: CompactInts) -> Floats:
        """M(q) of ranked rows."""
        values = np.empty(self.queries)
        self.run_in_threads(
            kernel.measure_queries, self.offsets, order, self.gains, self.ideal, self.discounts,
            self.kind, self.cutoff, values,
        )  # fmt: skip
        return values

    def values(self, scores: npt.ArrayLike) -> Floats:
        """M(q) of each query when its documents are ranked by these scores."""
        return self.measure_order(self.rank(np.ascontiguousarray(scores, dtype=np.float64)))

    def run_in_threads(self, loop: Callable[..., Any], *arguments: Any) -> None:
        """Run a loop of the kernel over all queries, a part of them on each thread.

        Plain threads, since the loops let go of the interpreter's lock: they sleep between calls, where Numba's own
        pool would spin beside LightGBM's, and two of them may run at once.
        """
        (first, last), *others = self._parts
        running = [self._threads().submit(loop, *part, *arguments) for part in others]
        loop(first, last, *arguments)
        for part in running:
            part.result()

    def _threads(self) -> ThreadPoolExecutor:
        """Threads for all parts but the first, started when first used; a forked child has none of its parent's."""
        process = os.getpid()
        if self._pool is None or self._pool[0] != process:
            self._pool = process, ThreadPoolExecutor(len(self._parts) - 1)
        return self._pool[1]

    def __getstate__(self) -> dict[str, Any]:
        """All but the threads, which cannot be pickled."""
        return vars(self) | {"_pool": None}

    def _ideals(self) -> Floats:
        if self.kind != kernel.NDCG:
            return np.add.reduceat((self.gains > 0).astype(np.float64), self.offsets[:-1])
        # From the last query to the first, and so from each one's best label to its worst.
        query = np.repeat(np.arange(self.queries), self.lengths)[::-1]
        position = self.offsets[1:][query] - 1 - np.arange(len(query))[::-1]
        worth = np.where(position < self.cutoff, self.discounts[position], 0.0)
        terms = self.gains[self._label_order[::-1]] * worth
        return np.bincount(query, terms, self.queries).astype(np.float64, copy=False)


def _balanced(lengths: Ints, cutoff: int, threads: int) -> list[tuple[int, int]]:
    """Parts of the queries with about as many pairs each."""
    work = np.cumsum(lengths * np.minimum(lengths, cutoff))
    cuts = np.searchsorted(work, np.arange(1, threads) / threads * work[-1], side="right")
    return [(first, last) for first, last in pairwise([0, *cuts.tolist(), len(lengths)]) if first < last]


@dataclass(frozen=True)
class EvaluationQueries:
    """Validation or test queries: their labels under each measure, how ties go, and what the baselines do."""

    queries: list[str]
    by_measure: list[MeasuredQueries]  # of each measure, the leading one first
    baselines: Floats  # scores of documents, a row per baseline
    aggregate: Floats | None = None  # a number per query, for selective re-ranking
    weights: Floats | None = None  # how often each query is asked

    @property
    def lengths(self) -> Ints:
        """Documents per query."""
        return self.by_measure[0].lengths

    def values(self, scores: Floats) -> Floats:
        """Each measure, a row each, of every query under these scores of documents."""
        return np.stack([target.values(scores) for target in self.by_measure])

    def standardised(self, scores: Floats) -> Floats:
        """Scores less their query's mean, over their deviation within it."""
        return standardise(scores, self.lengths)

    def tau(self, scores: Floats) -> Floats:
        """Kendall's τ between the ranking by these scores and the first baseline's; NaN for a single document."""
        leading = self.by_measure[0]
        position = np.empty(len(scores), dtype=np.int64)
        position[leading.rank(self.baselines[0], fully=True)] = np.arange(len(scores))
        group = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return kendall_tau(group, position[leading.rank(scores, fully=True)], self.lengths)
