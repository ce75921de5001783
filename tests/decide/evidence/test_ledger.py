"""The ledger: uses are counted by families of sets that share queries, and survive states, draws and programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.hashes import seal
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.ledger import Ledger, LedgerQuestion, sorted_scores
from surefoot.decide.gate import sample_size
from surefoot.decide.gate.gate import deciding
from surefoot.errors import DataError

POLICY = {"risk": 0.03, "gain": 0.0}


@pytest.fixture(autouse=True)
def few(monkeypatch) -> None:
    monkeypatch.setattr(sample_size, "MOST_QUERIES_TRIED", 300)


def names(start: int, end: int) -> list[str]:
    return [f"q{i}" for i in range(start, end)]


def uses(*sets: tuple[list[str], str] | tuple[list[str], str, int]) -> list[int]:
    ledger = Ledger()
    return [ledger.count(LedgerQuestion(queries, key, *seed)).number for queries, key, *seed in sets]


def test_a_set_that_differs_by_a_query_is_no_new_set() -> None:
    assert uses((names(0, 100), "a"), (names(1, 101), "b"), (names(0, 99), "c")) == [1, 2, 3]
    assert uses((names(0, 100), "a"), (names(100, 200), "b")) == [1, 1]


@pytest.mark.parametrize(("shared", "number"), [(9, 1), (10, 2)])
def test_a_tenth_of_either_set_makes_a_family(shared: int, number: int) -> None:
    small, large = names(0, 100), names(100 - shared, 1100 - shared)
    assert uses((small, "a"), (large, "b"))[1] == number
    assert uses((large, "a"), (small, "b"))[1] == number


def test_families_that_a_set_joins_become_one() -> None:
    first, second, both = names(0, 100), names(100, 200), names(50, 150)
    assert uses((first, "a"), (first, "b"), (second, "c"), (both, "d"), (second, "e"), (first, "f")) == [
        1,
        2,
        1,
        4,
        5,
        6,
    ]


def test_the_same_question_again_is_no_new_use() -> None:
    ledger = Ledger()
    one = LedgerQuestion(names(0, 10), "a")
    assert [ledger.count(one).number, ledger.count(LedgerQuestion(names(0, 10), "b")).number] == [1, 2]
    again = ledger.count(one)
    assert (again.number, again.repeated) == (1, True)


def test_fresh_draws_are_new_sets_and_a_seed_is_a_family() -> None:
    queries = names(0, 50)
    assert uses((queries, "a", 1), (queries, "b", 2), (queries, "c", 1), (queries, "d")) == [1, 1, 2, 1]


def test_what_a_decision_depends_on_is_in_its_key() -> None:
    flags = {"x": np.array([True, False]), "y": np.array([True, True])}
    sample = JudgedQueries(("a", "b"), np.array([0.1, 0.2]), np.array([0.3, 0.4]), members=flags)
    other = JudgedQueries(("a", "b"), np.array([0.1, 0.2]), np.array([0.3, 0.4]), members={**flags, "x": flags["y"]})
    turned = JudgedQueries(
        ("b", "a"), np.array([0.2, 0.1]), np.array([0.4, 0.3]), members={name: one[::-1] for name, one in flags.items()}
    )
    assert sorted_scores(sample) == sorted_scores(turned) != sorted_scores(other)


@pytest.fixture(scope="module")
def scores() -> sf.Scores:
    made = sf.synthetic_runs()
    return sf.score(made.qrels, made.runs, "nDCG@10")


def batch(scores: sf.Scores, start: int, end: int) -> sf.Scores:
    return scores.only(range(start, end))


def test_subsets_of_one_pool_are_counted_together(scores: sf.Scores, tmp_path: Path) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "ledger.json"
    found = []
    for _ in range(4):
        some = scores.only(rng.choice(200, 80, replace=False))
        decision = sf.gate(some, candidate="steady", baseline="today", policy=POLICY, ledger=path)
        found.append(decision.to_dict()["ledger"]["use"])
    assert found == [1, 2, 3, 4]


def test_left_out_queries_belong_to_the_set(tmp_path: Path) -> None:
    today = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(40)}
    runs = {"today": today, "new": today}
    path = tmp_path / "ledger.json"

    def use(relevant: range) -> int:
        qrels = {query: {"a": int(i in relevant)} for i, query in enumerate(today)}
        decision = sf.gate(sf.score(qrels, runs, "AP"), baseline="today", policy={"risk": 0.9}, ledger=path)
        return decision.to_dict()["ledger"]["use"]

    assert [use(range(20)), use(range(20, 40))] == [1, 2]


def test_a_state_is_one_use(scores: sf.Scores, tmp_path: Path) -> None:
    path, ledger = tmp_path / "state.json", tmp_path / "ledger.json"

    def look(start: int, end: int, **options: Any) -> dict[str, Any]:
        given: dict[str, Any] = {"candidate": "steady", "baseline": "today", "policy": POLICY, "budget": 200,
                                 "state": path, "ledger": ledger}  # fmt: skip
        return sf.gate(batch(scores, start, end), **(given | options)).to_dict()

    first, second = look(0, 60), look(60, 100)
    assert [first["ledger"]["use"], second["ledger"]["use"], second["ledger"]["repeated"]] == [1, 1, True]
    assert first["delta"] == second["delta"] < 0.05
    with pytest.raises(DataError, match="was started with a ledger"):
        look(100, 120, ledger=None)
    sf.gate(batch(scores, 150, 200), candidate="bold", baseline="today", policy=POLICY, ledger=ledger)
    before = path.read_bytes(), ledger.read_bytes()
    with pytest.raises(DataError, match="were used for other decisions"):
        look(140, 170)
    assert (path.read_bytes(), ledger.read_bytes()) == before
    look(100, 150)
    other = sf.gate(batch(scores, 90, 110), candidate="bold", baseline="today", policy=POLICY, ledger=ledger)
    assert other.to_dict()["ledger"]["use"] == 2  # the state's queries are all known


def test_a_state_is_not_written_before_its_ledger(scores: sf.Scores, tmp_path: Path, monkeypatch) -> None:
    from surefoot.decide.evidence import ledger

    def full(*_: Any, **__: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(ledger, "write_text", full)
    path = tmp_path / "state.json"
    with (
        pytest.raises(OSError, match="no space"),
        deciding(scores, "steady", "today", POLICY, budget=200, state=path, ledger=tmp_path / "ledger.json"),
    ):
        pass
    assert not path.exists()


def test_draws_that_were_never_decided_on_are_told(tmp_path: Path) -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(40)}
    runs = [sf.Run.read({q: {"a": 2.0, "b": 1.0} for q in qrels}, "today"),
            sf.Run.read({q: {"b": 2.0, "a": 1.0} for q in qrels}, "new")]  # fmt: skip
    path = tmp_path / "ledger.json"
    draws = [sf.judge_next(runs[1], runs[0], "AP", 20) for _ in range(3)]
    path.write_text(json.dumps(seal(Ledger(seeds=[one.seed for one in draws]).to_dict())))
    decision = sf.gate(sf.score(qrels, runs, "AP"), baseline="today", policy={"risk": 0.9}, drawn=draws[1], ledger=path)
    assert decision.to_dict()["ledger"]["unused_draws"] == 2
    assert "2 draws were made but not used in a decision" in decision.to_text(width=1000)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "surefoot/ledger/1"}, {"sets": {}}, {"sets": [{}]}, {"seeds": [0.5]}, {"seeds": None},
        {"sets": [{"family": 1, "queries": "", "seeds": [], "uses": {}}]},
        {"sets": [{"family": "1", "queries": "ab", "seeds": [], "uses": {}}]},
        {"sets": [{"family": 1, "queries": "ab", "seeds": ["x"], "uses": {}}]},
        {"sets": [{"family": 1, "queries": "ab", "seeds": [], "uses": {"k": True}}]},
        {"sets": [{"family": 1, "queries": 5, "seeds": [], "uses": {}}]},
    ],
)  # fmt: skip
def test_a_ledger_that_is_not_one_is_refused_though_its_hash_fits(scores: sf.Scores, tmp_path: Path, change) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(seal(Ledger().to_dict() | change)))
    with pytest.raises(DataError, match=r"ledger\.json"):
        sf.gate(scores, candidate="bold", baseline="today", policy=POLICY, ledger=path)
