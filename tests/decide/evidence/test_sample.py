"""How the judged queries were chosen, from what users give for `sample`, and the order in which they are bet on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.decide.evidence.judged_queries import betting_order
from surefoot.decide.evidence.sample import read_sample
from surefoot.errors import SurefootError


def test_a_file_is_what_it_holds(tmp_path: Path) -> None:
    assert read_sample(None) is None
    today, new = {"q1": ["a", "b"], "q2": ["a", "b"]}, {"q1": ["a", "b"], "q2": ["b", "a"]}
    draws = sf.judge_next({"today": today, "new": new}, baseline="today", n=5, seed=1)
    draws.write(tmp_path / "draws.json")
    read = read_sample(tmp_path / "draws.json")
    assert isinstance(read, sf.Draws)
    assert read.to_dict() == draws.to_dict()
    (tmp_path / "strata.csv").write_text("query,stratum,share\nq1,head,0.75\nq2,head,0.75\nq3,tail,0.25\n")
    strata = read_sample(tmp_path / "strata.csv")
    assert isinstance(strata, sf.Strata)
    assert strata.shares == {"head": 0.75, "tail": 0.25}
    assert strata.stratum_of == {"q1": "head", "q2": "head", "q3": "tail"}
    assert read_sample(strata) is strata


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,stratum\nq1,head\n", "expected three columns"),
        ("query,stratum,share\nq1,head,0.75\nq2,head,0.5\n", "a stratum has one share of traffic"),
        ("query,stratum,share\nq1,head,0.75\nq2,tail,0.5\n", "sum to 1.25"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(SurefootError, match=message):
        read_sample(tmp_path / "s.csv")


@pytest.mark.parametrize("wrong", [3, ["q1"], {"head": 0.5}])
def test_what_is_no_sample_is_refused(wrong: Any) -> None:
    with pytest.raises(SurefootError, match="give Draws, Strata, or a file"):
        read_sample(wrong)


def test_draws_keep_all_traffic_only_where_a_judge_speaks_for_it() -> None:
    runs = {"today": {"q1": ["a", "b"], "q2": ["a", "b"]}, "new": {"q1": ["b", "a"], "q2": ["b", "a"]}}
    judge = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}}
    traffic = {"q1": 3, "q2": 1}
    drawn = sf.judge_next(runs, baseline="today", n=5, seed=1, traffic=traffic)
    assert "traffic" not in drawn.to_dict()
    with_judge = sf.judge_next(runs, baseline="today", n=5, seed=1, traffic=traffic, automatic=judge)
    assert with_judge.to_dict()["traffic"] == traffic
    without: Any = {key: value for key, value in with_judge.to_dict().items() if key != "traffic"}
    with pytest.raises(SurefootError, match="no counts of all traffic"):
        sf.Draws.from_dict(without)


ids = st.lists(st.text(min_size=1), unique=True, min_size=1, max_size=30)


@given(ids)
def test_the_order_is_that_of_the_hashes_of_set_and_id(queries: list[str]) -> None:
    together = hashlib.sha256(json.dumps(sorted(queries)).encode()).hexdigest()
    slow = sorted(queries, key=lambda one: hashlib.sha256((together + one).encode()).hexdigest())
    assert [queries[place] for place in betting_order(queries)] == slow
    assert [queries[::-1][place] for place in betting_order(queries[::-1])] == slow


def test_half_a_character_is_an_id_too() -> None:
    assert betting_order(["\ud800"]).tolist() == [0]


def test_each_sample_has_an_order_of_its_own() -> None:
    """By the ids alone the same queries would come first in every sample."""
    rng = np.random.default_rng(0)
    first = [0] * 100
    for _ in range(400):
        sample = [str(one) for one in rng.choice(100, 50, replace=False)]
        first[int(sample[betting_order(sample)[0]])] += 1
    assert max(first) < 20


def test_a_decision_bets_in_that_order_on_what_is_left() -> None:
    today = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(40)}
    qrels = {query: {"a": int(i % 4 > 0)} for i, query in enumerate(today)}
    runs = {"today": today, "new": {query: {"b": 2.0, "a": 1.0} for query in today}}
    held = sf.gate(sf.score(qrels, runs, "AP"), baseline="today", policy={"risk": 0.9}).to_dict()["per_query"]
    left = [query for i, query in enumerate(today) if i % 4 > 0]
    assert held["query"] == [left[place] for place in betting_order(left)]
