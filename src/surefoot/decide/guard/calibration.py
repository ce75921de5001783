"""From judged queries to what calibrates a guard: scores, differences, and evidence on each loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.data.types.runs import Qrels
from surefoot.decide.evidence.betting_order import betting_order
from surefoot.decide.evidence.conditions import CONDITIONS
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.evidence_data import SampleData, UnansweredData
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.nothing_to_lose import NothingToLose, with_relevant
from surefoot.decide.evidence.proof import Evidence, evidence_of
from surefoot.decide.evidence.strata import Strata, weigh_strata
from surefoot.decide.guard.list_pair import ListPair
from surefoot.decide.guard.scorers import Scorer
from surefoot.decide.guard.settings import GuardSettings
from surefoot.decide.guard.thresholds import Calibration
from surefoot.decide.options import NO_AUTOMATIC_REASON
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.measures.notation import Measure

_ROUNDING = 1e-9
_JSON = ".json"


@dataclass(frozen=True)
class JudgedListPair:
    """The judged queries among those of two lists: `rows` says which of the lists' queries they are.

    `fingerprints` are what each query is recognised by later.
    """

    lists: ListPair
    qrels: Qrels
    measure: Measure
    judged: JudgedQueries
    rows: Ints
    fingerprints: list[frozenset[str]]

    @classmethod
    def from_lists(
        cls, lists: ListPair, qrels: Qrels, measure: Measure, fingerprints: Sequence[frozenset[str]]
    ) -> JudgedListPair:
        """Those of the lists' queries that are judged; `fingerprints` is of all of them."""
        if not (qrels.grades > 0).any():
            raise DataError("no document of these queries is judged relevant; judge them before anything is proved")
        judged = lists.effectiveness(qrels, measure)
        at = {query: number for number, query in enumerate(lists.queries)}
        rows = np.array([at[query] for query in judged.queries], dtype=np.int64)
        return cls(lists, qrels, measure, judged, rows, [fingerprints[row] for row in rows.tolist()])

    @property
    def nothing_to_lose(self) -> NothingToLose:
        """Which of them nothing can be lost on; what neither list answers is not among them."""
        relevant = with_relevant(self.qrels, self.measure)
        none = np.zeros(len(self.judged), dtype=bool)
        return NothingToLose(none, np.array([query not in relevant for query in self.judged.queries]), none)

    def select(self, *, leave_out: bool) -> tuple[JudgedListPair, UnansweredData]:
        """Those that count, and how many there are on which nothing can be lost, those that nobody answers included."""
        no_loss = self.nothing_to_lose
        counts = no_loss.counts(left_out=leave_out)
        counts["no_answer"] = len(self.qrels.queries) - len(self.judged)
        counts["left_out"] += counts["no_answer"]  # what has no lists has no score either
        rows = np.flatnonzero(no_loss.mask(leave_out=leave_out))
        selected = replace(
            self,
            judged=self.judged.take(rows),
            rows=self.rows[rows],
            fingerprints=[self.fingerprints[row] for row in rows.tolist()],
        )
        return selected, counts

    def score(self, scorer: Scorer) -> ScoredQueries:
        """The judged queries with the scorer's scores."""
        return ScoredQueries(self.judged, scorer.scores(self.lists)[self.rows], self)

    def worst_case(self) -> Floats:
        """What each could lose at most."""
        return self.lists.worst_case(self.measure)[self.rows]


@dataclass(frozen=True)
class ScoredQueries:
    """Judged queries with the scorer's score of each; `source` is where they come from, if that is at hand."""

    judged: JudgedQueries
    scores: Floats
    source: JudgedListPair | None = None

    def in_betting_order(self) -> ScoredQueries:
        """All of them, each once, in betting order."""
        rows = betting_order(self.judged.queries)
        return ScoredQueries(self.judged.take(rows), self.scores[rows])


