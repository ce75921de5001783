"""What a gate is asked, read and checked: two systems' scores, a policy, and how the judged queries were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from surefoot.arguments import LARGEST_COUNT, integer
from surefoot.arrays import Flags
from surefoot.data.hashes import json_hash
from surefoot.data.reading.query_tables import read_segments
from surefoot.data.types.runs import Run
from surefoot.data.types.scores import Scores
from surefoot.decide.evidence.conditions import CONDITIONS, ConditionRule
from surefoot.decide.evidence.draws import Draws, system_hash
from surefoot.decide.evidence.evidence_data import StratumData, UnansweredData
from surefoot.decide.evidence.judged_queries import (
    JudgedQueries,
    check_scores,
    drawn_sample,
    people_judgments,
    plain_sample,
    systems_of,
)
from surefoot.decide.evidence.nothing_to_lose import nothing_to_lose
from surefoot.decide.evidence.record import BatchData, NamedLists, Record
from surefoot.decide.evidence.sample import Evidence, resolve_segments, weigh_strata
from surefoot.decide.evidence.traffic import AutomaticJudge
from surefoot.decide.gate.release_policy import ReleasePolicy
from surefoot.errors import ArgumentError, DataError, name_list, shortened


@dataclass(frozen=True)
class JudgedBatch:
    """One batch of judged queries: those given, those that count in betting order, and what could not be lost."""

    given: tuple[str, ...]
    judged: JudgedQueries
    nothing_to_lose: UnansweredData
    judgments: int  # documents of these queries that people judged

    @classmethod
    def from_data(cls, data: BatchData) -> JudgedBatch:
        """The batch as a record has it."""
        judged = JudgedQueries.from_dict(data["judged"])
        return cls(tuple(data["given"]), judged, data["unanswered"], data["judgments"])


@dataclass(frozen=True)
class Asked:
    """A question to the gate, with the judgments at hand; `rules` are the policy's, with `*` written out."""

    scores: Scores
    baseline: str
    candidate: str
    policy: ReleasePolicy
    rules: tuple[ConditionRule, ...]
    evidence: Evidence
    draws: tuple[Draws, ...] = ()  # of the evidence or the record, each a batch
    uniform: tuple[tuple[str, ...], ...] = ()  # batches of the record's uniform sample
    members: dict[str, Flags] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)  # of all lists of a system, once computed

    @property
    def could_lose_mean(self) -> float:
        """W̄."""
        return self.draws[0].could_lose_mean if self.draws else 1.0

    def known(self, rule: ConditionRule) -> int | None:
        """How many queries the traffic has, or its segment that a rule is about, where that is known."""
        known = self.evidence.sampled_from
        return known if rule.segment is None or known is None else self.sizes[rule.segment]

    def run(self, system: str) -> Run | None:
        """The run of a system; None where only scores were given."""
        return next((run for run in self.scores.runs if run.name == system), None)

    def lists(self, system: str, queries: Sequence[str] | None = None) -> str | None:
        """The hash of a system's lists, of all queries or of some."""
        run = self.run(system)
        if run is None:
            return None
        if queries is not None:
            return system_hash(run, self.scores.measure, queries)
        if system not in self.hashes:
            self.hashes[system] = system_hash(run, self.scores.measure)
        return self.hashes[system]

    def system(self, name: str) -> NamedLists:
        """A system as a record has it."""
        return {"name": name, "lists": self.lists(name)}

    def settings(self, batches: Sequence[JudgedBatch] = ()) -> dict[str, Any]:
        """All that makes it this question and no other, but for the systems, their lists and the budget."""
        draws = self.draws[0] if self.draws else None
        strata = None
        if self.evidence.strata is not None:  # one look each: with every batch the weights change
            strata = json_hash([self.evidence.strata.shares, *(batch.judged.to_dict() for batch in batches)])
        return {
            "measure": self.scores.measure,
            "policy": self.policy.to_dict(),
            "unanswered": str(self.evidence.treatment),
            "sampled_from": self.evidence.sampled_from,
            "source": "draws" if draws else "uniform" if self.uniform else "plain",
            "to_prove": draws and draws.to_prove,
            "could_lose_mean": draws and draws.could_lose_mean,
            "traffic": draws and draws.by_traffic and draws.by_traffic["sha256"],
            "automatic": draws and draws.automatic and draws.automatic["sha256"],
            "strata": strata,
        }

    def judge(self) -> AutomaticJudge | None:
        """The automatic judge of the draws, with what it says of all traffic."""
        if self.evidence.automatic is None or not self.draws:
            return None
        candidate, baseline = self.run(self.candidate), self.run(self.baseline)
        assert candidate is not None  # `drawn_sample` refuses scores without runs
        assert baseline is not None
        return self.draws[0]._read_judge(self.evidence.automatic, candidate, baseline)

    def new_batches(self, earlier: Sequence[JudgedBatch]) -> tuple[list[JudgedBatch], list[str], list[StratumData]]:
        """The batches that no look has seen, the first queries that they wait for, and strata.

        A batch of draws, or of a uniform sample, waits until all of its queries are judged, and so do later ones.
        """
        if not self.draws and not self.uniform:
            seen = {query for batch in earlier for query in batch.given}
            new = [query for query in self.scores.queries if query not in seen]
            if not new:
                return [], [], []
            batch, strata = self._plain(new)
            return [batch], [], strata
        known, found = frozenset(self.scores.queries), list[JudgedBatch]()
        seen = {query for batch in earlier for query in batch.given}
        for place in range(len(earlier), len(self.draws) or len(self.uniform)):
            given = self.draws[place].queries if self.draws else self.uniform[place]
            waiting = [query for query in given if query not in known]
            if waiting:
                return found, waiting, []
            batch = self._drawn(self.draws[place], earlier) if self.draws else self._plain(given)[0]
            fresh = set(given) - seen  # a query that is drawn again was judged before
            found.append(replace(batch, judgments=people_judgments(self.scores.qrels, fresh)))
            seen |= fresh
        return found, [], []

    def _plain(self, queries: Sequence[str]) -> tuple[JudgedBatch, list[StratumData]]:
        chosen = frozenset(queries)
        given = np.array([query in chosen for query in self.scores.queries])
        flags = nothing_to_lose(self.scores, self.baseline, self.candidate, queries)
        mask = given & flags.mask(leave_out=self.evidence.leave_out, among=given)
        sample = plain_sample(self.scores, self.baseline, self.candidate, self.members, mask)
        strata: list[StratumData] = []
        if self.evidence.strata is not None:
            sample, strata = weigh_strata(sample, self.evidence.strata)
        return self._batch(tuple(queries), sample, flags.counts(left_out=self.evidence.leave_out)), strata

    def _drawn(self, draws: Draws, earlier: Sequence[JudgedBatch]) -> JudgedBatch:
        sample, _ = drawn_sample(self.scores, self.baseline, self.candidate, draws, self.evidence.automatic)
        for batch in earlier:  # a query that an earlier look saw keeps the scores that it had then
            sample = sample.as_in(batch.judged)
        flags = nothing_to_lose(self.scores, self.baseline, self.candidate, draws.queries)
        return self._batch(draws.queries, sample, flags.counts(left_out=False))

    def _batch(self, given: tuple[str, ...], sample: JudgedQueries, counts: UnansweredData) -> JudgedBatch:
        return JudgedBatch(given, sample, counts, people_judgments(self.scores.qrels, sample.queries))

    def batch_data(self, batch: JudgedBatch) -> BatchData:
        """A batch as a record keeps it."""
        return {
            "given": list(batch.given),
            "baseline_lists": self.lists(self.baseline, batch.given),
            "candidate_lists": self.lists(self.candidate, batch.given),
            "judged": batch.judged.to_dict(),
            "unanswered": batch.nothing_to_lose,
            "judgments": batch.judgments,
        }


