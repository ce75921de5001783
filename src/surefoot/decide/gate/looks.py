"""A look at a question, alone or one of those that a record remembers: what is proved, and the decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from surefoot.decide.evidence.evidence_data import StratumData, UnansweredData
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.nothing_to_lose import sum_counts
from surefoot.decide.evidence.proof import ConditionEvidence, Proof, evidence_of, proofs
from surefoot.decide.evidence.record import Question, QuestionEntry, Record
from surefoot.decide.evidence.traffic import AutomaticJudge
from surefoot.decide.gate.asked import Asked, JudgedBatch
from surefoot.decide.gate.decision_data import ConditionData, LookData, RecordUseData, ReleaseDecision
from surefoot.errors import ArgumentError, DataError, name_list, shortened

_CHANGED = 1e-9  # by which a score may differ from the one of an earlier look
_NAMED = 3  # queries that a message names


@dataclass(frozen=True)
class GateLook:
    """All batches so far, the level that they are held to, and what comes of it."""

    asked: Asked
    batches: tuple[JudgedBatch, ...]
    delta: float
    budget: int | None
    judge: AutomaticJudge | None
    strata: list[StratumData] | None
    evidence: tuple[ConditionEvidence, ...]
    decision: ReleaseDecision
    conditions: list[ConditionData]
    record: RecordUseData | None = None

    @property
    def sample(self) -> JudgedQueries:
        """All queries that were bet on."""
        return _together(self.batches)

    @property
    def nothing_to_lose(self) -> UnansweredData:
        """The counts of all batches."""
        return sum_counts([batch.nothing_to_lose for batch in self.batches])


class NextLook(NamedTuple):
    """What a look would see: its question if it was asked before, batches seen and new, and what is not judged yet."""

    question: Question | None
    earlier: list[JudgedBatch]
    new: list[JudgedBatch]
    waiting: list[str]
    strata: list[StratumData]


def next_look(asked: Asked, record: Record) -> NextLook:
    """The next look at a question that the record may have; what cannot go on from earlier looks is refused."""
    question = _find_question(asked, record)
    earlier = [] if question is None else [JudgedBatch.from_data(batch) for batch in question.batches]
    if question is not None:
        _check_kept(asked, question, earlier)
    new, waiting, strata = asked.new_batches(earlier)
    if asked.evidence.strata is not None and not new:
        strata = asked.new_batches(())[2]
    if not earlier and not new:
        raise DataError(
            f"{len(waiting):,} of the queries to judge have no judgments ({name_list(waiting, _NAMED, shortened)}); if "
            "some are left out, the result is biased; judge all of them"
        )
    return NextLook(question, earlier, new, waiting, strata)


def look_alone(asked: Asked, *, bounds: bool = True) -> GateLook:
    """The one look of a question that nobody remembers."""
    look = next_look(asked, Record())
    return _look(asked, look.new, asked.policy.delta, None, look.strata, bounds)


def look_again(asked: Asked, record: Record, *, bounds: bool = True) -> GateLook:
    """The next look of a question that the record may have; it is put into the record where there is something new."""
    question, earlier, new, waiting, strata = next_look(asked, record)
    budget = asked.evidence.budget if question is None else question.data["budget"]
    data = _question(asked, record, new) if question is None else question.data
    look = _look(asked, [*earlier, *new], data["delta"], budget, strata, bounds)
    if question is None:
        record.add(data)
        question = record.questions[-1]
    if new:
        record.add(
            {
                "kind": "look", "question": question.number, "batches": [asked.batch_data(batch) for batch in new],
                "p": [[one["p_holds"], one["p_fails"]] for one in look.conditions], "decision": look.decision,
            }
        )  # fmt: skip
    changed = _changed(asked, earlier)
    use: RecordUseData = {
        "question": question.number,
        "number": question.data["number"],
        "delta_requested": asked.policy.delta,
        "spent": record.level_kept(question).spent,
        "looks": _looks(question),
        "budget": budget,
        "waiting": {"queries": len(waiting), "first": waiting[:_NAMED]},
        "changed": {"queries": len(changed), "first": changed[:_NAMED]},
        "sha256": question.hashes[-1],
    }
    return replace(look, record=use)


def _look(
    asked: Asked,
    batches: Sequence[JudgedBatch],
    delta: float,
    budget: int | None,
    strata: list[StratumData],
    bounds: bool,
) -> GateLook:
    judge, sample = asked.judge(), _together(batches)
    sizes = [len(batch.judged) for batch in batches]
    evidence = tuple(
        evidence_of(
            rule, sample, asked.scores.measure, asked.could_lose_mean, budget, judge, sizes, asked.known(rule)
        )
        for rule in asked.rules
    )  # fmt: skip
    decision, conditions = proved_conditions(evidence, delta, bounds=bounds)
    return GateLook(asked, tuple(batches), delta, budget, judge, strata or None, evidence, decision, conditions)


def _together(batches: Sequence[JudgedBatch]) -> JudgedQueries:
    return reduce(JudgedQueries.followed_by, (batch.judged for batch in batches))


def _question(asked: Asked, record: Record, new: Sequence[JudgedBatch]) -> QuestionEntry:
    """The question as the record keeps it, with its level."""
    candidate, fresh = asked.system(asked.candidate), bool(asked.draws)
    queries = [query for batch in new for query in batch.given]
    level = record.level(candidate, queries, asked.policy.delta, fresh=fresh)
    return {
        "kind": "question", "asked_by": "gate", "settings": asked.settings(new),
        "baseline": asked.system(asked.baseline), "candidate": candidate, "budget": asked.evidence.budget,
        "rules": [rule.to_dict() for rule in asked.rules],
        "sizes": {} if asked.evidence.sampled_from is None else asked.sizes, "fresh": fresh, "queries": [],
        "number": level.number, "delta": level.delta,
    }  # fmt: skip


def _find_question(asked: Asked, record: Record) -> Question | None:
    """The record's question that this is; other lists under the same name for the same queries are refused."""
    strata = () if asked.evidence.strata is None else asked.new_batches(())[0]
    settings = asked.settings(strata)
    for question in record.questions:
        data = question.data
        if data["asked_by"] != "gate" or data["settings"] != settings or not _same_systems(asked, question):
            continue
        if asked.evidence.budget not in (None, data["budget"]):
            had = "none" if data["budget"] is None else f"{data['budget']:,}"
            raise ArgumentError(
                f"the budget of a question is fixed at its first look; the record has {had}, so leave --budget out"
            )
        return question
    return None


