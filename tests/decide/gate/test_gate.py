"""Decisions: recomputed from their JSON by slow loops, the same in any order, and right as often as they say."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from tests.report.schemas import check_data
from tests.risk.test_batches import slow_capitals

import surefoot as sf
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.judged_queries import JudgedQueries, betting_order
from surefoot.decide.evidence.proof import evidence_of
from surefoot.decide.gate import sample_size
from surefoot.errors import ArgumentError, DataError, SurefootError
from surefoot.risk.batches import BatchBet
from surefoot.risk.betting import stratified_p

pytestmark = pytest.mark.usefixtures("few")


POLICY = {"risk": 0.03, "gain": 0.0}
FULL = POLICY | {"share_hurt": 0.05, "u_risk": {"alpha": 5, "above": 0.0}}


@pytest.fixture(scope="module")
def scores() -> sf.Scores:
    made = sf.demo.runs()
    return sf.score(made.qrels, made.runs, "nDCG@10")


def pair(candidate: np.ndarray, baseline: np.ndarray, measure: str = "AP") -> sf.Scores:
    return sf.Scores([baseline, candidate], ["today", "new"], [f"q{i}" for i in range(len(baseline))], measure)


def kinds_of(scores: sf.Scores) -> dict[str, str]:
    return {query: "even" if place % 2 else "odd" for place, query in enumerate(scores.queries)}


# The demonstration: the issue's own example.


def test_the_demo_stops_bold_and_ships_steady(scores: sf.Scores) -> None:
    stopped = sf.gate(scores, candidate="bold", baseline="today", policy=POLICY)
    assert (stopped.decision, stopped.exit_code) == ("stop", 1)
    shipped = sf.gate(scores, candidate="steady", baseline="today", policy=POLICY)
    assert (shipped.decision, shipped.exit_code) == ("ship", 0)
    for condition in shipped.conditions:
        inside = condition["bound"] < condition["level"] if condition["name"] == "risk" else condition["bound"] > 0
        assert inside
    undecided = sf.gate(scores, candidate="steady", baseline="today", policy={"risk": 0.011})
    assert (undecided.decision, undecided.exit_code) == ("undecided", 3)
    assert undecided.to_dict()["queries_needed"] is None or undecided.to_dict()["queries_needed"] > 200


# Everything can be recomputed from the JSON.


def slow_p(x: list[float], m: float, delta: float) -> float:
    """The gate's bet as its formula stands, of one batch."""
    if m >= 1 or m <= 0:
        return float(m <= 0)
    return min(1.0, 1 / max(slow_capitals([x], m, delta)[0]))


def slow_tail(k: int, n: int, m: float, delta: float) -> float:
    """The p of one batch of counts: the exact tail for nine tenths of δ, the fixed stakes for the rest."""
    tails = binom.cdf(np.arange(n + 1), n, m)
    most = max([tail for tail in tails if tail <= 0.9 * delta], default=0.0)
    fixed = np.mean([(1 + s * m / (1 - m)) ** (n - k) * (1 - s) ** k for s in np.geomspace(0.01, 0.99, 20)])
    return min(1.0, float(tails[k]) / 0.9, 1 / ((1 - most / delta) * fixed))


def recomputed(data: dict[str, Any]) -> list[tuple[float, float]]:
    held = data["per_query"]
    found = []
    for condition in data["conditions"]:
        member = held["segments"].get(condition["segment"], [True] * len(held["query"]))
        rows = [
            row for row, of in zip(zip(held["baseline"], held["candidate"], strict=True), member, strict=True) if of
        ]
        if condition["name"] == "risk":
            x, m = [max(0.0, b - c) for b, c in rows], condition["level"]
        elif condition["name"] == "share_hurt":
            x, m = [float(c - b < -0.2 * (1 + 1e-9) * b and b > 0) for b, c in rows], condition["level"]
        else:
            alpha = condition["alpha"] or 0.0
            x = [(1 - (c - b if c > b else (1 + alpha) * (c - b))) / (2 + alpha) for b, c in rows]
            m = (1 - condition["level"]) / (2 + alpha)
        y = [1 - value for value in x]
        if condition["method"] == "binomial":
            counts = (round(sum(x)), len(x), m, data["delta"]), (round(sum(y)), len(y), 1 - m, data["delta_fails"])
            found.append((slow_tail(*counts[0]), slow_tail(*counts[1])))
        else:
            found.append((slow_p(x, m, data["delta"]), slow_p(y, 1 - m, data["delta_fails"])))
    return found


