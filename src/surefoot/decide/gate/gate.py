"""`gate`: ship, stop or undecided, by conditions that judged queries prove or refute."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypedDict, Unpack

import numpy as np

from surefoot.arguments import LARGEST_COUNT, integer
from surefoot.data.hashes import lists_hash
from surefoot.data.reading.segments import read_segments
from surefoot.data.reading.texts import shown_texts
from surefoot.data.types.scores import Scores, read_scores, unknown_system
from surefoot.data.writing.all_or_nothing import destination
from surefoot.data.writing.locks import lock_file
from surefoot.decide.evidence.conditions import CONDITIONS, Rule
from surefoot.decide.evidence.draws import Draws, read_draws
from surefoot.decide.evidence.judged_queries import JudgedQueries, check_scores, drawn_sample, plain_sample
from surefoot.decide.evidence.ledger import Question, Use, count_use
from surefoot.decide.evidence.nothing_to_lose import nothing_to_lose, parse_unanswered
from surefoot.decide.evidence.proof import Evidence, Proof, evidence_of, proofs
from surefoot.decide.evidence.segments import resolve_segments
from surefoot.decide.evidence.strata import read_weights, weigh_strata
from surefoot.decide.evidence.unanswered import Unanswered
from surefoot.decide.gate.decision import Decision
from surefoot.decide.gate.decision_data import SCHEMA, ConditionData, DecisionData, HurtData, ReleaseDecision
from surefoot.decide.gate.policy import ReleasePolicy
from surefoot.decide.gate.sample_size import queries_needed
from surefoot.decide.gate.state import GateSetup, GateState, JudgedBatch, read_state
from surefoot.decide.options import EVERY, EXIT, HURT
from surefoot.errors import ArgumentError, listed, shortened
from surefoot.risk.baselines import baseline_choices


class Options(TypedDict, total=False):
    """Further settings of a decision; `gate` says what each is."""

    segments: Any
    weights: Any
    strata: Any
    drawn: Any
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
    **options: Unpack[Options],
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
    budget, state : int and a file, optional
        The anytime form: a decision that is looked at after each batch of judgments. The scores are of the new batch,
        the file holds those before.
    ledger : a file, optional
        Counts how often these queries were used to decide, and lowers δ accordingly.
    queries : anything `read_texts` takes, optional
        Queries' texts, to show beside their ids.
    unanswered : {"leave-out", "traffic"}
        Queries that neither system answers, or without a relevant document, lose nothing and make risk look smaller: by
        default they are left out, and the decision says so; with "traffic" they count. With draws and strata they
        always count.

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
    **options: Unpack[Options],
) -> Iterator[Decision]:
    """`gate`, whose state and ledger are written when the block ends without an error: what was not shown never was."""
    if policy is None:
        raise ArgumentError("a decision needs a policy; give conditions such as {'risk': 0.02, 'gain': 0}")
    parsed, matrix = ReleasePolicy.read(policy), read_scores(scores)
    candidate, baseline = systems_of(matrix, candidate, baseline)
    check_scores(matrix, (baseline, candidate))
    drawn, weights, strata = options.get("drawn"), options.get("weights"), options.get("strata")
    state, ledger, queries = options.get("state"), options.get("ledger"), options.get("queries")
    draws = None if drawn is None else read_draws(drawn)
    _check_together(parsed.rules, draws, options)
    kinds = None if options.get("segments") is None else read_segments(options["segments"])
    rules, members = resolve_segments(parsed.rules, kinds, matrix.queries, batch=state is not None)
    nothing = nothing_to_lose(matrix, baseline, candidate, None if draws is None else draws.queries)
    leave_out = draws is None and weights is None and _unanswered(options) is Unanswered.leave_out
    strata_summary = None
    if draws is not None:
        sample = drawn_sample(matrix, baseline, candidate, draws)
    else:
        sample = plain_sample(matrix, baseline, candidate, members, nothing.mask(leave_out=leave_out))
        if weights is not None:
            by = kinds if strata is None else read_segments(strata)
            sample, strata_summary = weigh_strata(sample, by or {}, read_weights(weights))
    counts = nothing.counts(left_out=leave_out)
    resolved = ReleasePolicy(rules, parsed.delta)
    with ExitStack() as alone:
        seen, use = None, None
        if state is not None:
            destination(state)
            alone.enter_context(lock_file(state, "state"))
            setup = _setup(matrix, baseline, candidate, resolved, draws, options)
            batch = JudgedBatch(sample, counts, None if draws is None else draws.seed)
            seen = read_state(state, setup).add(batch, draws)
            sample, counts = seen.judged(), seen.nothing_to_lose()
        with ExitStack() as entry:
            if ledger is not None:
                question = Question.from_scores(
                    matrix.queries if draws is None else draws.queries, sample, matrix.measure, resolved.to_dict(),
                    draws, None if seen is None else seen.name,
                )  # fmt: skip
                use = entry.enter_context(count_use(ledger, question))
            data = _decide(matrix, baseline, candidate, sample, resolved, draws, seen, use)
            data["strata"], data["hurt"], data["nothing_to_lose"] = strata_summary, _hurt(sample, queries), counts
            if counts["left_out"]:
                data["missing"] = {name: count - counts["unanswered"] for name, count in data["missing"].items()}
            yield Decision(dict(data))
        if state is not None and seen is not None:  # after the ledger: a use that was counted is never taken back
            seen.write(state)


def _unanswered(options: Options) -> Unanswered:
    return parse_unanswered(options.get("unanswered", Unanswered.leave_out))


def systems_of(scores: Scores, candidate: str | None, baseline: str | None) -> tuple[str, str]:
    """The candidate and the baseline by name; of two systems the candidate is the one that is not the baseline."""
    if baseline is None:
        raise ArgumentError(f"name what is shipped today as the baseline: {baseline_choices(scores.systems)}")
    for name in (baseline, candidate):
        if name is not None and name not in scores.systems:
            raise ArgumentError(unknown_system(name, scores.systems))
    if candidate is None:
        others = [name for name in scores.systems if name != baseline]
        if len(others) != 1:
            raise ArgumentError(
                f"name the candidate: there are {len(others)} systems besides the baseline"
                + (f", {listed(others, 8)}" if others else "")
            )
        (candidate,) = others
    if candidate == baseline:
        raise ArgumentError(f"candidate and baseline are both {shortened(baseline)}; name two systems")
    return candidate, baseline


def _check_together(rules: Sequence[Rule], draws: Draws | None, options: Options) -> None:
    """Refuse what has no proof together."""
    weights, strata, budget = options.get("weights"), options.get("strata"), options.get("budget")
    if (budget is None) != (options.get("state") is None):
        raise ArgumentError(
            "a budget and a state go together: how many queries may be judged, and where what was seen is kept"
        )
    if budget is not None:
        integer("budget", budget, 1, LARGEST_COUNT)
        if weights is not None:
            raise ArgumentError(
                "weights and a budget together have no proof; weigh strata in one decision on all queries"
            )
        if any(rule.segment == EVERY for rule in rules):
            raise ArgumentError(f"with a budget the segments must be known beforehand: name each in place of {EVERY!r}")
    if options.get("segments") is not None and weights is None and not any(rule.segment for rule in rules):
        raise ArgumentError("segments are given, and no condition is about one; add some, such as 'head:risk=0.05'")
    if weights is not None and strata is None and options.get("segments") is None:
        raise ArgumentError("weights are of strata; say which queries are of which with strata (--strata FILE)")
    if strata is not None and weights is None:
        raise ArgumentError("strata need their shares of traffic; give weights (--weights FILE)")
    if draws is not None:
        if weights is not None:
            raise ArgumentError("queries are either drawn in proportion to a weight or weighed by strata, not both")
        if any(rule.segment is not None for rule in rules):
            raise ArgumentError("drawn queries say nothing of segments, whose mean weight is not known; leave them out")
        for rule in rules:
            if rule.condition.drawn_for is None:
                raise ArgumentError(
                    f"{rule.name} cannot be decided with drawn queries; leave it out, or judge plain draws"
                )
        if draws.drawn_for != "gain" and any(rule.condition.drawn_for == "gain" for rule in rules):
            titles = [condition.title for condition in CONDITIONS.values() if condition.drawn_for == "gain"]
            raise ArgumentError(
                f"these queries were drawn for risk; conditions on {' or '.join(titles)} need draws by what may be "
                "gained too: surefoot judge-next --for gain"
            )


def _setup(
    matrix: Scores, baseline: str, candidate: str, policy: ReleasePolicy, draws: Draws | None, options: Options
) -> GateSetup:
    runs = {run.name: run for run in matrix.runs}

    def system(name: str) -> dict[str, str | None]:
        return {"name": name, "sha256": lists_hash(runs[name]) if name in runs else None}

    return GateSetup(
        matrix.measure, system(baseline), system(candidate), policy.to_dict(), int(options.get("budget") or 0),
        None if draws is None else draws.mean_weight, None if draws is None else draws.drawn_for,
        str(_unanswered(options)), options.get("ledger") is not None,
    )  # fmt: skip


def _decide(
    matrix: Scores, baseline: str, candidate: str, sample: JudgedQueries, policy: ReleasePolicy, draws: Draws | None,
    seen: GateState | None, use: Use | None,
) -> DecisionData:  # fmt: skip
    delta = policy.delta if use is None else use.delta(policy.delta)
    share = delta / len(policy.rules)
    weight, budget = 1.0 if draws is None else draws.mean_weight, None if seen is None else seen.setup.budget
    evidence = [evidence_of(rule, sample, matrix.measure, weight, budget) for rule in policy.rules]
    proved = proofs(evidence, delta, share)
    conditions = [_condition(one, *both, delta, share) for one, both in zip(evidence, proved, strict=True)]
    decision: ReleaseDecision = "undecided"
    if any(one["status"] == "fails" for one in conditions):
        decision = "stop"
    elif all(one["status"] == "holds" for one in conditions):
        decision = "ship"
    return {
        "schema": SCHEMA,
        "decision": decision,
        "exit_code": EXIT[decision],  # type: ignore[typeddict-item]
        "measure": matrix.measure,
        "baseline": baseline,
        "candidate": candidate,
        "queries": len(sample),
        "delta": delta,
        "delta_fails": share,
        "conditions": conditions,
        "queries_needed": queries_needed(evidence, len(sample), delta) if decision == "undecided" else None,
        "ledger": None
        if use is None
        else {
            "use": use.number, "repeated": use.repeated, "queries": use.queries, "delta_requested": policy.delta,
            "unused_draws": use.unused_draws,
        },
        "budget": None
        if seen is None
        else {"queries": seen.setup.budget, "seen": len(sample), "batches": len(seen.batches)},
        "strata": None,
        "drawn": None
        if draws is None
        else {
            "drawn_for": draws.drawn_for, "draws": len(sample), "mean_weight": draws.mean_weight,
            "traffic": draws.traffic,
        },
        "policy": policy.to_dict(),  # type: ignore[typeddict-item]
        "missing": {name: matrix.missing[name] for name in (baseline, candidate)},
        "dropped": matrix.dropped,
        "nothing_to_lose": {"unanswered": 0, "no_relevant": 0, "both_zero": 0, "left_out": False},
        "hurt": [],
        "losses": len({query for query, lost in zip(sample.queries, _lost(sample), strict=True) if lost}),
        "per_query": sample.to_dict(),  # type: ignore[typeddict-item]
    }  # fmt: skip


def _condition(one: Evidence, holding: Proof, failing: Proof, delta: float, share: float) -> ConditionData:
    holds, fails = holding.p <= delta and holding.agrees, failing.p <= share and failing.agrees
    return {
        "name": one.rule.name,
        "segment": one.rule.segment,
        "level": one.rule.level,
        "alpha": one.rule.alpha,
        "observed": one.observed,
        "bound": holding.bound,
        "bound_fails": failing.bound,
        "p_holds": holding.p,
        "p_fails": failing.p,
        "status": "fails" if fails else "holds" if holds else "open",
        "queries": len(one.x),
        "least_queries": one.least(delta),
        "method": one.method,
    }


def _lost(sample: JudgedQueries) -> Any:
    return (sample.candidate < sample.baseline).tolist()


def _hurt(sample: JudgedQueries, texts: Any) -> list[HurtData]:
    """The queries that lose most, each once."""
    difference = sample.candidate - sample.baseline
    places: dict[str, int] = {}
    for place in np.lexsort((np.arange(len(sample)), difference)).tolist():
        if difference[place] >= 0 or len(places) == HURT:
            break
        places.setdefault(sample.queries[place], place)
    shown = {} if texts is None else shown_texts(texts, places)
    return [
        {
            "query": query, "text": shown.get(query), "baseline": float(sample.baseline[place]),
            "candidate": float(sample.candidate[place]), "difference": float(difference[place]),
        }
        for query, place in places.items()
    ]  # fmt: skip
