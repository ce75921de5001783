"""The betting order: random, each sample's own, the same whatever the files' order."""

from __future__ import annotations

import hashlib
import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.decide.evidence.judged_queries import betting_order

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
