"""Preference gains: Table 1 of Bennett et al. (2015), the target order's properties, a slow loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.clicks.labels import lowest_click_plus_one, preference_gains
from surefoot.errors import ArgumentError

SIXTH = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
lists_of_grades = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12), min_size=1, max_size=6)


def ndcg(gains: np.ndarray, order: list[int]) -> float:
    """nDCG@10 with linear gains of results (numbered from 1) in an order, by the measure that rankers learn with."""
    data = sf.RankingData(np.zeros((len(gains), 1)), gains, group=[len(gains)])
    place = {result: rank for rank, result in enumerate(order)}
    run = data.to_run([-place[number] for number in range(1, len(gains) + 1)], "x")
    return float(sf.score(data.qrels(), [run], "nDCG@10").values[0, 0])


def test_table_1() -> None:
    gains = preference_gains(SIXTH, [10], alpha=1, beta=0.5)
    np.testing.assert_allclose(gains, [4, 3.5, 3, 2.5, 2, 9, 1.5, 1, 0.5, 0])
    shown, a, b = list(range(1, 11)), [6, 1, 2, 3, 4, 5, 7, 8, 9, 10], [6, 5, 4, 3, 2, 1, 7, 8, 9, 10]
    assert ndcg(gains, shown) == pytest.approx(0.798, abs=5e-4)
    assert ndcg(gains, a) == 1
    assert ndcg(gains, b) < 1
    assert ndcg(preference_gains(SIXTH, [10], beta=0.05), shown) == pytest.approx(0.434, abs=5e-4)
    clicks = np.array(SIXTH, dtype=float)
    assert ndcg(clicks, a) == ndcg(clicks, b)  # clicks alone do not tell them apart


@given(lists_of_grades, st.floats(0.02, 5), st.floats(0.001, 0.99))
def test_satisfied_results_first_and_each_group_as_shown(lists: list[list[int]], alpha: float, share: float) -> None:
    gains = preference_gains(np.concatenate(lists), [len(one) for one in lists], alpha, alpha * share)
    start = 0
    for one in lists:
        own = gains[start : start + len(one)]
        start += len(one)
        order = np.argsort(-own, kind="stable").tolist()
        expected = sorted(range(len(one)), key=lambda i: (-one[i], i))
        for grade in (0, 1, 2):
            same = [i for i in order if one[i] == grade]
            assert same == sorted(same)
        if max(one) <= 1:  # with one grade, all that satisfied stand above all that did not
            assert order == expected


@given(lists_of_grades)
def test_against_a_loop_over_pairs(lists: list[list[int]]) -> None:
    expected = []
    for one in lists:
        for i, mine in enumerate(one):
            total = 0.0
            for j, theirs in enumerate(one):
                total += 2.0 * (mine - theirs) if mine > theirs else 0.3 * (mine == theirs and i < j)
            expected.append(total)
    computed = preference_gains(np.concatenate(lists), [len(one) for one in lists], 2.0, 0.3)
    np.testing.assert_allclose(computed, expected, atol=1e-12)


@given(lists_of_grades)
def test_lowest_click_plus_one_against_a_loop(lists: list[list[int]]) -> None:
    expected = []
    for one in lists:
        clicked = [i for i, grade in enumerate(one) if grade]
        expected += [bool(clicked) and i <= max(clicked) + 1 for i in range(len(one))]
    computed = lowest_click_plus_one(np.concatenate(lists), [len(one) for one in lists])
    assert computed.tolist() == expected


@pytest.mark.parametrize(
    ("grades", "lengths", "weights", "message"),
    [
        ([0, 1], [2], (0.5, 0.5), "alpha above beta"),
        ([0, 1], [2], (1, 0), "beta above 0"),
        ([0, 1], [2], (float("nan"), 0.1), "alpha is nan"),
        ([0, 1], [3], (1, 0.5), "add up to 3, but there are 2"),
        ([0, -1], [2], (1, 0.5), "at least 0"),
        ([0, float("nan")], [2], (1, 0.5), "finite"),
        ([0, 1], [2, 0], (1, 0.5), "at least 1"),
        ([0, 1], [1.5, 0.5], (1, 0.5), "whole numbers"),
    ],
)
def test_what_cannot_be(grades, lengths, weights, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        preference_gains(grades, lengths, *weights)