def calibration_of(
    scored: ScoredQueries, settings: GuardSettings, chosen: Draws | Strata | None, largest: float
) -> tuple[Calibration, JudgedQueries, SampleData]:
    """What calibrates, the sample it is made of, and how that stands for traffic; `largest` is B, the greatest loss."""
    could_lose_mean = 1.0
    if isinstance(chosen, Draws):
        draws = chosen
        rows, drawn_by = _drawn_rows(scored, settings, draws)
        sample, scores = replace(scored.judged.take(rows), drawn_by=drawn_by), scored.scores[rows]
        could_lose_mean = draws.could_lose_mean
        traffic_weight = could_lose_mean / drawn_by
        sampling: SampleData = {
            "kind": "draws", "to_prove": draws.to_prove, "draws": draws.draws, "people_queries": len(draws.queries),
            "could_lose_mean": could_lose_mean, "drawn_from": draws.drawn_from,
        }  # fmt: skip
        if draws.by_traffic is not None:
            sampling["by_traffic"] = draws.by_traffic
    else:
        ordered = scored.in_betting_order()
        sample, scores, traffic_weight = ordered.judged, ordered.scores, np.ones(len(ordered.judged))
        sampling = {"kind": "plain"}
        if chosen is not None:
            sample, of_strata = weigh_strata(sample, chosen)
            traffic_weight = traffic_weight if sample.stratum_weight is None else sample.stratum_weight
            sampling = {"kind": "strata", "strata": of_strata}
    evidence = tuple(
        _bounded(evidence_of(rule, sample, str(settings.measure), could_lose_mean), largest, sampling["kind"])
        for rule in settings.rules
    )
    calibration = Calibration(scores, sample.candidate - sample.baseline, traffic_weight, evidence, settings.delta)
    return calibration, sample, sampling


def _bounded(evidence: Evidence, largest: float, kind: str) -> Evidence:
    """The evidence on a loss that is at most `largest`, B: x = ℓ/B against m = r/B."""
    if evidence.rule.condition.within_worst_case and largest < 1 and kind == "plain":
        evidence = replace(evidence, x=evidence.x / largest, scale=evidence.scale * largest)
    if evidence.x.max(initial=0.0) > 1 + _ROUNDING:
        raise DataError(
            f"a judged query loses {evidence.x.max() * evidence.scale:.4f}, but the computed maximum is "
            f"{evidence.scale:.4f}; so these rankings are not the ones for which the maximum was computed"
        )
    return evidence


def _drawn_rows(scored: ScoredQueries, settings: GuardSettings, draws: Draws) -> tuple[Ints, Floats]:
    """The drawn queries, each as often as it was drawn, in the order of drawing, and what each was drawn by."""
    if draws.automatic is not None:  # whoever decides once with the judge and once without has two chances
        raise ArgumentError(NO_AUTOMATIC_REASON)
    if draws.to_prove != "risk":
        raise ArgumentError("these queries were drawn for gain, but a guard bounds losses; draw for risk")
    for name in settings.levels:
        if not CONDITIONS[name].within_worst_case:
            raise ArgumentError(
                f"{name} cannot be proved with queries that were drawn by their possible loss; judge a plain random "
                "sample"
            )
    if draws.measure != str(settings.measure):
        raise DataError(f"the draws are for {draws.measure}, but the guard is for {settings.measure}; draw again")
    at = draws._places(scored.judged.queries)
    if scored.source is not None:
        draws._check_could_lose(scored.source.worst_case()[at])
    return at[draws.sequence], draws.could_lose[draws.sequence]


def check_new(fingerprints: Sequence[frozenset[str]], seen: frozenset[str], queries: Sequence[str], what: str) -> None:
    """Refuse queries that were used before: what they prove would be about themselves."""
    known = [query for query, own in zip(queries, fingerprints, strict=True) if own & seen]
    if known:
        raise DataError(
            f"{len(known):,} of the {len(queries):,} judged queries were already used {what}, such as query "
            f"{shortened(known[0])}. They would look safer than new queries; calibrate on other queries"
        )
