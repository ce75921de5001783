"""From judged queries to what calibrates a controller: scores of the gate, differences, and evidence on each loss."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.arrays import Floats, Rows
from surefoot.data.reading.segments import read_segments
from surefoot.data.types.runs import Qrels
from surefoot.decide.control.certificate_data import Weights
from surefoot.decide.control.list_pair import Lists
from surefoot.decide.control.scorers import Gate
from surefoot.decide.control.settings import Asked
from surefoot.decide.control.thresholds import Calibration
from surefoot.decide.evidence.betting_order import betting_order
from surefoot.decide.evidence.draws import Draws, read_draws
from surefoot.decide.evidence.judged_queries import Sample
from surefoot.decide.evidence.nothing_to_lose import NothingToLose, NothingToLoseData, with_relevant
from surefoot.decide.evidence.proof import Evidence, evidence_of
from surefoot.decide.evidence.strata import read_weights, stratified
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.measures.notation import Measure

_ROUNDING = 1e-9
_JSON = ".json"


@dataclass(frozen=True)
class Seen:
    """Judged queries under a measure: `rows` says which of the lists' queries they are, `prints` what tells each."""

    lists: Lists
    qrels: Qrels
    measure: Measure
    queries: tuple[str, ...]
    rows: Rows
    candidate: Floats
    baseline: Floats
    prints: list[frozenset[str]]

    @classmethod
    def of(cls, lists: Lists, qrels: Qrels, measure: Measure, prints: Sequence[frozenset[str]]) -> Seen:
        """Those of the lists' queries that are judged; `prints` is of all of them."""
        if not (qrels.grades > 0).any():
            raise DataError("no document of these queries is judged relevant; judge them before anything is proved")
        queries, candidate, baseline = lists.effectiveness(qrels, measure)
        at = {query: place for place, query in enumerate(lists.queries)}
        rows = np.array([at[query] for query in queries], dtype=np.int64)
        return cls(lists, qrels, measure, queries, rows, candidate, baseline, [prints[row] for row in rows.tolist()])

    @property
    def nothing_to_lose(self) -> NothingToLose:
        """Which of them nothing can be lost on; what neither list answers is not among them."""
        relevant = with_relevant(self.qrels, self.measure)
        none = np.zeros(len(self.queries), dtype=bool)
        return NothingToLose(none, np.array([query not in relevant for query in self.queries]), none)

    def counted(self, *, leave_out: bool) -> tuple[Seen, NothingToLoseData]:
        """Those that count, and how many there are on which nothing can be lost, those that nobody answers included."""
        nothing = self.nothing_to_lose
        told = nothing.counted(left_out=leave_out)
        told["unanswered"] = len(self.qrels.queries) - len(self.queries)
        rows = np.flatnonzero(nothing.kept(leave_out=leave_out))
        chosen = replace(
            self,
            queries=tuple(self.queries[row] for row in rows.tolist()),
            rows=self.rows[rows],
            candidate=self.candidate[rows],
            baseline=self.baseline[rows],
            prints=[self.prints[row] for row in rows.tolist()],
        )
        return chosen, told

    def judged(self, gate: Gate) -> Judged:
        """The same with the gate's scores."""
        return Judged(self.queries, gate.scores(self.lists)[self.rows], self.candidate, self.baseline, self)

    def worst_case(self) -> Floats:
        """What each could lose at most."""
        return self.lists.worst_case(self.measure)[self.rows]


@dataclass(frozen=True)
class Judged:
    """Judged queries: the gate's score of each, M_m and M_b; `seen` is where they come from, if that is at hand."""

    queries: tuple[str, ...]
    scores: Floats
    candidate: Floats
    baseline: Floats
    seen: Seen | None = None

    def sample(self, rows: Rows, weight: Floats | None = None) -> Sample:
        """Some of them, one after the other, as a decision looks at them."""
        names = tuple(self.queries[row] for row in rows.tolist())
        return Sample(names, self.baseline[rows], self.candidate[rows], weight)

    def in_order(self) -> Rows:
        """All of them, each once, in betting order."""
        return betting_order(self.queries)