def _same_systems(asked: Asked, question: Question) -> bool:
    """Whether the systems are those of a question: by all lists of draws, otherwise by lists of the queries so far."""
    data = question.data
    if asked.draws:
        lists = asked.lists(asked.candidate), asked.lists(asked.baseline)
        return (data["candidate"]["lists"], data["baseline"]["lists"]) == lists
    for role, name in (("candidate", asked.candidate), ("baseline", asked.baseline)):
        same_name = data[role]["name"] == name  # type: ignore[literal-required]
        for batch in question.batches:
            before, now = batch[f"{role}_lists"], asked.lists(name, batch["given"])  # type: ignore[literal-required]
            if before is None or now is None:  # scores alone
                if not same_name and not _same_scores(asked, question):
                    return False
            elif before != now and same_name:
                raise DataError(
                    f"the lists of {shortened(name)} for queries that were looked at before are not those of the "
                    f"record's {role} {shortened(name)}. Other lists are another question, with a level of its own; "
                    f"ask it under another name, with {name}-2=FILE in place of the run"
                )
            elif before != now:
                return False
    return True


def _same_scores(asked: Asked, question: Question) -> bool:
    """Whether scores under other names are those of a question."""
    batches = [JudgedBatch.from_data(batch) for batch in question.batches]
    known = frozenset(asked.scores.queries)
    return all(query in known for query in question.given) and not _changed(asked, batches)