def verdict(data: dict[str, Any], pairs: list[tuple[float, float]]) -> str:
    if any(fails <= data["delta"] / len(pairs) for _, fails in pairs):
        return "stop"
    return "ship" if all(holds <= data["delta"] for holds, _ in pairs) else "undecided"


@pytest.mark.parametrize("candidate", ["bold", "steady", "dense", "hybrid"])
def test_every_decision_can_be_recomputed_from_its_json(scores: sf.Scores, candidate: str) -> None:
    policy = FULL | {"segments": {"even": {"risk": 0.05}, "*": {"share_hurt": 0.2}}}
    decision = sf.gate(scores, candidate=candidate, baseline="today", policy=policy, segments=kinds_of(scores))
    data = json.loads(decision.to_json())
    assert len(data["conditions"]) == 7
    pairs = recomputed(data)
    for condition, (holds, fails) in zip(data["conditions"], pairs, strict=True):
        assert condition["p_holds"] == pytest.approx(holds, rel=1e-7)
        assert condition["p_fails"] == pytest.approx(fails, rel=1e-7)
    assert data["decision"] == verdict(data, pairs)
    assert data["exit_code"] == {"ship": 0, "stop": 1, "undecided": 3}[data["decision"]]
    shown = [(condition["p_holds"], condition["p_fails"]) for condition in data["conditions"]]
    assert verdict(data, shown) == data["decision"]


def test_keys_and_schema(scores: sf.Scores) -> None:
    for candidate in ("bold", "steady"):
        data = sf.gate(scores, candidate=candidate, baseline="today", policy=FULL).to_dict()
        check_data(data, "decision")
    keys = {"schema", "decision", "exit_code", "measure", "baseline", "candidate", "queries", "delta", "conditions",
            "queries_needed", "record", "batches"}  # fmt: skip
    assert keys <= set(data)
    assert {"name", "segment", "level", "observed", "bound", "p_holds", "p_fails"} <= set(data["conditions"][0])
    again = sf.Decision.from_dict(json.loads(json.dumps(data)))
    assert again.to_dict() == data
    assert again.to_markdown() == sf.Decision(data).to_markdown()
    with pytest.raises(DataError, match="is not a decision"):
        sf.Decision.from_dict({"schema": "surefoot/assessment/1"})


def test_the_order_of_queries_and_systems_changes_nothing(scores: sf.Scores) -> None:
    policy = FULL | {"segments": {"*": {"risk": 0.2}}}
    order = np.random.default_rng(0).permutation(len(scores.queries))
    rows = [scores.systems.index(name) for name in ("steady", "today")]
    turned = sf.Scores(
        scores.values[rows][:, order], ["steady", "today"], [scores.queries[i] for i in order], scores.measure
    )
    kinds = kinds_of(scores)
    one = sf.gate(scores, candidate="steady", baseline="today", policy=policy, segments=kinds)
    other = sf.gate(turned, baseline="today", policy=policy, segments=dict(reversed(kinds.items())))
    assert one.to_dict() == other.to_dict() | {"answered": 200}  # scores alone do not say what runs answer


def test_figures_are_those_of_an_assessment(scores: sf.Scores) -> None:
    data = sf.gate(scores, candidate="bold", baseline="today", policy=FULL).to_dict()
    (row,) = [row for row in sf.assess(scores, "today", [5]).to_dict()["systems"] if row["system"] == "bold"]
    observed = {condition["name"]: condition["observed"] for condition in data["conditions"]}
    assert observed["risk"] == pytest.approx(row["risk"])
    assert observed["gain"] == pytest.approx(row["gain"])
    assert observed["share_hurt"] == pytest.approx(row["loss_over_20"] / 200)
    assert observed["u_risk"] == pytest.approx(row["alpha"]["5"]["u_risk"])
    assert data["hurt"] == row["losses"]