def ask(
    matrix: Scores,
    candidate: str | None,
    baseline: str | None,
    policy: ReleasePolicy,
    record: Record | None,
    evidence: Evidence,
) -> Asked:
    """Read what a gate is given, and refuse what has no proof together."""
    candidate, baseline = systems_of(matrix.systems, candidate, baseline)
    check_scores(matrix, (baseline, candidate))
    draws = (evidence.sample,) if isinstance(evidence.sample, Draws) else ()
    asked = Asked(matrix, baseline, candidate, policy, policy.rules, evidence, draws)
    if record is not None:
        asked = _with_record(asked, record)
    _check_together(asked, has_record=record is not None)
    evidence = asked.evidence
    columns = None if evidence.segments is None else read_segments(evidence.segments)
    if columns and any(rule.segment for rule in policy.rules) and evidence.sampled_from is not None:
        counted = {len(own) for own in columns.values()}
        if counted != {evidence.sampled_from}:
            raise DataError(
                f"the file of segments has {name_list([f'{count:,}' for count in sorted(counted)])} queries, but the "
                f"sample is from {evidence.sampled_from:,}; a condition on a segment needs to know how many queries of "
                "the traffic belong to it, so give the segment of every query of the traffic"
            )
    rules, members, sizes = resolve_segments(policy.rules, columns, matrix.queries, policy.other_below)
    return replace(asked, rules=rules, members=members, sizes=sizes)


