"""U_Risk and its parts: invariants at random, and what is refused; scores in tenths give what whole numbers give."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from scipy import stats

import surefoot as sf
from surefoot.decide.evidence.conditions import CONDITIONS
from surefoot.decide.history.history_files import is_hurt, is_hurt_over_20
from surefoot.errors import ArgumentError
from surefoot.learn.criteria import history_figures
from surefoot.risk.ordinary_tests import randomisation_test, wilcoxon_test
from surefoot.risk.tradeoff import count_losing_over_20, difference_of, lowest_mean, which_lose_over_20

unit = st.floats(0, 1, allow_subnormal=False)
pairs = st.integers(1, 30).flatmap(
    lambda n: st.tuples(nps.arrays(float, n, elements=unit), nps.arrays(float, n, elements=unit))
)
alphas = st.floats(0, 50)


@given(pairs, alphas)
def test_u_risk_is_reward_minus_weighted_risk(pair, alpha: float) -> None:
    m, b = pair
    reward, risk = np.maximum(m - b, 0).mean(), np.maximum(b - m, 0).mean()
    assert sf.u_risk(m, b, alpha) == pytest.approx(reward - (1 + alpha) * risk, abs=1e-9)
    assert sf.u_risk(m, b) == pytest.approx(m.mean() - b.mean(), abs=1e-12)


@given(pairs, alphas, alphas)
def test_u_risk_falls_with_alpha_and_does_not_mind_the_order(pair, one: float, other: float) -> None:
    m, b = pair
    low, high = sorted((one, other))
    assert sf.u_risk(m, b, high) <= sf.u_risk(m, b, low) + 1e-12
    order = np.random.default_rng(0).permutation(len(m))
    assert sf.u_risk(m[order], b[order], one) == pytest.approx(sf.u_risk(m, b, one), abs=1e-9)


def test_worst_mean_is_the_mean_of_the_lowest() -> None:
    rng = np.random.default_rng(0)
    m, b = rng.random(200), rng.random(200)
    assert sf.risk.worst_mean(m, b, 0.05) == pytest.approx(np.sort(m - b)[:10].mean())
    assert sf.risk.worst_mean(m, b, 1.0) == pytest.approx((m - b).mean())
    assert sf.risk.worst_mean(m, b, 1e-9) == (m - b).min()
    assert lowest_mean(np.arange(39.0), 0.05) == 0  # of 1.95 queries the whole ones: one


def test_loss_over_20_counts_relative_losses_only() -> None:
    model, baseline = np.array([0.79, 0.8, 0.0, 0.5, -0.1, -0.9]), np.array([1.0, 1.0, 0.0, 0.5, 0.0, -0.5])
    assert count_losing_over_20(model - baseline, baseline) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], [0.1, 0.2], 0), "model has 1 scores, baseline 2"),
        (([], [], 0), "one score per query"),
        (([[0.1]], [[0.1]], 0), "one score per query"),
        (([np.nan], [0.1], 0), r"model\[0\] is nan"),
        (([0.1], [np.inf], 0), r"baseline\[0\] is inf"),
        (([0.1], [0.1], -1), "alpha is -1; it must be a number from 0 to 1,000,000"),
        (([0.1], [0.1], np.nan), "alpha is nan"),
        (([0.1], [0.1], "much"), "alpha is 'much'"),
        (([0.1], [0.1], True), "alpha is True"),
        (([0.1], [0.1], np.bool_(True)), "alpha is np.True_"),
        (([0.1], [0.1], np.timedelta64(1, "D")), "alpha is np.timedelta64"),
        (([0.1], [0.1], 1 + 0j), "alpha is"),
    ],
)
def test_what_is_refused(arguments, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        sf.u_risk(*arguments)
    with pytest.raises(ValueError):  # noqa: PT011  (users may catch it as such)
        sf.u_risk(*arguments)


def test_a_share_is_the_decimal_that_was_written() -> None:
    differences = np.arange(100.0)
    for hundredths in range(1, 101):
        share = hundredths / 100
        assert lowest_mean(differences, share) == pytest.approx((hundredths - 1) / 2), share  # floor(0.29 · 100) is 29
    assert lowest_mean(np.arange(1000.0), 0.0029) == pytest.approx(0.5)


Pairs = list[tuple[int, int]]
MODEL, BASELINE = [3, 4, 5, 6, 7, 1], [2, 3, 4, 5, 6, 2]

few_queries = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=9)
many_queries = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=2, max_size=80)
large = st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(-5, 5)), min_size=1, max_size=9)


def columns(pairs: Pairs, divisor: int) -> tuple[np.ndarray, np.ndarray]:
    values = np.array(pairs, dtype=float) / divisor
    return values[:, 0], values[:, 1]


def exact_wilcoxon(differences: list[int]) -> tuple[Fraction, Fraction] | None:
    """W+ and the two-sided p over all signs, zeros by Pratt: slow and obvious."""
    sizes = sorted(map(abs, differences))
    rank = {
        size: Fraction(sum(1 + at for at, one in enumerate(sizes) if one == size), sizes.count(size)) for size in sizes
    }
    moved = [difference for difference in differences if difference]
    if not moved:
        return None
    ranks = [rank[abs(difference)] for difference in moved]
    observed = sum((own for own, difference in zip(ranks, moved, strict=True) if difference > 0), Fraction())
    sums = [
        sum((own for own, sign in zip(ranks, signs, strict=True) if sign), Fraction())
        for signs in product((0, 1), repeat=len(ranks))
    ]
    low = min(observed, sum(ranks) - observed)
    return observed, min(Fraction(1), 2 * Fraction(sum(one <= low for one in sums), len(sums)))


def test_wilcoxon_of_the_example() -> None:
    """Five rises of a tenth and one fall: all share rank 3.5, and 14 of 64 signs are as extreme."""
    test = wilcoxon_test(np.array(MODEL) / 10, np.array(BASELINE) / 10)
    assert test == (17.5, 0.21875, True)
    by_scipy = stats.wilcoxon(MODEL, BASELINE, method=stats.PermutationMethod(n_resamples=1000))
    assert by_scipy.pvalue == pytest.approx(0.21875)


@settings(deadline=None)
@given(few_queries)
def test_wilcoxon_is_the_count_over_all_signs(pairs: Pairs) -> None:
    expected = exact_wilcoxon([model - baseline for model, baseline in pairs])
    for divisor in (1, 3, 10, 7):
        test = wilcoxon_test(*columns(pairs, divisor))
        assert (test is None) == (expected is None)
        if test is not None and expected is not None:
            assert test.statistic == float(expected[0])
            assert test.p == pytest.approx(float(expected[1]), abs=1e-12)


@settings(deadline=None)
@given(many_queries, st.sampled_from([3, 7, 10, 1000]))
def test_tests_of_tenths_are_those_of_whole_numbers(pairs: Pairs, divisor: int) -> None:
    parts, whole = columns(pairs, divisor), columns(pairs, 1)
    assert wilcoxon_test(*parts) == wilcoxon_test(*whole)
    by_signs = [randomisation_test(*each, draws=500) for each in (parts, whole)]
    assert (by_signs[0] is None) == (by_signs[1] is None)
    if by_signs[0] is not None and by_signs[1] is not None:
        assert by_signs[0].p == by_signs[1].p
    for alpha in (0, 5):
        found, expected = (sf.risk.query_scores(*each, alpha) for each in (parts, whole))
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert found.t_j == pytest.approx(expected.t_j, abs=1e-6)
            assert (np.abs(found.t_j) > found.critical).tolist() == (np.abs(expected.t_j) > expected.critical).tolist()


@settings(deadline=None)
@given(st.one_of(few_queries, large), st.sampled_from([1, 3, 7, 10, 1000]))
def test_counts_are_those_of_fractions(pairs: Pairs, divisor: int) -> None:
    model, baseline = columns(pairs, divisor)
    difference = difference_of(model, baseline)
    assert np.sign(difference).tolist() == [(one > other) - (one < other) for one, other in pairs]
    hurt = [other > 0 and Fraction(one - other, other) < Fraction(-1, 5) for one, other in pairs]
    assert which_lose_over_20(difference, baseline).tolist() == hurt
    assert [is_hurt(*pair) for pair in zip(baseline, model, strict=True)] == [one < other for one, other in pairs]
    assert [is_hurt_over_20(*pair) for pair in zip(baseline, model, strict=True)] == hurt
    figures = history_figures(model, baseline[None])
    assert figures["wins"] == sum(one > other for one, other in pairs)
    assert figures["losses"] == sum(one < other for one, other in pairs)


@settings(deadline=None)
@given(few_queries)
def test_conditions_are_those_of_fractions(pairs: Pairs) -> None:
    candidate, baseline = columns(pairs, 12)
    values = CONDITIONS["share_hurt"].values(candidate, baseline, 0.0)
    assert values.tolist() == [other > 0 and 5 * (other - one) > other for one, other in pairs]
    assert (CONDITIONS["risk"].values(candidate, baseline, 0.0) > 0).tolist() == [one < other for one, other in pairs]
    assert (CONDITIONS["gain"].values(candidate, baseline, 0.0) > 0).tolist() == [one > other for one, other in pairs]


SHOWN = ("wins", "losses", "ties", "loss_over_20", "wins_over_losses")


def test_rounding_of_a_mean_makes_no_wins() -> None:
    """Three systems that are alike: the mean of 0.1 three times is a little more than 0.1."""
    scores = sf.Scores([[0.1, 0.7]] * 3, list("abc"), ["q1", "q2"])
    for system in sf.assess(scores, "mean").to_dict()["systems"]:
        assert (system["wins"], system["losses"], system["risk"]) == (0, 0, 0.0)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(*[st.integers(0, 10)] * 3), min_size=2, max_size=12), st.sampled_from(["a", "mean", "median"])
)
def test_assessments_of_tenths(rows: list[Any], baseline: str) -> None:
    """Counts of an assessment, of all queries and of segments; and its tests."""
    values, names = np.array(rows, dtype=float).T, [f"q{number}" for number in range(len(rows))]
    segments = {"kind": {name: "even" if number % 2 == 0 else "odd" for number, name in enumerate(names)}}
    found = []
    for divisor in (1, 10):
        scores = sf.Scores(values / divisor, list("abc"), names)
        data = sf.assess(scores, baseline, alphas=[0], segments=segments, tests=True).to_dict()
        counts = [[row[key] for key in SHOWN] for row in data["systems"]]
        found.append({
            "counts": counts,
            "segments": [[row[key] for key in SHOWN] for part in data["segments"] for row in _systems(part)],
            "tests": [
                [row["tests"][name] and row["tests"][name]["p_value"] for name in ("wilcoxon", "randomisation")]
                for row in data["systems"]
            ],
            "worst": [row["worst_mean"] * divisor for row in data["systems"]],
        })  # fmt: skip
    whole, tenths = found
    assert len(whole["segments"]) == 6
    assert tenths.pop("worst") == pytest.approx(whole.pop("worst"))
    assert tenths == whole


def _systems(part: Any) -> list[Any]:
    """The rows of systems, wherever they stand in the segments' block."""
    if isinstance(part, dict):
        return part["systems"] if "systems" in part else [row for each in part.values() for row in _systems(each)]
    return [row for each in part for row in _systems(each)] if isinstance(part, list) else []


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(*[st.integers(0, 10)] * 2), min_size=3, max_size=12))
def test_picks_of_tenths(rows: list[Any]) -> None:
    values, names = np.array(rows, dtype=float).T, [f"q{number}" for number in range(len(rows))]
    whole, tenths = (
        sf.stability.subsets(sf.Scores(values / divisor, list("ab"), names), sizes=[2], subsets=50).to_dict()["results"]
        for divisor in (1, 10)
    )
    assert [one["rate"] for one in whole.values()] == [one["rate"] for one in tenths.values()]
    assert [one["winner"] for one in whole.values()] == [one["winner"] for one in tenths.values()]