def test_bounds_stand_between_what_is_observed_and_the_verdict(scores: sf.Scores) -> None:
    for candidate in ("bold", "steady", "hybrid", "random-ish"):
        for one in sf.gate(scores, candidate=candidate, baseline="today", policy=FULL).conditions:
            worse = 1 if one["name"] in ("risk", "share_hurt") else -1
            assert worse * (one["bound"] - one["observed"]) >= -1e-12
            assert (worse * (one["level"] - one["bound"]) >= 0) == (one["p_holds"] <= 0.05)
            if one["status"] == "fails":
                assert worse * (one["observed"] - one["bound_fails"]) >= -1e-12
                assert worse * (one["bound_fails"] - one["level"]) >= 0


# Segments.


def test_segments_by_name_by_column_and_each(scores: sf.Scores) -> None:
    kinds = {
        "length": {query: "short" if i % 3 else "long" for i, query in enumerate(scores.queries)},
        "age": {query: "new" if i % 5 else "long" for i, query in enumerate(scores.queries)},
    }

    def segments(policy: dict[str, Any]) -> list[tuple[str, str | None, float]]:
        decision = sf.gate(scores, candidate="steady", baseline="today", policy=policy, segments=kinds)
        return [(one["name"], one["segment"], one["level"]) for one in decision.conditions]

    assert segments({"segments": {"short": {"risk": 0.1}}}) == [("risk", "short", 0.1)]
    assert segments({"segments": {"age=long": {"risk": 0.1}}}) == [("risk", "age=long", 0.1)]
    every = segments({"gain": 0, "segments": {"*": {"risk": 0.1}, "new": {"risk": 0.2}}})
    assert sorted(every, key=str) == sorted(
        [("gain", None, 0.0), ("risk", "length=long", 0.1), ("risk", "short", 0.1), ("risk", "age=long", 0.1),
         ("risk", "new", 0.2)], key=str,
    )  # fmt: skip
    with pytest.raises(ArgumentError, match=r"is in several columns; write one of length=long, age=long"):
        segments({"segments": {"long": {"risk": 0.1}}})
    with pytest.raises(ArgumentError, match=r"there is no segment 'shrt'; did you mean short\?"):
        segments({"segments": {"shrt": {"risk": 0.1}}})
    with pytest.raises(ArgumentError, match="which segment each query belongs to"):
        sf.gate(scores, candidate="steady", baseline="today", policy={"segments": {"a": {"risk": 0.1}}})


def test_a_segment_is_decided_by_its_own_queries(scores: sf.Scores) -> None:
    kinds = kinds_of(scores)
    own = sf.gate(
        scores, candidate="bold", baseline="today", policy={"segments": {"even": {"risk": 0.03}}}, segments=kinds
    )
    alone = scores._only([i for i, query in enumerate(scores.queries) if kinds[query] == "even"])
    plain = sf.gate(alone, candidate="bold", baseline="today", policy={"risk": 0.03})
    same = ("observed", "queries", "level", "least_queries")
    assert [own.conditions[0][key] for key in same] == [plain.conditions[0][key] for key in same]
    # The order is the whole sample's, in which the segment's queries stand as they do in the JSON.
    held = own.to_dict()["per_query"]
    assert held["query"] == [scores.queries[place] for place in betting_order(scores.queries)]
    assert held["segments"]["even"] == [kinds[query] == "even" for query in held["query"]]


# Strata.


def test_weights_turn_a_biased_sample_into_traffic() -> None:
    rng = np.random.default_rng(0)
    head, tail = np.zeros(300), (rng.random(700) < 0.5) * 0.1  # the tail was judged far more often than it comes
    losses = np.append(head, tail)
    scores = pair(0.5 - losses, np.full(1000, 0.5))
    strata = {f"q{i}": "head" if i < 300 else "tail" for i in range(1000)}
    weights = {"head": 0.95, "tail": 0.05}
    plain = sf.gate(scores, baseline="today", policy={"risk": 0.02})
    assert plain.decision == "stop"
    weighed = sf.gate(scores, baseline="today", policy={"risk": 0.02}, sample=sf.Strata(strata, weights))
    (condition,) = weighed.conditions
    assert condition["observed"] == pytest.approx(0.05 * tail.mean())
    assert weighed.decision == "ship"
    assert condition["method"] == "stratified"
    assert weighed.to_dict()["sample"]["strata"] == [
        {"stratum": "head", "share": 0.95, "queries": 300}, {"stratum": "tail", "share": 0.05, "queries": 700}
    ]  # fmt: skip
    policy = {"risk": 0.02, "gain": -0.1}
    both = sf.gate(scores, baseline="today", policy=policy, sample=sf.Strata(strata, weights))
    gain = both.conditions[1]
    assert gain["observed"] == pytest.approx(-0.05 * tail.mean())
    assert gain["p_holds"] < 1


