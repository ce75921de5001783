"""`gate`: ship, stop or undecided, by conditions that judged queries prove or refute."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypedDict, Unpack

import numpy as np

from surefoot.arguments import LARGEST_COUNT, integer
from surefoot.data.reading.segments import read_segments
from surefoot.data.reading.texts import shown_texts
from surefoot.data.types.scores import Scores, unknown_system
from surefoot.data.writing.all_or_nothing import destination
from surefoot.data.writing.locks import lock_file
from surefoot.decide.evidence.automatic_judge import AutomaticJudge
from surefoot.decide.evidence.conditions import CONDITIONS, ConditionRule
from surefoot.decide.evidence.draws import Draws, system_hash
from surefoot.decide.evidence.draws_file import read_draws
from surefoot.decide.evidence.judged_queries import (
    JudgedQueries,
    check_scores,
    drawn_sample,
    plain_sample,
    unjudged_documents,
)
from surefoot.decide.evidence.ledger import LedgerQuestion, LedgerUse, count_use
from surefoot.decide.evidence.nothing_to_lose import nothing_to_lose, parse_treatment
from surefoot.decide.evidence.nothing_to_lose_treatment import NothingToLoseTreatment
from surefoot.decide.evidence.proof import evidence_of
from surefoot.decide.evidence.segments import resolve_segments
from surefoot.decide.evidence.strata import read_shares, weigh_strata
from surefoot.decide.gate.automatic_summary import automatic_summary, people_judgments
from surefoot.decide.gate.decision import Decision
from surefoot.decide.gate.decision_data import SCHEMA, DecisionData, DrawnData, HurtData
from surefoot.decide.gate.proved_conditions import proved_conditions
from surefoot.decide.gate.release_policy import ReleasePolicy
from surefoot.decide.gate.sample_size import queries_needed
from surefoot.decide.gate.state import GateSetup, GateState, JudgedBatch, read_state
from surefoot.decide.options import EVERY_SEGMENT, EXIT_CODES, MOST_HURT_LISTED
from surefoot.errors import ArgumentError, name_list, shortened
from surefoot.measures.score_reading import read_scores
from surefoot.risk.baselines import baseline_choices


class GateOptions(TypedDict, total=False):
    """Further settings of a decision; `gate` says what each is."""

    segments: Any
    weights: Any
    strata: Any
    drawn: Any
    traffic: Any
    automatic: Any
    budget: int | None
    state: str | os.PathLike[str] | None
    ledger: str | os.PathLike[str] | None
    queries: Any
    unanswered: str


def gate(
    scores: Any,
    candidate: str | None = None,
    baseline: str | None = None,
    policy: Any = None,
    **options: Unpack[GateOptions],
) -> Decision:
    """Whether to ship a candidate: "ship", "stop" or "undecided", with what was proved of each condition.

    Parameters
    ----------
    scores : Scores, or anything `read_scores` takes
        Effectiveness of systems on judged queries, from 0 to 1.
    candidate, baseline : str
        What might be shipped, and what is shipped today; of two systems the candidate is the other one.
    policy : dict, or a TOML file
        `risk`, `share_hurt` (at most), `gain`, `u_risk` (above), `delta`, and `segments` with tables of the same.
    segments : anything `read_segments` takes, optional
        Kinds of queries, for the policy's conditions on them.
    weights, strata : optional
        Shares of traffic `{stratum: share}`, and each query's stratum (by default the segments), where the judged
        queries are not like traffic.
    drawn : Draws or a file of `surefoot judge-next`, optional
        How the judged queries were drawn.
    traffic : anything `read_traffic` takes, optional
        How often each query is asked, the same as `judge_next(…, weights=)` drew with; only with draws. Then all that
        is proved is of traffic, in which a query counts as often as it is asked.
    automatic : anything `read_qrels` takes, optional
        An automatic judge's judgments of both systems' results for all traffic, those that `judge_next(…, automatic=)`
        drew with. They make people's judgments go further, and are never trusted.
    budget, state : int and a file, optional
        The anytime form: a decision that is looked at after each batch of judgments. The scores are of the new batch,
        the file holds those before.
    ledger : a file, optional
        Counts how often these queries were used to decide, and lowers δ accordingly.
    queries : anything `read_texts` takes, optional
        Queries' texts, to show beside their ids.
    unanswered : {"leave-out", "traffic"}
        What becomes of queries on which nothing can be lost: those that neither system answers, and also those that
        have no relevant document. They make risk look smaller. By default they are left out, and the decision says
        so; with "traffic" they count. With draws and strata they always count.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> today = rng.uniform(0.2, 0.7, 300)
    >>> new = today + rng.uniform(-0.01, 0.2, 300)
    >>> scores = Scores([today, new], ["today", "new"], [f"q{i}" for i in range(300)], "nDCG@10")
    >>> decision = gate(scores, baseline="today", policy={"risk": 0.02, "gain": 0})
    >>> decision.decision, decision.exit_code
    ('ship', 0)
    """
    with deciding(scores, candidate, baseline, policy, **options) as decision:
        return decision


@contextmanager
def deciding(
    scores: Any,
    candidate: str | None = None,
    baseline: str | None = None,
    policy: Any = None,
    **options: Unpack[GateOptions],
) -> Iterator[Decision]:
    """`gate`, whose state and ledger are written when the block ends without an error: what was not shown never was."""
    if policy is None:
        raise ArgumentError("a decision needs a policy; give conditions such as {'risk': 0.02, 'gain': 0}")
    parsed, matrix = ReleasePolicy.read(policy), read_scores(scores)
    candidate, baseline = systems_of(matrix, candidate, baseline)
    check_scores(matrix, (baseline, candidate))
    drawn, weights, strata = options.get("drawn"), options.get("weights"), options.get("strata")
    automatic = options.get("automatic")
    state, ledger, queries = options.get("state"), options.get("ledger"), options.get("queries")
    draws = None if drawn is None else read_draws(drawn)
    _check_together(parsed.rules, draws, options)
    segments = None if options.get("segments") is None else read_segments(options["segments"])
    rules, members = resolve_segments(parsed.rules, segments, matrix.queries, batch=state is not None)
    no_loss = nothing_to_lose(matrix, baseline, candidate, None if draws is None else draws.queries)
    leave_out = draws is None and weights is None and _treatment(options) is NothingToLoseTreatment.leave_out
    strata_summary, judge = None, None
    if draws is not None:
        sample, judge = drawn_sample(matrix, baseline, candidate, draws, automatic, options.get("traffic"))
    else:
        sample = plain_sample(matrix, baseline, candidate, members, no_loss.mask(leave_out=leave_out))
        if weights is not None:
            by = segments if strata is None else read_segments(strata)
            sample, strata_summary = weigh_strata(sample, by or {}, read_shares(weights))
    counts = no_loss.counts(left_out=leave_out)
    resolved = ReleasePolicy(rules, parsed.delta)
    with ExitStack() as locks:
        gate_state, use = None, None
        if state is not None:
            destination(state)
            locks.enter_context(lock_file(state, "state"))
            setup = _setup(matrix, baseline, candidate, resolved, draws, options)
            earlier = read_state(state, setup)
            new = set(sample.queries).difference(*(batch.judged.queries for batch in earlier.batches))
            documents = people_judgments(matrix.qrels, new)  # a query that is drawn again was judged before
            batch = JudgedBatch(sample, counts, None if draws is None else draws.seed, documents)
            gate_state = earlier.add(batch, draws)
            sample, counts = gate_state.all_judged(), gate_state.nothing_to_lose()
        with ExitStack() as entry:
            if ledger is not None:
                claim = resolved.to_dict() | ({} if judge is None else {"automatic": judge.data["sha256"]})
                question = LedgerQuestion.from_scores(
                    matrix.queries if draws is None else draws.queries, sample, matrix.measure, claim,
                    draws, None if gate_state is None else gate_state.name,
                )  # fmt: skip
                use = entry.enter_context(count_use(ledger, question))
            data = _decide(matrix, baseline, candidate, sample, resolved, draws, gate_state, use, judge)
            data["strata"], data["hurt"], data["nothing_to_lose"] = strata_summary, _most_hurt(sample, queries), counts
            if counts["left_out"]:
                data["missing"] = {name: count - counts["unanswered"] for name, count in data["missing"].items()}
            yield Decision(dict(data), matrix)
        if state is not None and gate_state is not None:  # after the ledger: a use that was counted is never taken back
            gate_state.write(state)


def _treatment(options: GateOptions) -> NothingToLoseTreatment:
    return parse_treatment(options.get("unanswered", NothingToLoseTreatment.leave_out))


def systems_of(scores: Scores, candidate: str | None, baseline: str | None) -> tuple[str, str]:
    """The candidate and the baseline by name; of two systems the candidate is the one that is not the baseline."""
    if baseline is None:
        raise ArgumentError(
            f"choose the baseline, which is the system that is live today: {baseline_choices(scores.systems)}"
        )
    for name in (baseline, candidate):
        if name is not None and name not in scores.systems:
            raise ArgumentError(unknown_system(name, scores.systems))
    if candidate is None:
        others = [name for name in scores.systems if name != baseline]
        if len(others) != 1:
            raise ArgumentError(
                f"choose the candidate with --candidate (candidate=): there are {len(others)} systems besides the "
                "baseline" + (f": {name_list(others, 8)}" if others else "")
            )
        (candidate,) = others
    if candidate == baseline:
        raise ArgumentError(f"candidate and baseline are both {shortened(baseline)}; choose two different systems")
    return candidate, baseline


def _check_together(rules: Sequence[ConditionRule], draws: Draws | None, options: GateOptions) -> None:
    """Refuse what has no proof together."""
    weights, strata, budget = options.get("weights"), options.get("strata"), options.get("budget")
    if (budget is None) != (options.get("state") is None):
        raise ArgumentError(
            "a budget and a state must be given together (--budget, --state): the budget is the largest number of "
            "queries to judge, and the state is the file that stores the earlier batches"
        )
    if budget is not None:
        integer("budget", budget, 1, LARGEST_COUNT)
        if weights is not None:
            raise ArgumentError(
                "weights cannot be combined with a budget, because nothing is proved for that; use weights without a "
                "budget, in one decision on all queries"
            )
        if any(rule.segment == EVERY_SEGMENT for rule in rules):
            raise ArgumentError(
                "with a budget, all segments must be known in advance; write the name of each segment instead of "
                f"{EVERY_SEGMENT!r}"
            )
    if options.get("segments") is not None and weights is None and not any(rule.segment for rule in rules):
        raise ArgumentError("you gave segments, but no condition uses them; add a condition, such as 'head:risk=0.05'")
    if weights is not None and strata is None and options.get("segments") is None:
        raise ArgumentError(
            "weights need strata; give a file that says which stratum each query belongs to (--strata FILE)"
        )
    if strata is not None and weights is None:
        raise ArgumentError("strata need their shares of traffic; give weights (--weights FILE)")
    if options.get("traffic") is not None and draws is None:
        raise ArgumentError(
            "a plain sample of judged queries cannot be weighted by traffic, because nothing is proved for that: a "
            "frequent query that was not judged may lose. Draw the queries to judge by traffic (surefoot judge-next "
            "--traffic FILE) and give the draws (--drawn), or give strata with their shares of traffic (--strata, "
            "--weights)"
        )
    if (
        draws is not None
        and draws.by_traffic
        and options.get("automatic") is not None
        and options.get("traffic") is None
    ):
        raise ArgumentError(
            "these queries were drawn by traffic, and what the automatic judge says of all traffic needs it too; give "
            "the same counts (--traffic FILE)"
        )
    if options.get("automatic") is not None and draws is None:
        raise ArgumentError(
            "automatic judgments need queries that were drawn with them; draw queries with surefoot judge-next "
            "--automatic, let people judge these, and give the draws (--drawn). Other samples have no proof: uniform "
            "sampling saves next to nothing, and automatic judgments in place of people's can be wrong"
        )
    if draws is not None and draws.automatic is not None and options.get("automatic") is None:
        raise ArgumentError(
            f"these queries were drawn with automatic judgments ({shortened(draws.automatic['name'])}); give the same "
            "judgments (--automatic). Whoever decides once with them and once without ships bad candidates more often"
        )
    if draws is not None:
        if weights is not None:
            raise ArgumentError("drawn queries cannot be combined with weights of strata; leave out one of the two")
        if any(rule.segment is not None for rule in rules):
            raise ArgumentError(
                "drawn queries cannot decide conditions on segments, because the mean weight of a segment is not "
                "known; remove these conditions"
            )
        for rule in rules:
            if rule.condition.drawn_for is None:
                raise ArgumentError(
                    f"{rule.name} cannot be decided with drawn queries; remove this condition, or judge a plain random "
                    "sample of queries"
                )
        if draws.drawn_for != "gain" and any(rule.condition.drawn_for == "gain" for rule in rules):
            titles = [condition.title for condition in CONDITIONS.values() if condition.drawn_for == "gain"]
            raise ArgumentError(
                f"these queries were drawn for risk; conditions on {' or '.join(titles)} need queries drawn with "
                "surefoot judge-next --for gain"
            )


def _setup(
    matrix: Scores, baseline: str, candidate: str, policy: ReleasePolicy, draws: Draws | None, options: GateOptions
) -> GateSetup:
    runs = {run.name: run for run in matrix.runs}

    def system(name: str) -> dict[str, str | None]:
        return {"name": name, "sha256": system_hash(runs[name], matrix.measure) if name in runs else None}

    return GateSetup(
        matrix.measure, system(baseline), system(candidate), policy.to_dict(), int(options.get("budget") or 0),
        None if draws is None else draws.mean_weight, None if draws is None else draws.drawn_for,
        str(_treatment(options)), options.get("ledger") is not None,
        None if draws is None or draws.automatic is None else draws.automatic["sha256"],
        None if draws is None or draws.by_traffic is None else draws.by_traffic["sha256"],
    )  # fmt: skip


def _decide(
    matrix: Scores, baseline: str, candidate: str, sample: JudgedQueries, policy: ReleasePolicy, draws: Draws | None,
    gate_state: GateState | None, use: LedgerUse | None, judge: AutomaticJudge | None,
) -> DecisionData:  # fmt: skip
    delta = policy.delta if use is None else use.delta(policy.delta)
    mean_weight, budget = (
        1.0 if draws is None else draws.mean_weight,
        None if gate_state is None else gate_state.setup.budget,
    )
    evidence = [evidence_of(rule, sample, matrix.measure, mean_weight, budget, judge) for rule in policy.rules]
    decision, conditions = proved_conditions(evidence, delta)
    automatic = None
    if judge is not None:
        documents = (
            people_judgments(matrix.qrels, sample.queries)
            if gate_state is None
            else sum(batch.judgments for batch in gate_state.batches)
        )
        automatic = automatic_summary(evidence, conditions, judge, matrix.measure, sample.queries, delta, documents)
    return {
        "schema": SCHEMA,
        "decision": decision,
        "exit_code": EXIT_CODES[decision],  # type: ignore[typeddict-item]
        "measure": matrix.measure,
        "baseline": baseline,
        "candidate": candidate,
        "queries": len(sample),
        "delta": delta,
        "delta_fails": delta / len(policy.rules),
        "conditions": conditions,
        "queries_needed": queries_needed(evidence, len(sample), delta) if decision == "undecided" else None,
        "ledger": None
        if use is None
        else {
            "use": use.number, "repeated": use.repeated, "queries": use.queries, "delta_requested": policy.delta,
            "unused_draws": use.unused_draws,
        },
        "budget": None
        if gate_state is None
        else {"queries": gate_state.setup.budget, "seen": len(sample), "batches": len(gate_state.batches)},
        "strata": None,
        "drawn": None if draws is None else _drawn_data(matrix, baseline, candidate, sample, draws),
        "automatic": automatic,
        "policy": policy.to_dict(),  # type: ignore[typeddict-item]
        "missing": {name: matrix.missing[name] for name in (baseline, candidate)},
        "dropped": matrix.dropped,
        "nothing_to_lose": {"unanswered": 0, "no_relevant": 0, "both_zero": 0, "left_out": False},
        "hurt": [],
        "losses": len({query for query, lost in zip(sample.queries, _loses(sample), strict=True) if lost}),
        "per_query": sample.to_dict(),  # type: ignore[typeddict-item]
    }  # fmt: skip


def _drawn_data(matrix: Scores, baseline: str, candidate: str, sample: JudgedQueries, draws: Draws) -> DrawnData:
    data: DrawnData = {
        "drawn_for": draws.drawn_for, "draws": len(sample), "mean_weight": draws.mean_weight, "traffic": draws.traffic,
        "unjudged_documents": unjudged_documents(matrix, baseline, candidate, draws),
    }  # fmt: skip
    if draws.by_traffic is not None:
        data["by_traffic"] = draws.by_traffic
    return data


def _loses(sample: JudgedQueries) -> Any:
    return (sample.candidate < sample.baseline).tolist()


def _most_hurt(sample: JudgedQueries, texts: Any) -> list[HurtData]:
    """The queries that lose most, each once."""
    difference = sample.candidate - sample.baseline
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
