"""Opening a gate as judgments arrive: one anytime bet for each threshold, which may be looked at after every batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.hashes import queries_hash
from surefoot.decide.control.calibration import Judged, check_new
from surefoot.decide.control.certificate import Certificate
from surefoot.decide.control.certify import Outcome, certify
from surefoot.decide.control.settings import Asked
from surefoot.decide.control.thresholds import Calibration, best_of, passing
from surefoot.decide.evidence.nothing_to_lose import NothingToLoseData, counts_of, sum_of
from surefoot.decide.evidence.proof import Evidence, evidence_of
from surefoot.errors import DataError
from surefoot.risk.betting import AnytimeBets, anytime_columns, gated_columns, start_anytime
from surefoot.risk.bounds import least_queries

_COLUMNS = ("scores", "candidate", "baseline")


@dataclass(frozen=True)
class Opening:
    """What the batches so far said: their queries in betting order, and the bets on each loss at each threshold.

    A threshold opens when its bets reach 1/δ and all safer ones are open; what is open stays open.
    """

    asked: Asked
    thresholds: Floats  # descending
    bets: tuple[AnytimeBets, ...]
    batches: tuple[Judged, ...]  # each in betting order
    nothing_to_lose: tuple[NothingToLoseData, ...]  # of each
    seen: frozenset[str]

    @classmethod
    def start(cls, asked: Asked, thresholds: Floats) -> Opening:
        """Before the first batch."""
        descending = np.unique(thresholds)[::-1]
        bets = tuple(start_anytime(rule.level, asked.delta, asked.budget, descending.shape) for rule in asked.rules)
        return cls(asked, descending, bets, (), (), frozenset())

    def with_batch(
        self, judged: Judged, prints: Sequence[frozenset[str]], nothing_to_lose: NothingToLoseData
    ) -> Opening:
        """After one more batch, of queries that were in none before."""
        check_new(prints, self.seen, judged.queries, "in a batch before")
        rows = judged.in_order()
        batch = Judged(
            tuple(judged.queries[row] for row in rows.tolist()), judged.scores[rows], judged.candidate[rows],
            judged.baseline[rows],
        )  # fmt: skip
        return self._after(batch, prints, nothing_to_lose)

    def _after(self, batch: Judged, prints: Sequence[frozenset[str]], nothing_to_lose: NothingToLoseData) -> Opening:
        """After a batch in betting order."""
        return replace(
            self,
            nothing_to_lose=(*self.nothing_to_lose, nothing_to_lose),
            bets=tuple(
                anytime_columns(gated_columns(one.x, batch.scores, self.thresholds), bet)
                for one, bet in zip(_evidence(self.asked, batch), self.bets, strict=True)
            ),
            batches=(*self.batches, batch),
            seen=self.seen.union(*prints),
        )

    def together(self) -> Judged:
        """All batches, one after the other."""
        scores, candidate, baseline = (
            np.concatenate([getattr(part, name) for part in self.batches]) for name in _COLUMNS
        )
        queries = tuple(query for part in self.batches for query in part.queries)
        return Judged(queries, scores, candidate, baseline)

    def certificate(self, gate: str, about: dict[str, Any]) -> Certificate:
        """What is proved so far."""
        judged = self.together()
        open_ = passing(np.max([bet.p for bet in self.bets], axis=0), self.asked.delta)
        calibration = Calibration(
            judged.scores, judged.candidate - judged.baseline, np.ones(len(judged.queries)),
            _evidence(self.asked, judged), "betting", self.asked.delta,
        )  # fmt: skip
        found = best_of(calibration.gains(self.thresholds), self.thresholds, int(open_))
        least = [least_queries(rule.level, self.asked.delta, "anytime") for rule in self.asked.rules]
        outcome = Outcome(
            self.asked, gate, calibration, found,
            {"kind": "plain", "draws": len(judged.queries), "mean_weight": None, "strata": []},
            1.0, 1, judged.baseline, sum_of(self.nothing_to_lose), self.asked.budget,
            max((each for each in least if each is not None), default=None),
        )  # fmt: skip
        return certify(outcome, about | {"queries_sha256": queries_hash(judged.queries)})

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which the bets are made again."""
        return {
            "seen": sorted(self.seen),
            "batches": [
                {
                    "queries": list(batch.queries),
                    **{name: getattr(batch, name).tolist() for name in _COLUMNS},
                    "nothing_to_lose": nothing,
                }
                for batch, nothing in zip(self.batches, self.nothing_to_lose, strict=True)
            ],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], asked: Asked, thresholds: Floats) -> Opening:
        """The bets on what `to_dict` says was seen."""
        found = cls.start(asked, thresholds)
        for held in data["batches"]:
            columns = [np.array(held[name], dtype=np.float64) for name in _COLUMNS]
            queries = tuple(held["queries"])
            if any(column.shape != (len(queries),) or not np.isfinite(column).all() for column in columns):
                raise DataError("has a batch that is not whole")
            if any(not ((column >= 0) & (column <= 1)).all() for column in columns[1:]):
                raise DataError("has a batch with values of the measure beyond 0 and 1")
            batch = Judged(queries, columns[0], columns[1], columns[2])
            found = found._after(batch, [frozenset()] * len(queries), counts_of(held.get("nothing_to_lose")))
        return replace(found, seen=frozenset(map(str, data["seen"])))


def _evidence(asked: Asked, judged: Judged) -> tuple[Evidence, ...]:
    sample = judged.sample(np.arange(len(judged.queries)))
    return tuple(evidence_of(rule, sample, str(asked.measure), budget=asked.budget) for rule in asked.rules)