def test_strata_keep_delta_where_plain_decisions_do_not() -> None:
    rng, runs, level = np.random.default_rng(1), 80, 0.05
    strata = {f"q{i}": "head" if i < 180 else "tail" for i in range(200)}
    shipped = {"plain": 0, "weighed": 0}
    for _ in range(runs):  # nine tenths of the sample, and half of the traffic, lose nothing
        lost = np.append(np.zeros(180), rng.random(20) < 2 * level)
        scores = pair(1 - lost, np.ones(200))
        shipped["plain"] += _ships(scores, {})
        shipped["weighed"] += _ships(scores, {"strata": strata, "weights": {"head": 0.5, "tail": 0.5}})
    assert shipped["plain"] / runs > 0.3
    assert shipped["weighed"] / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def _ships(scores: sf.Scores, options: dict[str, Any]) -> bool:
    """Whether risk ≤ 0.05 is proved, without the bounds and resamples of a whole decision."""
    from surefoot.decide.evidence.judged_queries import plain_sample
    from surefoot.decide.evidence.sample import weigh_strata

    sample = plain_sample(scores, "today", "new", {})
    if options:
        sample, _ = weigh_strata(sample, sf.Strata(options["strata"], options["weights"]))
    found = evidence_of(ConditionRule("risk", 0.05), sample, "AP")
    p = stratified_p(found.x, found.m) if options else BatchBet.start(found.m, 0.05).after(found.x).p
    return float(p) <= 0.05


WEIGHTS = [
    ({"head": 0.5, "tail": 0.4}, "sum to 0.9; they must sum to 1"),
    ({"head": 0.5, "tail": 0.5, "odd": 0.0}, "share of stratum 'odd' is 0.0"),
    ({"head": 1.0}, "no share of traffic is given for 'tail'"),
    ({"head": 0.5, "tail": 0.3, "rare": 0.2}, "no judged query belongs to 'rare'"),
    ({"head": "x", "tail": 0.5}, "share of stratum 'head' is 'x'"),
    ({"head": float("nan"), "tail": 0.5}, "is nan"),
]


@pytest.mark.parametrize(("weights", "message"), WEIGHTS)
def test_weights_that_are_refused(weights: dict[str, Any], message: str) -> None:
    scores = pair(np.full(6, 0.5), np.full(6, 0.5))
    strata = {f"q{i}": "head" if i < 3 else "tail" for i in range(6)}
    with pytest.raises(SurefootError, match=message):
        sf.gate(scores, baseline="today", policy=POLICY, sample=sf.Strata(strata, weights))


# What is refused.

