"""Batches and ledgers: what was seen counts once, what was changed is refused, and two programs do not mix."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.decide.evidence.ledger import LedgerUse
from surefoot.decide.gate import sample_size
from surefoot.decide.gate.gate import deciding
from surefoot.errors import DataError

POLICY = {"risk": 0.03, "gain": 0.0}


@pytest.fixture(autouse=True)
def few(monkeypatch) -> None:
    monkeypatch.setattr(sample_size, "MOST_QUERIES_TRIED", 300)


@pytest.fixture(scope="module")
def scores() -> sf.Scores:
    made = sf.synthetic_runs()
    return sf.score(made.qrels, made.runs, "nDCG@10")


def batch(scores: sf.Scores, start: int, end: int) -> sf.Scores:
    return scores.only(range(start, end))


def look(scores: sf.Scores, path: Path, candidate: str = "steady", **options: Any) -> sf.Decision:
    given = {"candidate": candidate, "baseline": "today", "policy": POLICY, "budget": 200} | options
    return sf.gate(scores, state=path, **given)


def slow_capital(x: list[float], m: float, delta: float, budget: int) -> float:
    """The greatest capital of the anytime bets, as their formulas stand."""
    aiming, most, fixed = 1.0, 1.0, [1.0] * 5
    squares, total = 0.0, 0.0
    for i, value in enumerate(x, 1):
        v = (10 * m * (1 - m) / 2 + squares) / (10 + i - 1)
        left = max(0.0, math.log(2 / delta) - math.log(aiming))
        aiming *= 1 + min(0.99 / (1 - m), math.sqrt(2 * left / (max(1, budget - i + 1) * v))) * (m - value)
        fixed = [one * (1 + 10 ** (-1 + j / 4) / (1 - m) * (m - value)) for j, one in enumerate(fixed)]
        most = max(most, 0.5 * sum(fixed) / 5 + 0.5 * aiming)
        total += value
        squares += (value - (10 * m + total) / (10 + i)) ** 2
    return most


def test_batches_in_order_of_arrival_are_recomputed_from_the_json(scores: sf.Scores, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    for start, end in ((0, 60), (60, 100), (100, 200)):
        decision = look(batch(scores, start, end), path)
    data = json.loads(decision.to_json())
    assert data["budget"] == {"queries": 200, "seen": 200, "batches": 3}
    held = data["per_query"]
    assert [set(part) for part in (held["query"][:60], held["query"][60:100], held["query"][100:])] == [
        set(scores.queries[:60]), set(scores.queries[60:100]), set(scores.queries[100:]),
    ]  # fmt: skip
    differences = [c - b for b, c in zip(held["baseline"], held["candidate"], strict=True)]
    for condition, x, m in (
        (data["conditions"][0], [max(0.0, -d) for d in differences], 0.03),
        (data["conditions"][1], [(1 - d) / 2 for d in differences], 0.5),
    ):
        assert condition["method"] == "anytime"
        assert condition["p_holds"] == pytest.approx(1 / slow_capital(x, m, 0.05, 200), rel=1e-7)
        mirrored = slow_capital([1 - one for one in x], 1 - m, 0.025, 200)
        assert condition["p_fails"] == pytest.approx(1 / mirrored, rel=1e-7)
    assert look(scores, tmp_path / "other.json", "bold").decision == "stop"


def test_what_was_seen_before_is_refused_and_nothing_is_lost(scores: sf.Scores, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    look(batch(scores, 0, 60), path)
    before = path.read_bytes()
    refused = [
        (batch(scores, 50, 90), {}, "10 of 40 queries were seen in an earlier batch"),
        (batch(scores, 60, 90), {"candidate": "bold"}, "was started with the candidate 'steady'"),
        (batch(scores, 60, 90), {"policy": {"risk": 0.02}}, "was started with another policy"),
        (batch(scores, 60, 90), {"policy": POLICY | {"delta": 0.1}}, "was started with another policy"),
        (batch(scores, 60, 90), {"budget": 300}, "was started with a budget of 200"),
        (sf.Scores(scores.values[:, 60:90], scores.systems, scores.queries[60:90], "AP"), {}, "the measure nDCG@10"),
    ]
    for given, options, message in refused:
        with pytest.raises(DataError, match=message):
            look(given, path, **options)
        assert path.read_bytes() == before
    look(batch(scores, 60, 90), path)  # and goes on as if nothing had been


def test_other_runs_of_the_same_name_are_refused(tmp_path: Path) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    today = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(4)}

    def run(new: dict[str, Any], queries: list[str]) -> sf.Decision:
        judged = {query: qrels[query] for query in queries}
        runs = [sf.Run.read(today, "today"), sf.Run.read(new, "new")]
        return look(sf.score(judged, runs, "AP"), tmp_path / "state.json", "new")

    run(today, ["q0", "q1"])
    with pytest.raises(DataError, match="a different run that had the same name, 'new'"):
        run({query: {"a": 1.0, "b": 2.0} for query in today}, ["q2"])
    run(today, ["q2"])


def test_a_state_that_was_changed_is_refused(scores: sf.Scores, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    look(batch(scores, 0, 60), path)
    data = json.loads(path.read_text())
    changed = {**data, "batches": [{**data["batches"][0], "candidate": [1.0] * 60}]}
    for content in (
        json.dumps(changed),
        '{"schema": "surefoot/draws/1"}',
        "{",
        "[]",
        json.dumps({**data, "sha256": ""}),
    ):
        path.write_text(content)
        with pytest.raises(DataError, match=r"state\.json"):
            look(batch(scores, 60, 90), path)
        assert path.read_text() == content


def test_what_was_not_shown_was_not_seen(scores: sf.Scores, tmp_path: Path) -> None:
    path, ledger = tmp_path / "state.json", tmp_path / "ledger.json"
    with pytest.raises(RuntimeError), deciding(batch(scores, 0, 60), "steady", "today", POLICY, budget=200, state=path):
        raise RuntimeError("the disk is full")
    with pytest.raises(RuntimeError), deciding(scores, "steady", "today", POLICY, ledger=ledger):
        raise RuntimeError("the disk is full")
    assert not path.exists()
    assert not ledger.exists()


def test_segments_of_batches(scores: sf.Scores, tmp_path: Path) -> None:
    kinds = {query: "early" if place < 60 else "late" for place, query in enumerate(scores.queries)}
    policy = {"risk": 0.03, "segments": {"early": {"risk": 0.1}}}
    for start, end in ((0, 60), (60, 120)):
        decision = look(batch(scores, start, end), tmp_path / "state.json", policy=policy, segments=kinds)
    assert [one["queries"] for one in decision.conditions] == [120, 60]


def test_drawn_batches_may_draw_a_query_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    qrels = {f"q{i}": {"a": int(rng.random() < 0.5), "b": 1} for i in range(30)}
    today = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    new = {query: {"a": 1.0, "b": 2.0} for query in qrels}
    runs = [sf.Run.read(today, "today"), sf.Run.read(new, "new")]
    scores = sf.score(qrels, runs, "nDCG@5")

    def run(seed: int) -> sf.Decision:
        draws = sf.judge_next(runs[1], runs[0], "nDCG@5", 25, seed=seed)
        return look(scores, tmp_path / "state.json", "new", policy={"risk": 0.3}, drawn=draws)

    run(0)
    assert run(1).to_dict()["queries"] == 50
    with pytest.raises(DataError, match="an earlier batch already used these draws or the first of them"):
        run(1)


# The ledger.


def test_each_further_use_gets_less_of_delta(scores: sf.Scores, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"

    def run(candidate: str, **options: Any) -> dict[str, Any]:
        given = {"policy": POLICY} | options
        return sf.gate(scores, candidate=candidate, baseline="today", ledger=path, **given).to_dict()

    first, second = run("steady"), run("bold")
    assert first["ledger"]["use"] == 1
    assert first["delta"] == pytest.approx(0.05 * 6 / math.pi**2)
    assert second["ledger"]["use"] == 2
    assert second["delta"] == pytest.approx(0.05 * 6 / (4 * math.pi**2))
    again = run("steady")
    assert again["ledger"] == first["ledger"] | {"repeated": True}
    assert again["conditions"] == first["conditions"]
    assert run("steady", policy={"risk": 0.02})["ledger"]["use"] == 3
    said = sf.gate(scores, candidate="bold", baseline="today", policy=POLICY, ledger=path).to_text(width=1000)
    assert "decision number 2 with these queries" in said
    assert "true for candidates that were fixed before these queries gave any result" in said
    plain = sf.gate(scores, candidate="steady", baseline="today", policy=POLICY).to_dict()
    assert plain["ledger"] is None
    assert sum(LedgerUse(j, False, "").delta(0.05) for j in range(1, 10_000)) <= 0.05


def test_a_ledger_that_was_changed_is_refused(scores: sf.Scores, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    sf.gate(scores, candidate="steady", baseline="today", policy=POLICY, ledger=path)
    data = json.loads(path.read_text())
    for content in (json.dumps({**data, "sets": []}), "{}", '{"schema": "surefoot/ledger/1"}'):
        path.write_text(content)
        with pytest.raises(DataError, match=r"ledger\.json"):
            sf.gate(scores, candidate="bold", baseline="today", policy=POLICY, ledger=path)
        assert path.read_text() == content


PROGRAM = """
import sys, numpy as np, surefoot as sf
rng = np.random.default_rng(int(sys.argv[2]))
scores = sf.Scores(rng.random((2, 40)), ["today", "new"], [f"q{i}" for i in range(40)])
print(sf.gate(scores, baseline="today", policy={"gain": 0.9}, ledger=sys.argv[1]).to_dict()["ledger"]["use"])
"""


@pytest.mark.heavy
def test_programs_at_the_same_time_each_get_their_own_use(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), str(seed)], stdout=subprocess.PIPE, text=True)
        for seed in range(3)
    ]
    assert sorted(int(one.communicate()[0]) for one in started) == [1, 2, 3]


def test_draws_of_other_traffic_are_refused(tmp_path: Path) -> None:
    """Another W̄ is another claim."""
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(30)}
    today = sf.Run.read({query: {"a": 2.0, "b": 1.0} for query in qrels}, "today")
    new = sf.Run.read({query: {"a": 1.0, "b": 2.0} for query in qrels}, "new")
    scores = sf.score(qrels, [today, new], "nDCG@5")

    def with_draws(draws: Any) -> sf.Decision:
        return look(scores, tmp_path / "state.json", "new", policy={"risk": 0.9}, drawn=draws)

    draws = [sf.judge_next(new, today, "nDCG@5", 20) for _ in range(2)]
    with_draws(draws[0])
    with pytest.raises(DataError, match="was started with draws from other traffic"):
        with_draws(replace(draws[1], mean_weight=draws[1].mean_weight / 2))
    with pytest.raises(DataError, match="was started with other draws"):
        with_draws(sf.judge_next(new, today, "nDCG@5", 20, drawn_for="gain"))
    with_draws(draws[1])
