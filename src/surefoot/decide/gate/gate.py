"""`gate`: ship, stop or undecided, by conditions that judged queries prove or refute."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.data.reading.texts import shown_texts
from surefoot.data.types.scores import Scores
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.evidence_data import SampleData
from surefoot.decide.evidence.judged_queries import JudgedQueries, unjudged_documents
from surefoot.decide.evidence.record import Level, Record, open_record, read_record
from surefoot.decide.evidence.sample import Evidence, Strata
from surefoot.decide.evidence.traffic import AutomaticJudge
from surefoot.decide.gate.asked import Asked, ask
from surefoot.decide.gate.decision import Decision
from surefoot.decide.gate.decision_data import SCHEMA, AutomaticDecisionData, DecisionData, HurtData
from surefoot.decide.gate.looks import GateLook, look_again, look_alone, next_look, proved_conditions
from surefoot.decide.gate.plan import plan_tables
from surefoot.decide.gate.release_policy import ReleasePolicy, policy_table
from surefoot.decide.gate.sample_size import queries_needed
from surefoot.decide.options import EXIT_CODES, MOST_HURT_LISTED, NothingToLoseTreatment
from surefoot.errors import ArgumentError, visible
from surefoot.measures.score_reading import read_scores
from surefoot.risk.tradeoff import difference_of

if TYPE_CHECKING:
    from rich.console import RenderableType


def gate(
    scores: Any,
    *,
    policy: Any,
    baseline: str | None = None,
    candidate: str | None = None,
    segments: Any = None,
    sample: Draws | Strata | str | os.PathLike[str] | None = None,
    automatic: Any = None,
    record: str | os.PathLike[str] | None = None,
    budget: int | None = None,
    sampled_from: int | None = None,
    unanswered: str = NothingToLoseTreatment.leave_out,
    texts: Any = None,
) -> Decision:
    """Whether to ship a candidate: "ship", "stop" or "undecided", with what was proved of each condition.

    Parameters
    ----------
    scores : Scores, or anything `read_scores` takes
        Effectiveness of systems on judged queries, from 0 to 1.
    baseline, candidate : str
        What is shipped today, and what might be shipped; of two systems the candidate is the other one.
    policy : dict, or a TOML file
        `risk`, `share_hurt` (at most), `gain`, `u_risk` (above), `delta`, and `segments` with tables of the same. It
        may also have `baseline`, `record`, `segments` and `sample`, where these are not given, and the `measure` that
        the scores must be of.
    segments : file, dict or table, optional
        Kinds of queries, for the policy's conditions on them.
    sample : Draws, Strata, or a file of either, optional
        How the judged queries were chosen: drawn by `judge_next`, or of strata with known shares of traffic. By
        default they are a plain random sample. Where queries were drawn by traffic, a query counts as often as it is
        asked.
    automatic : anything `read_qrels` takes, optional
        An automatic judge's judgments of both systems' results for all traffic, those that `judge_next(…, automatic=)`
        drew with. They make people's judgments go further, and are never trusted.
    sampled_from : int, optional
        The judged queries are a simple random sample of so many distinct queries, all of the traffic. From about a
        fifth of them on, fewer judgments are needed.
    record : a file, optional
        Remembers all looks, and holds the draws or the sample of `judge_next`. With it the same question may be looked
        at again, with all judgments so far; other questions about the same queries get less of δ. A look is written
        down before it is returned. Without it this look stands alone.
    budget : int, optional
        About how many queries will be judged at most, for looks after every few; fixed at the first look.
    texts : file, dict or table, optional
        Queries' texts, to show beside their ids.
    unanswered : {"leave-out", "count"}
        What becomes of queries on which nothing can be lost: those that neither system answers, and also those that
        have no relevant document. They make risk look smaller. By default they are left out, and the decision says
        so; with "count" they count. With draws and strata they always count.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> today = rng.uniform(0.2, 0.7, 300)
    >>> new = today + rng.uniform(-0.01, 0.2, 300)
    >>> import surefoot as sf
    >>> scores = sf.Scores([today, new], ["today", "new"], [f"q{i}" for i in range(300)], "nDCG@10")
    >>> decision = gate(scores, baseline="today", policy={"risk": 0.02, "gain": 0})
    >>> decision.decision, decision.exit_code
    ('ship', 0)
    """
    if policy is None:
        raise ArgumentError("a decision needs a policy; give conditions such as {'risk': 0.02, 'gain': 0}")
    parsed, matrix = ReleasePolicy.read(policy), read_scores(scores)
    settled = parsed.settings.for_scores(matrix.measure)
    evidence = Evidence.read(
        sample=settled.sample if sample is None else sample, unanswered=unanswered, automatic=automatic,
        segments=settled.segments if segments is None else segments, sampled_from=sampled_from, budget=budget,
    )  # fmt: skip
    baseline = settled.baseline if baseline is None else baseline
    record = settled.record if record is None else record
    return decide(matrix, candidate, baseline, parsed, evidence, record=record, texts=texts)


def decide(
    matrix: Scores, candidate: str | None, baseline: str | None, policy: ReleasePolicy, evidence: Evidence, *,
    record: str | os.PathLike[str] | None = None, texts: Any = None,
) -> Decision:  # fmt: skip
    """`gate` of what was read; what the policy settles beside its conditions is not looked at."""
    if record is None:
        look = look_alone(ask(matrix, candidate, baseline, policy, None, evidence))
    else:
        with open_record(record) as kept:
            head = kept.head
            look = look_again(ask(matrix, candidate, baseline, policy, kept, evidence), kept)
            if kept.head != head:  # before anybody can have seen it
                kept.write(record)
    return Decision(dict(_data(look, texts)), look.asked.scores)


def look_ahead(
    matrix: Scores, candidate: str | None, baseline: str | None, policy: ReleasePolicy, evidence: Evidence, *,
    record: str | os.PathLike[str] | None = None,
) -> list[RenderableType]:  # fmt: skip
    """What `gate` would be asked, with its level and how many queries it takes; nothing is looked at or written."""
    from rich.text import Text

    kept = Record() if record is None else read_record(record)
    asked = ask(matrix, candidate, baseline, policy, None if record is None else kept, evidence)
    question, earlier, new, waiting, _ = next_look(asked, kept)
    queries = [query for batch in new for query in batch.given]
    if record is None:
        level, which = Level(1, asked.policy.delta, asked.policy.delta), "A look that stands alone"
    elif question is not None:
        level, which = (
            kept.level_kept(question),
            f"Look {len(question.looks) + bool(new)} at question {question.number}",
        )
    else:
        level = kept.level(asked.system(asked.candidate), queries, asked.policy.delta, fresh=bool(asked.draws))
        which = f"A new question, number {level.number} of those that share queries or its candidate"
    counted = sum(len(batch.judged) for batch in new)
    lines = [
        f"{which}: {asked.candidate} against {asked.baseline}.",
        f"Its level is {level.delta:.4g} of δ = {asked.policy.delta:g}.",
        f"{sum(len(batch.judged) for batch in earlier):,} judged queries were looked at before, {counted:,} are new"
        + (f", and {len(waiting):,} wait for judgments." if waiting else "."),
        "This was no look: nothing was computed of the scores, and nothing was written.",
    ]
    return [
        *(Text(visible(line)) for line in lines),
        *plan_tables(asked.rules, level.delta, asked.evidence.sampled_from, asked.sizes),
    ]


def _data(look: GateLook, texts: Any) -> DecisionData:
    """The decision's plain data."""
    asked, sample = look.asked, look.sample
    matrix, counts = asked.scores, look.nothing_to_lose
    left_out = counts["no_answer"] if counts["treatment"] == "leave-out" else 0
    automatic = None if look.judge is None else _automatic_summary(look, look.judge)
    again = look.record is not None
    difference, undecided = difference_of(sample.candidate, sample.baseline), look.decision == "undecided"
    needed = queries_needed(look.evidence, len(sample), look.delta, again=again) if undecided else None
    for one, condition in zip(look.evidence, look.conditions, strict=True):
        if undecided and condition["segment"] is not None and condition["status"] == "open":
            condition["queries_needed"] = queries_needed(
                [one], len(one.x), look.delta, again=again, parts=len(look.evidence)
            )
    return {
        "schema": SCHEMA,
        "decision": look.decision,
        "exit_code": EXIT_CODES[look.decision],  # type: ignore[typeddict-item]
        "measure": matrix.measure,
        "baseline": asked.baseline,
        "candidate": asked.candidate,
        "queries": len(sample),
        "batches": [len(batch.judged) for batch in look.batches],
        "sampled_from": asked.evidence.sampled_from,
        "delta": look.delta,
        "delta_fails": look.delta / len(look.conditions),
        "conditions": look.conditions,
        "queries_needed": needed,
        "record": look.record,
        "sample": _sample_data(look),
        "automatic": automatic,
        "policy": policy_table(asked.rules, asked.policy.delta),
        "missing": {name: matrix.missing[name] - left_out for name in (asked.baseline, asked.candidate)},
        "dropped": matrix.dropped,
        "answered": _answered(asked),
        "unanswered": counts,
        "hurt": len({sample.queries[row] for row in np.flatnonzero(difference < 0).tolist()}),
        "most_hurt": _most_hurt(sample, texts),
        "per_query": sample.to_dict(),
    }