GOOD = pair(np.full(5, 0.5), np.full(5, 0.4))
THREE = sf.Scores(np.full((3, 5), 0.5), ["today", "a", "b"], [f"q{i}" for i in range(5)])
REFUSED = [
    (GOOD, {"baseline": "today", "policy": None}, "needs a policy"),
    (GOOD, {"policy": POLICY}, "choose the baseline, which is the system that is live today"),
    (GOOD, {"baseline": "tody", "policy": POLICY}, "no system is named 'tody'; did you mean today?"),
    (GOOD, {"baseline": "today", "candidate": "today", "policy": POLICY}, "are both 'today'"),
    (THREE, {"baseline": "today", "policy": POLICY}, "there are 2 systems besides the baseline: a, b"),
    (pair(np.full(5, 0.5), np.full(5, 0.4), "DCG@10"), {"baseline": "today", "policy": POLICY}, "no maximum"),
    (pair(np.full(5, 1.5), np.full(5, 0.4)), {"baseline": "today", "policy": POLICY}, "of 'new' on query 'q0' is 1.5"),
    (pair(np.full(5, 0.5), np.full(5, -0.4)), {"baseline": "today", "policy": POLICY}, "on query 'q0' is -0.4"),
    (GOOD, {"baseline": "today", "policy": POLICY, "budget": 100}, "a budget needs a record"),
    (GOOD, {"baseline": "today", "policy": POLICY, "budget": 0, "record": "r.json"}, "budget is 0"),
    (GOOD, {"baseline": "today", "policy": POLICY, "sampled_from": 4}, "5 queries are judged, but sampled_from is 4"),
    (GOOD, {"baseline": "today", "policy": POLICY, "sampled_from": 0}, "sampled_from is 0"),
    (GOOD, {"baseline": "today", "policy": POLICY, "sampled_from": 9, "record": "r.json", "budget": 9},
     "cannot be combined with strata, or with a sample from a known number"),
    (GOOD, {"baseline": "today", "policy": {"other_below": 5, "risk": 0.1}}, "works only with conditions on every"),
    (GOOD, {"baseline": "today", "policy": {"segments": {"*": POLICY}}, "sampled_from": 9,
            "segments": {"q0": "a", "q1": "b"}}, "the file of segments has 2 queries, but the sample is from 9"),
    (GOOD, {"baseline": "today", "policy": POLICY, "sample": {"q0": "a"}}, "give Draws, Strata, or a file"),
    (GOOD, {"baseline": "today", "policy": POLICY, "sample": sf.Strata({"q0": "a"}, {"a": 1})}, "have no stratum"),
    (GOOD, {"baseline": "today", "policy": POLICY, "budget": 9, "record": "s",
            "sample": sf.Strata({"q0": "a"}, {"a": 1})}, "a budget cannot be combined with strata"),
    (GOOD, {"baseline": "today", "policy": POLICY, "unanswered": "yes"}, "it must be leave-out or count"),
    (pair(np.full(5, 0.5), np.ones(5), "P@1"), {"baseline": "today", "policy": POLICY}, "P@1 can only be 0 or 1"),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "options", "message"), REFUSED)
def test_what_is_refused(scores: sf.Scores, options: dict[str, Any], message: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SurefootError) as caught:
        sf.gate(scores, **options)
    assert message in str(caught.value)
    assert not [path for path in tmp_path.iterdir() if not path.name.endswith(".lock")]


# Drawn queries: the gate takes the weights that they were drawn by.


def lists(seed: int, queries: int = 400) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Judgments and two runs: a third of the candidate's lists differ, and some of them lose."""
    rng = np.random.default_rng(seed)
    qrels, today, new = {}, {}, {}
    for number in range(queries):
        documents = [f"d{i}" for i in range(5)]
        qrels[f"q{number}"] = {document: int(rng.random() < 0.3) for document in documents}
        today[f"q{number}"] = {document: 5.0 - i for i, document in enumerate(documents)}
        order = documents if rng.random() > 0.33 else [documents[0], *rng.permutation(documents[1:])]
        new[f"q{number}"] = {document: 5.0 - i for i, document in enumerate(order)}
    return qrels, today, new