def test_sums_in_two_orders_are_ties() -> None:
    scores = sf.Scores([[0.3, 0.6], [0.1 + 0.2, 0.3 + 0.2 + 0.1]], ["today", "new"], ["x", "y"])
    assert scores.values[0, 0] != scores.values[1, 0]
    [_, row] = sf.assess(scores, "today", alphas=[0]).to_dict()["systems"]
    assert (row["wins"], row["losses"], row["ties"]) == (0, 0, 2)


def test_whole_numbers_are_exact() -> None:
    """Neighbours up to 2⁵³ differ, however large they are."""
    most = 2.0**53
    model, baseline = np.array([most, most - 5, 7.0]), np.array([most - 1, most - 3, 5.0])
    assert difference_of(model, baseline).tolist() == [1, -2, 2]
    assert wilcoxon_test(model, baseline) == (1 + 2.5, 1.0, True)


def test_what_is_not_rounding_counts() -> None:
    small = 1e-9 * np.arange(1.0, 8.0)
    test = wilcoxon_test(0.5 + small, np.full(7, 0.5))
    assert test is not None
    assert test.statistic == 28
    difference = difference_of(np.array([0.3, 1e-30]), np.array([0.3 - 1e-11, 2e-30]))
    assert np.sign(difference).tolist() == [1, -1]
