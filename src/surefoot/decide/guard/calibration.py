"""From judged queries to what calibrates a guard: settings, scores, evidence on each loss, the question of a record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from surefoot.arguments import LARGEST_COUNT, finite_number, integer
from surefoot.arrays import Floats, Ints
from surefoot.data.hashes import json_hash
from surefoot.data.types.runs import Qrels
from surefoot.decide.evidence.conditions import CONDITIONS, LOSSES, ConditionRule
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.evidence_data import LossName, SampleData, UnansweredData
from surefoot.decide.evidence.judged_queries import JudgedQueries, betting_order
from surefoot.decide.evidence.nothing_to_lose import NothingToLose, parse_treatment, with_relevant
from surefoot.decide.evidence.proof import ConditionEvidence, evidence_of
from surefoot.decide.evidence.record import NamedLists, Question, QuestionEntry, Record
from surefoot.decide.evidence.sample import Sample, weigh_strata
from surefoot.decide.guard.certificate_data import CertificateRecordData
from surefoot.decide.guard.list_pair import ListPair
from surefoot.decide.guard.scorers import Scorer
from surefoot.decide.guard.thresholds import Calibration
from surefoot.decide.options import LEAST_DELTA, MOST_DELTA, NO_AUTOMATIC_REASON, NothingToLoseTreatment
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.measures.notation import Measure
from surefoot.measures.worst_case import check_bounded

_ROUNDING = 1e-9


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
    scored: ScoredQueries, settings: GuardSettings, chosen: Sample, largest: float
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


def _bounded(evidence: ConditionEvidence, largest: float, kind: str) -> ConditionEvidence:
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


SETTINGS = ("measure", "risk", "share_hurt", "delta", "blend", "budget", "unanswered")


@dataclass(frozen=True)
class GuardSettings:
    """What a guard keeps to."""

    measure: Measure
    levels: dict[LossName, float]
    delta: float
    scorer: str | Callable[[ListPair], Any]
    blend: float | None
    budget: int
    nothing_to_lose_treatment: NothingToLoseTreatment

    @classmethod
    def parse(
        cls, *, measure: Any, delta: Any, scorer: Any, blend: Any, budget: Any, unanswered: Any, **given: Any
    ) -> GuardSettings:
        """The settings, each checked; of `given` the losses."""
        words = "above 0 and below 1, such as 0.02 (no number of queries can prove that nothing is lost)"
        levels: dict[LossName, float] = {
            name: _between(name, given[name], 0, math.nextafter(1, 0), words)
            for name in LOSSES if given[name] is not None
        }  # fmt: skip
        if not levels:
            raise ArgumentError("give what may be lost: risk=0.02, share_hurt=0.05, or both")
        deltas = f"from {LEAST_DELTA:g} to {MOST_DELTA:g}, such as 0.05"
        return cls(
            measure=check_bounded(measure),
            levels=levels,
            delta=_between("delta", delta, math.nextafter(LEAST_DELTA, 0), MOST_DELTA, deltas),
            scorer=scorer,
            blend=None if blend is None else _between("blend", blend, 0, 1, "a weight above 0 and at most 1"),
            budget=integer("budget", budget, 1, LARGEST_COUNT),
            nothing_to_lose_treatment=parse_treatment(unanswered),
        )

    @property
    def rules(self) -> tuple[ConditionRule, ...]:
        """The losses as conditions, each at its level."""
        return tuple(ConditionRule(name, level) for name, level in self.levels.items())

    def claim(self, scorer: str, sampling: Any) -> dict[str, Any]:
        """The claim for a record, to which another scorer, another blend or another sample are another use."""
        settings = [str(self.measure), scorer, self.blend, sampling]
        return {
            "delta": self.delta,
            "rules": [rule.to_dict() for rule in self.rules],
            "guard": list(map(str, settings)),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which `parse` makes the same settings, but for the scorer."""
        return {
            "measure": str(self.measure),
            **{name: self.levels.get(name) for name in LOSSES},
            "delta": self.delta,
            "blend": self.blend,
            "budget": self.budget,
            "unanswered": str(self.nothing_to_lose_treatment),
        }


def _between(name: str, value: Any, low: float, high: float, words: str) -> float:
    number = None if isinstance(value, str) else finite_number(value)
    if number is None or not low < number <= high:
        raise ArgumentError(f"{name} is {shortened(value)}; it must be {words}")
    return number


def draws_of_record(record: Record, judged: JudgedListPair, sample: Sample) -> Sample:
    """All draws that the record has for these lists, one after the other; else the sample that was given."""
    if isinstance(sample, Draws):
        raise ArgumentError(
            "a record holds the draws itself, so that none is skipped or used twice; leave the draws out, and draw "
            "with surefoot judge next --record"
        )
    if sample is not None or not record.draws:
        record.check_not_drawn(judged.judged.queries)
        return sample
    row_of = {query: row for row, query in enumerate(judged.judged.queries)}
    could_lose = judged.worst_case()

    def fits(draws: Draws) -> bool:
        known = [at for at, query in enumerate(draws.queries) if query in row_of]
        apart = could_lose[[row_of[draws.queries[at]] for at in known]] - draws.could_lose[known]
        return draws.measure == str(judged.measure) and bool(known) and bool((np.abs(apart) <= _ROUNDING).all())

    own = [draws for draws in record.draws if fits(draws)]
    if own:
        same = (draws for draws in record.draws if draws.kind == own[-1].kind)
        return reduce(Draws._followed_by, same)  # those with unjudged queries are refused where they are used
    record.check_not_drawn([*row_of])
    return None


def guard_question(
    record: Record, candidate: NamedLists, judged: JudgedListPair, sample: JudgedQueries, claim: Mapping[str, Any],
    chosen: Sample,
) -> Question:  # fmt: skip
    """The record's question that this calibration is: the same scores and claim again are no new one."""
    draws = chosen if isinstance(chosen, Draws) else None
    queries = [*(judged.judged.queries if draws is None else draws.queries)]
    settings = {"measure": str(judged.measure), "claim": dict(claim), "sample": json_hash(_sorted_scores(sample))}
    for question in record.questions:
        if question.data["asked_by"] == "guard" and question.data["settings"] == settings:
            return question
    level = record.level(candidate, queries, float(claim["delta"]), fresh=draws is not None)
    entry: QuestionEntry = {
        "kind": "question", "asked_by": "guard", "settings": settings, "candidate": candidate,
        "baseline": {"name": "", "lists": None}, "budget": None, "rules": claim["rules"], "sizes": {},
        "fresh": draws is not None, "queries": queries, "number": level.number, "delta": level.delta,
    }  # fmt: skip
    record.add(entry)
    return record.questions[-1]


def certificate_record(question: Question, delta: float) -> CertificateRecordData:
    """What a certificate says of its question."""
    return {
        "question": question.number, "number": question.data["number"], "delta_requested": delta,
        "sha256": question.hashes[0],
    }  # fmt: skip


def _sorted_scores(sample: JudgedQueries) -> list[list[Any]]:
    """Everything of the sample that a calibration depends on, whatever order it came in."""
    data = dict(sample.to_dict())
    del data["segments"]
    columns = [column for column in data.values() if isinstance(column, list)]
    return sorted(map(list, zip(*columns, strict=True)), key=repr)