def test_drawn_queries_give_the_figures_of_all_traffic() -> None:
    qrels, today, new = lists(0)
    runs = [sf.read_run(today, "today"), sf.read_run(new, "new")]
    truth = sf.score(qrels, runs, "nDCG@5")
    policy = {"risk": 0.1, "gain": -0.1, "u_risk": {"alpha": 2, "above": -0.2}}
    draws = sf.judge_next([runs[0], runs[1]], baseline=runs[0].name, measure="nDCG@5", n=1500, to_prove="gain", seed=1)
    judged = {query: qrels[query] for query in draws.queries}
    decision = sf.gate(sf.score(judged, runs, "nDCG@5"), baseline="today", policy=policy, sample=draws)
    plain = sf.gate(truth, baseline="today", policy=policy, unanswered="count")
    for one, other in zip(decision.conditions, plain.conditions, strict=True):
        assert one["observed"] == pytest.approx(other["observed"], abs=0.01)
        assert one["queries"] == 1500
    assert decision.decision == "ship"
    for_risk = sf.judge_next([runs[0], runs[1]], baseline=runs[0].name, measure="nDCG@5", n=300, seed=1)
    judged = {query: qrels[query] for query in for_risk.queries}
    few = sf.gate(sf.score(judged, runs, "nDCG@5"), baseline="today", policy={"risk": 0.03}, sample=for_risk)
    assert few.conditions[0]["observed"] == pytest.approx(plain.conditions[0]["observed"], abs=0.01)
    check_data(few.to_dict(), "decision")
    with pytest.raises(ArgumentError, match="drawn for risk"):
        sf.gate(sf.score(judged, runs, "nDCG@5"), baseline="today", policy={"gain": 0}, sample=for_risk)
    with pytest.raises(ArgumentError, match="share_hurt cannot be decided"):
        sf.gate(sf.score(judged, runs, "nDCG@5"), baseline="today", policy={"share_hurt": 0.1}, sample=for_risk)
    with pytest.raises(DataError, match="of the queries to judge have no judgments"):
        sf.gate(sf.score({"q0": qrels["q0"]}, runs, "nDCG@5"), baseline="today", policy={"risk": 0.1}, sample=for_risk)
    with pytest.raises(DataError, match="draws are for nDCG@5"):
        sf.gate(sf.score(judged, runs, "AP"), baseline="today", policy={"risk": 0.1}, sample=for_risk)
    with pytest.raises(ArgumentError, match="the runs are the same as when they were drawn"):
        sf.gate(truth._only(range(400)), baseline="today", policy={"risk": 0.1}, sample=for_risk)


def test_drawn_conditions_are_bounded_means_of_the_draws() -> None:
    sample = JudgedQueries(("a", "b"), np.array([0.5, 0.5]), np.array([0.3, 0.9]), np.array([0.4, 0.8]))
    risk = evidence_of(ConditionRule("risk", 0.02), sample, "AP", 0.1)
    assert risk.x == pytest.approx([0.5, 0])
    assert risk.m == pytest.approx(0.2)
    gain = evidence_of(ConditionRule("gain", 0.01), sample, "AP", 0.1)
    assert gain.x == pytest.approx([(1 + 0.5) / 2, (1 - 0.5) / 2])
    assert gain.m == pytest.approx((1 - 0.1) / 2)
    weighed = evidence_of(ConditionRule("u_risk", 0.01, 3.0), sample, "AP", 0.1)
    assert weighed.x == pytest.approx([(1 + 4 * 0.5) / 5, (1 - 0.5) / 5])
    assert weighed.m == pytest.approx((1 - 0.1) / 5)


def test_queries_needed_is_where_most_resamples_decide() -> None:
    losses = np.zeros(100)
    nothing = JudgedQueries(tuple(f"q{i}" for i in range(100)), np.ones(100), 1 - losses)
    evidence = [evidence_of(ConditionRule("risk", 0.02), nothing, "AP", batches=(100,))]
    for again, least in ((False, 155), (True, 155)):
        found = sample_size.queries_needed(evidence, 100, 0.05, again=again)
        assert found is not None
        assert least <= found <= 1.06 * least  # the fewest, to one part in twenty
    later = sample_size.queries_needed([evidence_of(ConditionRule("risk", 0.02), nothing, "AP", budget=300)], 100, 0.05)
    assert later is not None
    assert 172 <= later <= 181
    border = JudgedQueries(tuple(f"q{i}" for i in range(100)), np.ones(100), 1 - (np.arange(100) < 2).astype(float))
    at_border = evidence_of(ConditionRule("share_hurt", 0.02), border, "AP", batches=(100,))
    assert sample_size.queries_needed([at_border], 100, 0.05) is None


# A decision agrees with its own bound.


@pytest.mark.parametrize("gain", [-0.9999999999999999, -0.9999999999999998])
def test_a_level_that_rounds_to_the_worst_ships_nothing(gain: float) -> None:
    lost = pair(np.zeros(400), np.ones(400))
    decision = sf.gate(lost, baseline="today", policy={"gain": gain})
    assert decision.decision != "ship"
    assert decision.conditions[0]["bound"] <= gain


@pytest.mark.parametrize("risk", [1e-17, 1e-16, 1e-12])
def test_a_level_that_rounds_to_nothing_stops_nothing(risk: float) -> None:
    same = pair(np.full(400, 0.5), np.full(400, 0.5))
    decision = sf.gate(same, baseline="today", policy={"risk": risk})
    assert decision.decision == "undecided"
    assert decision.conditions[0]["bound_fails"] <= risk
    worse = sf.gate(pair(np.full(400, 0.4), np.full(400, 0.5)), baseline="today", policy={"risk": risk})
    assert worse.decision == "stop"


