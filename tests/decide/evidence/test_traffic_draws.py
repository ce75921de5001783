"""Draws by traffic: in proportion to w·W, exact for the traffic-weighted risk, and refused where nothing is proved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.hashes import seal
from surefoot.decide.evidence.judged_queries import drawn_sample
from surefoot.decide.evidence.proof import evidence_of
from surefoot.decide.evidence.traffic import traffic_to_draw
from surefoot.decide.gate.release_policy import ReleasePolicy
from surefoot.errors import ArgumentError, DataError
from surefoot.measures.notation import Measure
from surefoot.risk.batches import BatchBet

QUERIES = 60


def world(
    seed: int = 0, queries: int = QUERIES
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, float]]:
    """Two runs of short lists, judgments of all of them, and counts over three orders of magnitude."""
    rng = np.random.default_rng(seed)
    documents = [f"d{i}" for i in range(6)]
    names = [f"q{i:03}" for i in range(queries)]
    today = dict.fromkeys(names, documents)
    new = {query: [documents[i] for i in rng.permutation(6)] if rng.random() < 0.6 else documents for query in names}
    qrels = {query: {document: int(rng.random() < 0.35) for document in documents} for query in names}
    traffic = {query: float(count) for query, count in zip(names, np.ceil(rng.pareto(0.8, queries) * 10), strict=True)}
    return qrels, today, new, traffic


def draw(today: Any, new: Any, **given: Any) -> sf.Draws:
    return sf.judge_next({"today": today, "new": new}, baseline="today", **{"measure": "nDCG@5"} | given)


def test_equal_counts_give_the_same_draws() -> None:
    _, today, new, traffic = world()
    plain = draw(today, new, n=30, seed=7)
    equal = draw(today, new, n=30, seed=7, traffic=dict.fromkeys(traffic, 12))
    assert json.dumps(plain.to_dict()) == json.dumps(equal.to_dict())


def test_queries_are_drawn_by_count_times_what_they_could_lose(tmp_path: Path) -> None:
    _, today, new, traffic = world()
    draws = draw(today, new, n=20_000, seed=1, traffic=traffic)
    to_draw = traffic_to_draw(sf.read_run(new), sf.read_run(today), Measure.parse("nDCG@5"), "risk", traffic)
    w = np.array([traffic[query] for query in to_draw.queries])
    assert draws.could_lose_mean == pytest.approx(float(w @ to_draw.could_lose / w.sum()))
    share = dict(zip(to_draw.queries, (w * to_draw.could_lose / (w @ to_draw.could_lose)).tolist(), strict=True))
    for query, times in zip(draws.queries, draws.times.tolist(), strict=True):
        expected = share[query] * 20_000
        assert abs(times - expected) < 6 * np.sqrt(expected) + 3
    # The file keeps W and w apart, and reads back as it was.
    draws.write(tmp_path / "draws.json")
    again = sf.Draws.read(tmp_path / "draws.json")
    assert again.to_dict() == draws.to_dict()
    one = draws.to_dict()["queries"][0]
    assert (one["could_lose"], one["count"]) == (pytest.approx(float(draws.could_lose[0])), traffic[draws.queries[0]])


def test_another_traffic_gets_other_draws_of_the_same_seed() -> None:
    _, today, new, traffic = world()
    one = draw(today, new, n=40, seed=3, traffic=traffic)
    other = draw(today, new, n=40, seed=3, traffic={**traffic, "q000": traffic["q000"] + 1})
    assert one.identity != other.identity != 3
    assert one.to_dict()["sequence"] != other.to_dict()["sequence"]


def test_queries_that_nobody_asks_are_left_out_and_told() -> None:
    _, today, new, traffic = world()
    some = {query: count for query, count in traffic.items() if query > "q019"}
    draws = draw(today, new, n=50, seed=2, traffic=some)
    assert draws.by_traffic is not None
    assert (draws.drawn_from, draws.by_traffic["left_out"]) == (40, 20)
    assert min(draws.queries) > "q019"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"by_traffic": None}, "by_traffic is None"),
        ({"by_traffic": {"sha256": "0", "total": 5.0, "left_out": 0}}, "by_traffic.sha256 is '0'"),
        ({"by_traffic": {"sha256": "0" * 64, "total": 0.5, "left_out": 0}}, "add up to more"),
        ({"by_traffic": {"sha256": "0" * 64, "total": float("1e9"), "left_out": -1}}, "by_traffic.left_out is -1"),
    ],
)
def test_files_that_do_not_add_up_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    _, today, new, traffic = world()
    data: Any = {
        **draw(today, new, n=5, seed=2, traffic=traffic).to_dict(),
        **change,
    }
    (tmp_path / "draws.json").write_text(json.dumps(seal(data)), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        sf.Draws.read(tmp_path / "draws.json")


def test_what_proves_nothing_is_refused() -> None:
    qrels, today, new, traffic = world()
    runs = {"today": today, "new": new}
    scores = sf.score(qrels, runs, "nDCG@5")
    policy = {"risk": 0.5}
    with pytest.raises(ArgumentError, match="have weights by traffic"):
        sf.gate(scores.with_traffic(traffic), baseline="today", policy=policy)


def test_draws_of_another_traffic_are_another_question(tmp_path: Path) -> None:
    names = [f"q{i:02}" for i in range(40)]
    today = {query: ["a", "b"] for query in names}
    new = {query: ["c", "d"] for query in names}  # all could be lost: W̄ is 1 whatever the traffic
    scores = sf.score({query: {"a": 1, "c": 1} for query in names}, {"today": today, "new": new}, "RR@2")
    one = {query: float(i + 1) for i, query in enumerate(names)}
    other = {query: float(40 - i) for i, query in enumerate(names)}
    record, found = tmp_path / "record.json", []
    for weights in (one, one, other, None):
        draw(today, new, measure="RR@2", n=20, traffic=weights, record=record)
        data = sf.gate(scores, baseline="today", policy={"risk": 0.001}, record=record).to_dict()
        found.append((data["record"]["question"], data["record"]["number"], data["batches"]))
    assert found == [(1, 1, [20]), (1, 1, [20, 20]), (2, 2, [20]), (3, 3, [20])]


def test_equal_counts_of_some_queries_are_a_traffic_of_their_own() -> None:
    _, today, new, _ = world()
    first = dict.fromkeys(list(today)[:30], 5)
    drawn = draw(today, new, n=20, seed=1, traffic=first)
    assert drawn.by_traffic is not None
    assert drawn.by_traffic["left_out"] == 30


def test_the_estimates_are_of_traffic() -> None:
    qrels, today, new, traffic = world(4)
    scores = sf.score(qrels, {"today": today, "new": new}, "nDCG@5")
    drawn = draw(today, new, n=30_000, seed=1, traffic=traffic)
    decision = sf.gate(scores, baseline="today", policy={"risk": 0.9}, sample=drawn).to_dict()
    truth = sf.assess(scores, "today", traffic=traffic).to_dict()["systems"][1]["risk"]
    assert decision["conditions"][0]["observed"] == pytest.approx(truth, rel=0.03)
    assert decision["sample"]["by_traffic"]["total"] == sum(traffic.values())
    words = sf.gate(scores, baseline="today", policy={"risk": 0.9}, sample=drawn).to_text()
    assert "queries that are asked more, were drawn more often" in words
    assert "counts as often as it is asked" in words


def test_with_an_automatic_judge_the_traffic_is_needed_and_counts() -> None:
    qrels, today, new, traffic = world(5)
    rng = np.random.default_rng(5)
    labels = {
        query: {document: grade if rng.random() < 0.85 else 1 - grade for document, grade in grades.items()}
        for query, grades in qrels.items()
    }
    drawn = draw(today, new, n=200, seed=1, traffic=traffic, automatic=labels)
    scores = sf.score(qrels, {"today": today, "new": new}, "nDCG@5")
    given: dict[str, Any] = {"baseline": "today", "policy": {"risk": 0.9}, "sample": drawn, "automatic": labels}
    decision = sf.gate(scores, **given).to_dict()
    assert decision["decision"] == "ship"
    # ā over all traffic, in the order of the draws' chances: Σ wA/Σ wW.
    judged = sf.score(labels, {"today": today, "new": new}, "nDCG@5")
    loss = np.maximum(judged["today"] - judged["new"], 0)
    w = np.array([traffic[query] for query in judged.queries])
    sample, judge = drawn_sample(scores, "today", "new", drawn, labels)
    evidence = evidence_of(
        ReleasePolicy.read({"risk": 0.9}).rules[0], sample, "nDCG@5", drawn.could_lose_mean, None, judge
    )
    assert evidence.judge is not None
    assert evidence.judge.moments.mean == pytest.approx(float(w @ loss / w.sum()) / drawn.could_lose_mean)


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [1, 2])
def test_false_ships_at_the_border(seed: int) -> None:
    """The level is the true risk by traffic: at most 5 % may ship; by draws without traffic many more would."""
    qrels, today, new, traffic = world(seed, 150)
    scores = sf.score(qrels, {"today": today, "new": new}, "nDCG@5")
    by_traffic = sf.assess(scores, "today", traffic=traffic).to_dict()["systems"][1]["risk"]
    shipped = {"at the border": 0, "at twice the risk": 0}
    rules = [
        ReleasePolicy.read({"risk": level}).rules[0] for level in (by_traffic * (1 - 1e-9), by_traffic * 2)
    ]  # fmt: skip
    runs = 600
    for number in range(runs):
        drawn = draw(today, new, n=80, seed=1000 * seed + number, traffic=traffic)
        sample, _ = drawn_sample(scores, "today", "new", drawn)
        for name, rule in zip(shipped, rules, strict=True):
            evidence = evidence_of(rule, sample, "nDCG@5", drawn.could_lose_mean)
            p = float(BatchBet.start(evidence.m, 0.05).after(evidence.x).p)
            shipped[name] += p <= 0.05
    assert shipped["at the border"] / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert shipped["at twice the risk"] / runs >= 0.5