def _answered(asked: Asked) -> int | None:
    """How many queries either run answers; None where only scores were given."""
    runs = [asked.run(asked.candidate), asked.run(asked.baseline)]
    return len({query for run in runs if run is not None for query in run.queries}) or None


def _sample_data(look: GateLook) -> SampleData:
    asked = look.asked
    if not asked.draws:
        return {"kind": "plain"} if look.strata is None else {"kind": "strata", "strata": look.strata}
    draws = asked.draws[0]
    for later in asked.draws[1 : len(look.batches)]:
        draws = draws._followed_by(later)
    data: SampleData = {
        "kind": "draws", "to_prove": draws.to_prove, "draws": len(look.sample),
        "people_queries": len(set(look.sample.queries)), "could_lose_mean": draws.could_lose_mean,
        "drawn_from": draws.drawn_from,
        "unjudged_documents": unjudged_documents(asked.scores, asked.baseline, asked.candidate, draws),
    }  # fmt: skip
    if draws.by_traffic is not None:
        data["by_traffic"] = draws.by_traffic
    return data


def _most_hurt(sample: JudgedQueries, texts: Any) -> list[HurtData]:
    """The queries that lose most, each once."""
    difference = difference_of(sample.candidate, sample.baseline)
    worst_rows: dict[str, int] = {}
    for row in np.lexsort((np.arange(len(sample)), difference)).tolist():
        if difference[row] >= 0 or len(worst_rows) == MOST_HURT_LISTED:
            break
        worst_rows.setdefault(sample.queries[row], row)
    query_texts = {} if texts is None else shown_texts(texts, worst_rows)
    return [
        {
            "query": query, "text": query_texts.get(query), "baseline": float(sample.baseline[row]),
            "candidate": float(sample.candidate[row]), "difference": float(difference[row]),
        }
        for query, row in worst_rows.items()
    ]  # fmt: skip


def _automatic_summary(look: GateLook, judge: AutomaticJudge) -> AutomaticDecisionData:
    """The judge's part in a decision; each of the conditions is given what it added there."""
    for one, condition in zip(look.evidence, look.conditions, strict=True):
        condition["automatic"] = {
            "weight": one.judge_weight,
            "correlation": one.correlation,
            "adjusted": one.figure(one.adjusted_mean),
        }
    alone = [one.without_judge(look.asked.scores.measure) for one in look.evidence]
    decision, conditions = proved_conditions(alone, look.delta)
    undecided, again = decision == "undecided", look.record is not None
    return {
        **judge.data,
        "people_judgments": sum(batch.judgments for batch in look.batches),
        "without": {
            "decision": decision,
            "queries_needed": queries_needed(alone, len(look.sample), look.delta, again=again) if undecided else None,
            "conditions": conditions,
        },
    }