def _check_kept(asked: Asked, question: Question, earlier: Sequence[JudgedBatch]) -> None:
    """Refuse what would change what earlier looks have seen."""
    row_of = {query: row for row, query in enumerate(asked.scores.queries)}
    absent = [query for query in question.given if query not in row_of]
    if absent:
        raise DataError(
            f"{len(absent):,} queries of earlier looks have no judgments here "
            f"({name_list(absent, _NAMED, shortened)}); a look goes on from all that was seen before, so give all "
            "judgments so far"
        )
    rules = [rule.to_dict() for rule in asked.rules]
    if rules != question.data["rules"]:
        other = [rule["segment"] for rule in rules if rule not in question.data["rules"]]
        other += [rule["segment"] for rule in question.data["rules"] if rule not in rules]
        raise DataError(
            f"the segments are not those of the first look ({name_list(sorted(set(map(str, other))), 3, shortened)} is "
            "new or missing); the segments of a question are fixed at its first look, so give the same file"
        )
    if asked.evidence.sampled_from is not None and asked.sizes != question.data["sizes"]:
        raise DataError("the segments have other numbers of queries than at the first look; give the same file")
    for batch in earlier:
        rows = np.array([row_of[query] for query in batch.judged.queries], dtype=np.int64)
        for segment, flags in batch.judged.members.items():
            moved = np.flatnonzero(asked.members[segment][rows] != flags)
            if len(moved):
                raise DataError(
                    f"{len(moved):,} queries, such as {shortened(batch.judged.queries[moved[0]])}, moved into or out "
                    f"of segment {shortened(segment)} since an earlier look; give the same file of segments"
                )


def _changed(asked: Asked, earlier: Sequence[JudgedBatch]) -> list[str]:
    """The queries whose scores are no longer those that an earlier look saw."""
    row_of = {query: row for row, query in enumerate(asked.scores.queries)}
    now = asked.scores[asked.baseline], asked.scores[asked.candidate]
    found: dict[str, None] = {}
    for batch in earlier:
        rows = np.array([row_of[query] for query in batch.judged.queries], dtype=np.int64)
        for before, scores in zip((batch.judged.baseline, batch.judged.candidate), now, strict=True):
            for at in np.flatnonzero(np.abs(scores[rows] - before) > _CHANGED).tolist():
                found[batch.judged.queries[at]] = None
    return [*found]


def _looks(question: Question) -> list[LookData]:
    """Each look with how many queries were judged by then."""
    queries, found = 0, list[LookData]()
    for look in question.looks:
        queries += sum(len(batch["judged"]["query"]) for batch in look["batches"])
        found.append({"queries": queries, "decision": look["decision"]})
    return found


def proved_conditions(
    evidence: Sequence[ConditionEvidence], delta: float, *, bounds: bool = True
) -> tuple[ReleaseDecision, list[ConditionData]]:
    """Stop where a condition fails, at its share of δ; ship where all hold; undecided otherwise.

    A condition of which both was once proved, as the path of the bets went up and down, is open.
    """
    failing_delta = delta / len(evidence)
    conditions = [
        _condition(condition_evidence, *both, delta, failing_delta)
        for condition_evidence, both in zip(
            evidence, proofs(evidence, delta, failing_delta, bounds=bounds), strict=True
        )
    ]
    if any(condition["status"] == "fails" for condition in conditions):
        return "stop", conditions
    return "ship" if all(condition["status"] == "holds" for condition in conditions) else "undecided", conditions


def _condition(
    evidence: ConditionEvidence, holding: Proof, failing: Proof, delta: float, failing_delta: float
) -> ConditionData:
    holds, fails = holding.p <= delta, failing.p <= failing_delta
    if holds != fails:
        holds, fails = holds and holding.agrees, fails and failing.agrees
    return {
        "name": evidence.rule.name,
        "segment": evidence.rule.segment,
        "level": evidence.rule.level,
        "alpha": evidence.rule.alpha,
        "observed": evidence.observed,
        "bound": holding.bound,
        "bound_fails": failing.bound,
        "p_holds": holding.p,
        "p_fails": failing.p,
        "status": "open" if holds == fails else "fails" if fails else "holds",
        "queries": len(evidence.x),
        "queries_needed": None,
        "least_queries": evidence.least(delta),
        "method": evidence.method,
    }
