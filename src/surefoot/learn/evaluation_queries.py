"""Queries that no model learned from, with which models are chosen and judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.data.types.labels_and_scores import standardise
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.risk.churn import kendall_tau

PARTS = ("train", "valid", "test")  # of the data of a study
EVALUATION_PARTS = PARTS[1:]  # those that models are chosen and judged by


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