def _with_record(asked: Asked, record: Record) -> Asked:
    """With the draws that the record has for this question, or its uniform sample."""
    if asked.draws:
        raise ArgumentError(
            "a record holds the draws itself, so that none is skipped or used twice; leave out --sample, and draw with "
            "surefoot judge next --record"
        )
    lists = (asked.lists(asked.candidate), asked.lists(asked.baseline))
    own = [draws for draws in record.draws if (draws.candidate["sha256"], draws.baseline["sha256"]) == lists]
    if own and asked.evidence.sample is None:
        return replace(asked, draws=tuple(_draws_for(asked, own)))
    if not record.samples or asked.evidence.sample is not None:
        record.check_not_drawn(asked.scores.queries)
        return asked
    size = record.samples[0]["size"]
    if asked.evidence.sampled_from not in (None, size):
        raise ArgumentError(
            f"sampled_from is {asked.evidence.sampled_from:,}, but the record's sample is from {size:,} queries; leave "
            "it out"
        )
    evidence = replace(asked.evidence, sampled_from=size)
    return replace(asked, evidence=evidence, uniform=tuple(tuple(entry["queries"]) for entry in record.samples))


def _draws_for(asked: Asked, own: Sequence[Draws]) -> list[Draws]:
    """Of the draws that were made for these rankings those for this measure, these conditions, judge and traffic."""
    gain = any(rule.condition.to_prove == "gain" for rule in asked.rules)
    fits = [draws for draws in own if (draws.automatic is not None) == (asked.evidence.automatic is not None)]
    kinds = ("gain",) if gain else ("risk", "gain")
    for to_prove in kinds:
        same = [draws for draws in fits or own if draws.to_prove == to_prove]
        same = [draws for draws in same if draws.measure == asked.scores.measure] or same
        if same:  # of several judges or traffics, those of the latest draws
            return [draws for draws in same if draws.kind == same[-1].kind]
    return [own[-1]]  # which is then refused, with the reason


def _check_together(asked: Asked, *, has_record: bool) -> None:
    """Refuse what has no proof together."""
    draws, evidence = asked.draws[0] if asked.draws else None, asked.evidence
    if evidence.budget is not None:
        integer("budget", evidence.budget, 1, LARGEST_COUNT)
        if not has_record:
            raise ArgumentError(
                "a budget needs a record (--budget, --record): the budget is the largest number of queries to judge, "
                "and the record holds the looks so far"
            )
        if evidence.strata is not None or evidence.sampled_from is not None:
            raise ArgumentError(
                "a budget cannot be combined with strata, or with a sample from a known number of queries, "
                "because nothing is proved for that. Without a budget you may look again, too, with a record"
            )
    if evidence.sampled_from is not None:
        integer("sampled_from", evidence.sampled_from, 1, LARGEST_COUNT)
        if draws is not None or evidence.strata is not None:
            raise ArgumentError(
                "sampled_from is for a plain random sample of distinct queries; it cannot be combined with draws "
                "or strata"
            )
        if evidence.sampled_from < len(asked.scores.queries) and not asked.uniform:
            raise ArgumentError(
                f"{len(asked.scores.queries):,} queries are judged, but sampled_from is {evidence.sampled_from:,}; it "
                "is the number of distinct queries that the judged ones were drawn from"
            )
    if evidence.segments is not None and not any(rule.segment for rule in asked.rules):
        raise ArgumentError("you gave segments, but no condition uses them; add a condition, such as 'head:risk=0.05'")
    if evidence.automatic is not None and draws is None:
        raise ArgumentError(
            "automatic judgments need queries that were drawn with them; draw queries with surefoot judge next "
            "--automatic, let people judge these, and give the draws (--sample). Other samples have no proof: uniform "
            "sampling saves next to nothing, and automatic judgments in place of people's can be wrong"
        )
    if draws is not None:
        _check_draws(asked, draws)


def _check_draws(asked: Asked, draws: Draws) -> None:
    """Refuse draws that cannot decide this."""
    if draws.automatic is not None and asked.evidence.automatic is None:
        raise ArgumentError(
            f"these queries were drawn with automatic judgments ({shortened(draws.automatic['name'])}); give the same "
            "judgments (--automatic). Whoever decides once with them and once without ships bad candidates more often"
        )
    if any(rule.segment is not None for rule in asked.rules):
        raise ArgumentError(
            "drawn queries cannot decide conditions on segments, because the mean weight of a segment is not "
            "known; remove these conditions"
        )
    for rule in asked.rules:
        if rule.condition.to_prove is None:
            raise ArgumentError(
                f"{rule.name} cannot be decided with drawn queries; remove this condition, or judge a plain random "
                "sample of queries"
            )
    if draws.to_prove != "gain" and any(rule.condition.to_prove == "gain" for rule in asked.rules):
        titles = [condition.title for condition in CONDITIONS.values() if condition.to_prove == "gain"]
        raise ArgumentError(
            f"these queries were drawn for risk; conditions on {' or '.join(titles)} need queries drawn with "
            "surefoot judge next --to-prove gain"
        )