def calibration_of(
    judged: Judged, asked: Asked, weights: Any, strata: Any, largest: float
) -> tuple[Calibration, Sample, Weights]:
    """What calibrates, the sample it is made of, and how that stands for traffic; `largest` is B, the greatest loss."""
    draws, shares = _weights(weights)
    told: Weights = {"kind": "plain", "draws": len(judged.queries), "mean_weight": None, "strata": []}
    mean_weight = 1.0
    if draws is not None:
        rows, weight = _drawn(judged, asked, draws, strata)
        sample, mean_weight = judged.sample(rows, weight), draws.mean_weight
        counts = mean_weight / weight
        told = {"kind": "drawn", "draws": draws.draws, "mean_weight": mean_weight, "strata": []}
    else:
        rows = judged.in_order()
        sample, counts = judged.sample(rows), np.ones(len(rows))
        if shares is not None:
            if asked.method != "betting":
                raise ArgumentError(f"strata are weighed by betting alone; method is {shortened(asked.method)}")
            sample, held = stratified(sample, {} if strata is None else read_segments(strata), shares)
            counts = np.ones(len(rows)) if sample.share is None else sample.share
            told = {"kind": "strata", "draws": len(rows), "mean_weight": None, "strata": held}
        elif strata is not None:
            raise ArgumentError("strata say which kind each query is of; give their shares of traffic as weights, too")
    evidence = tuple(
        _bounded(evidence_of(rule, sample, str(asked.measure), mean_weight), largest, told["kind"])
        for rule in asked.rules
    )
    calibration = Calibration(
        judged.scores[rows], sample.candidate - sample.baseline, counts, evidence, asked.method, asked.delta
    )
    return calibration, sample, told


def _bounded(one: Evidence, largest: float, kind: str) -> Evidence:
    """The evidence on a loss that is at most `largest`, B: x = ℓ/B against m = r/B."""
    if one.rule.name == "risk" and largest < 1 and kind == "plain":
        one = replace(one, x=one.x / largest, scale=one.scale * largest)
    if one.x.max(initial=0.0) > 1 + _ROUNDING:
        raise DataError(
            f"a judged query loses {one.x.max() * one.scale:.4f}, more than the {one.scale:.4f} that any could lose; "
            "the lists are not those that the bound was computed of"
        )
    return one


def _weights(weights: Any) -> tuple[Draws | None, Mapping[str, float] | None]:
    """What weights are: draws of `judge-next`, shares of strata, or nothing."""
    if weights is None:
        return None, None
    if isinstance(weights, Draws) or (isinstance(weights, str | os.PathLike) and str(weights).lower().endswith(_JSON)):
        return read_draws(weights), None
    return None, read_weights(weights)


def _drawn(judged: Judged, asked: Asked, draws: Draws, strata: Any) -> tuple[Rows, Floats]:
    """The drawn queries, each as often as it was drawn, in the order of drawing, and what each was drawn by."""
    if strata is not None:
        raise ArgumentError("drawn queries have their own weights; leave strata out")
    if draws.drawn_for != "risk":
        raise ArgumentError("these queries were drawn for gain; a controller bounds losses: draw for risk")
    if "share_hurt" in asked.levels:
        raise ArgumentError("share_hurt cannot be proved of queries drawn by what they could lose; judge plain draws")
    if asked.method not in ("betting", "hoeffding-bentkus"):
        raise ArgumentError(f"drawn queries need method betting or hoeffding-bentkus; it is {shortened(asked.method)}")
    if draws.measure != str(asked.measure):
        raise DataError(f"the draws are for {draws.measure}, the controller is for {asked.measure}; draw again")
    at = draws.places(judged.queries)
    if judged.seen is not None:
        draws.check_weights(judged.seen.worst_case()[at])
    return at[draws.sequence], draws.weights[draws.sequence]


def check_new(fingerprints: Sequence[frozenset[str]], seen: frozenset[str], queries: Sequence[str], what: str) -> None:
    """Refuse queries that were used before: what they prove would be about themselves."""
    known = [query for query, prints in zip(queries, fingerprints, strict=True) if prints & seen]
    if known:
        raise DataError(
            f"{len(known):,} of the {len(queries):,} judged queries were {what}, such as query {shortened(known[0])}; "
            "they would look safer than new ones: calibrate on other queries"
        )
