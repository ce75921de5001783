"""How far rankings moved, against SciPy's Kendall τ and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

import surefoot as sf
from surefoot.risk.churn import inversions


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10**6)), max_size=60, unique_by=lambda row: row[1]))
def test_inversions_by_counting(rows) -> None:
    group, values = (
        (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
        if rows
        else (np.empty(0, np.int64),) * 2
    )
    expected = np.zeros(5)
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            expected[group[i]] += group[i] == group[j] and values[i] > values[j]
    np.testing.assert_array_equal(inversions(group, values, 5), expected)


lists = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "q4"]),
    st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 5), min_size=1, max_size=10),
    min_size=1,
)


@given(lists, lists, st.sampled_from([None, 1, 3, 5]))
def test_against_scipy(one, other, depth) -> None:
    run, baseline = sf.read_run(one), sf.read_run(other)
    queries = ("q1", "q2", "q3", "q4")
    churn = sf.risk.compare_rankings(run, baseline, queries, depth)
    left_out = 0
    for i, query in enumerate(queries):
        mine = sorted(one.get(query, {}), key=lambda d: (one[query][d], d), reverse=True)[:depth]
        theirs = sorted(other.get(query, {}), key=lambda d: (other[query][d], d), reverse=True)[:depth]
        common = [d for d in mine if d in theirs]
        assert churn.reranked[i] == (mine != theirs)
        if len(common) < 2:
            left_out += 1
            assert np.isnan(churn.tau[i])
            assert churn.bins()[i] == -1
        else:
            tau = kendalltau(range(len(common)), [theirs.index(d) for d in common]).statistic
            assert churn.tau[i] == pytest.approx(tau, abs=1e-12)
            assert churn.bins()[i] == min(9, int(round(10 * (1 - tau) / 2, 9)))
    assert churn.left_out == left_out


def test_identical_runs_and_reversed_ones() -> None:
    data = sf.demo.runs(queries=10)
    same = sf.risk.compare_rankings(data.runs[0], data.runs[0])
    assert (same.share_reranked, same.mean_tau, same.mean_tau_reranked) == (0.0, 1.0, None)
    forward = sf.read_run({"q": {f"d{i}": float(i) for i in range(5)}})
    backward = sf.read_run({"q": {f"d{i}": float(-i) for i in range(5)}})
    churn = sf.risk.compare_rankings(forward, backward)
    assert (churn.mean_tau, churn.bins().tolist()) == (-1.0, [9])
