"""Thresholds that open as judgments arrive: one anytime bet on each, which may be looked at after every batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.hashes import queries_hash
from surefoot.decide.evidence.evidence_data import UnansweredData
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.nothing_to_lose import sum_counts
from surefoot.decide.evidence.proof import ConditionEvidence, evidence_of
from surefoot.decide.guard.calibration import GuardSettings, ScoredQueries, check_new
from surefoot.decide.guard.certificate import CalibrationOutcome, Certificate, certify
from surefoot.decide.guard.thresholds import Calibration, best_of, passing
from surefoot.errors import DataError
from surefoot.report.kinds import check_shape
from surefoot.risk.betting import AnytimeBets, anytime_columns, start_anytime, thresholded_columns
from surefoot.risk.bounds import least_queries


@dataclass(frozen=True)
class SequentialThresholds:
    """What the batches so far said: their queries in betting order, and the bets on each loss at each threshold.

    A threshold opens when its bets reach 1/δ and all safer ones are open; what is open stays open.
    """

    settings: GuardSettings
    thresholds: Floats  # descending
    bets: tuple[AnytimeBets, ...]
    batches: tuple[ScoredQueries, ...]  # each in betting order
    nothing_to_lose: tuple[UnansweredData, ...]  # of each
    seen: frozenset[str]

    @classmethod
    def start(cls, settings: GuardSettings, thresholds: Floats) -> SequentialThresholds:
        """Before the first batch."""
        descending = np.unique(thresholds)[::-1]
        shape = descending.shape
        bets = tuple(start_anytime(rule.level, settings.delta, settings.budget, shape) for rule in settings.rules)
        return cls(settings, descending, bets, (), (), frozenset())

    def with_batch(
        self, scored: ScoredQueries, fingerprints: Sequence[frozenset[str]], nothing_to_lose: UnansweredData
    ) -> SequentialThresholds:
        """After one more batch, of queries that were in none before."""
        check_new(fingerprints, self.seen, scored.judged.queries, "in an earlier batch")
        return self._with_ordered(scored.in_betting_order(), fingerprints, nothing_to_lose)

    def _with_ordered(
        self, batch: ScoredQueries, fingerprints: Sequence[frozenset[str]], nothing_to_lose: UnansweredData
    ) -> SequentialThresholds:
        """After a batch in betting order."""
        return replace(
            self,
            nothing_to_lose=(*self.nothing_to_lose, nothing_to_lose),
            bets=tuple(
                anytime_columns(thresholded_columns(evidence.x, batch.scores, self.thresholds), bet)
                for evidence, bet in zip(_evidence(self.settings, batch.judged), self.bets, strict=True)
            ),
            batches=(*self.batches, batch),
            seen=self.seen.union(*fingerprints),
        )

    def certificate(self, scorer: str, names: dict[str, Any]) -> Certificate:
        """What is proved so far."""
        settings, judged = self.settings, reduce(JudgedQueries.followed_by, (batch.judged for batch in self.batches))
        scores = np.concatenate([batch.scores for batch in self.batches])
        open_ = passing(np.max([bet.p for bet in self.bets], axis=0), settings.delta)
        calibration = Calibration(
            scores, judged.candidate - judged.baseline, np.ones(len(judged)), _evidence(settings, judged),
            settings.delta,
        )  # fmt: skip
        least = [least_queries(rule.level, settings.delta, "anytime") for rule in settings.rules]
        outcome = CalibrationOutcome(
            settings=settings,
            scorer=scorer,
            calibration=calibration,
            judged=judged,
            result=best_of(calibration.gains(self.thresholds), self.thresholds, int(open_)),
            sampling={"kind": "plain"},
            largest=1.0,
            nothing_to_lose=sum_counts(self.nothing_to_lose),
            budget=settings.budget,
            least=max((each for each in least if each is not None), default=None),
        )
        return certify(outcome, names | {"queries_sha256": queries_hash(judged.queries)})

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which the bets are made again."""
        return {
            "seen": sorted(self.seen),
            "batches": [
                {
                    "queries": list(batch.judged.queries),
                    "scores": batch.scores.tolist(),
                    "candidate": batch.judged.candidate.tolist(),
                    "baseline": batch.judged.baseline.tolist(),
                    "unanswered": no_loss,
                }
                for batch, no_loss in zip(self.batches, self.nothing_to_lose, strict=True)
            ],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], settings: GuardSettings, thresholds: Floats) -> SequentialThresholds:
        """The bets on what `to_dict` says was seen."""
        sequential = cls.start(settings, thresholds)
        for stored in data["batches"]:
            names = ("scores", "candidate", "baseline")
            columns = scores, candidate, baseline = [np.array(stored[name], dtype=np.float64) for name in names]
            queries = tuple(stored["queries"])
            if any(column.shape != (len(queries),) or not np.isfinite(column).all() for column in columns):
                raise DataError("has a batch that is not complete")
            if any(not ((column >= 0) & (column <= 1)).all() for column in (candidate, baseline)):
                raise DataError("has a batch with values of the measure below 0 or above 1")
            batch = ScoredQueries(JudgedQueries(queries, baseline, candidate), scores)
            counts: UnansweredData = stored["unanswered"]
            check_shape(counts, UnansweredData, complete=True)
            sequential = sequential._with_ordered(batch, [frozenset()] * len(queries), counts)
        return replace(sequential, seen=frozenset(map(str, data["seen"])))


def _evidence(settings: GuardSettings, judged: JudgedQueries) -> tuple[ConditionEvidence, ...]:
    return tuple(evidence_of(rule, judged, str(settings.measure), budget=settings.budget) for rule in settings.rules)