def test_where_nothing_can_break_a_condition_it_holds() -> None:
    """W̄ of the draws is below the level: no judgments could show such a risk."""
    qrels, today, new = lists(0)
    runs = [sf.read_run(today, "today"), sf.read_run(new, "new")]
    draws = sf.judge_next([runs[0], runs[1]], baseline=runs[0].name, measure="nDCG@5", n=20, to_prove="gain", seed=1)
    judged = sf.score({query: qrels[query] for query in draws.queries}, runs, "nDCG@5")
    for policy in ({"risk": 1.1 * draws.could_lose_mean}, {"gain": -1.1 * draws.could_lose_mean}):
        decision = sf.gate(judged, baseline="today", policy=policy, sample=draws)
        assert decision.decision == "ship"
        assert decision.conditions[0]["p_holds"] == 0


def test_a_condition_that_the_judged_queries_break_does_not_hold() -> None:
    """By luck with the first queries the bet refutes a level that is below the very mean that was observed."""
    rng = np.random.default_rng(412)
    n = int(rng.integers(20, 150))
    losses = rng.choice([0, 0.05, 0.4, 1.0], n, p=[0.8, 0.12, 0.06, 0.02])
    queries = [f"q{i}" for i in range(n)]
    in_order = np.empty(n)
    in_order[betting_order(queries)] = losses
    scores = sf.Scores([np.ones(n), 1 - in_order], ["today", "new"], queries, "AP")
    (condition,) = sf.gate(scores, baseline="today", policy={"risk": 0.07387121212121213}).conditions
    assert condition["p_holds"] <= 0.05
    assert condition["observed"] > 0.0739
    assert condition["status"] == "open"
    assert condition["bound"] > 0.0739


def test_the_bound_of_what_just_holds_is_the_level() -> None:
    same = pair(np.ones(150), np.ones(150))
    low, high = 0.01, 0.03  # the border at which 150 queries without a loss just reach 1/δ
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if slow_p([0.0] * 150, middle, 0.05) <= 0.05 else (middle, high)
    border = high
    for level, found in ((border * (1 + 1e-9), "holds"), (border * (1 - 1e-9), "open")):
        (condition,) = sf.gate(same, baseline="today", policy={"risk": level}).conditions
        assert condition["status"] == found
        assert (condition["bound"] <= level) == (found == "holds")


# Measures of 0 and 1 have an exact test.


@pytest.mark.parametrize("measure", ["P@1", "RR@1", "Success@3"])
def test_losses_of_0_or_1_have_the_exact_test(measure: str) -> None:
    lost = np.zeros(1200)
    lost[:12] = 1
    scores = pair(1 - lost, np.ones(1200), measure)
    (condition,) = sf.gate(scores, baseline="today", policy={"risk": 0.02}).conditions
    assert (condition["method"], condition["status"]) == ("binomial", "holds")
    assert condition["p_holds"] == pytest.approx(slow_tail(12, 1200, 0.02, 0.05), rel=1e-9)
    assert condition["least_queries"] == 154
    assert sf.gate(pair(1 - lost, np.ones(1200)), baseline="today", policy={"risk": 0.02}).decision == "undecided"
    both = sf.gate(scores, baseline="today", policy={"gain": -0.1, "u_risk": {"alpha": 1, "above": -0.2}})
    assert [one["method"] for one in both.conditions] == ["betting", "betting"]
    strata = {f"q{i}": "head" for i in range(1200)}
    sample = sf.Strata(strata, {"head": 1.0})
    (weighed,) = sf.gate(scores, baseline="today", policy={"risk": 0.02}, sample=sample).conditions
    assert weighed["method"] == "stratified"


def test_batches_of_0_and_1_are_bet_on(tmp_path) -> None:
    scores = pair(np.ones(100), np.ones(100), "P@1")
    (condition,) = sf.gate(
        scores, baseline="today", policy={"risk": 0.02}, budget=200, record=tmp_path / "r.json"
    ).conditions
    assert condition["method"] == "anytime"
