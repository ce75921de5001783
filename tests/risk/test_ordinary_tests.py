"""The usual tests against published examples, SciPy, and loops that are obviously right."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.risk.ordinary_tests import (
    DRAWS,
    hsd_test,
    randomisation_test,
    randomised_hsd_test,
    wilcoxon_test,
)

# Darwin's maize, of which Fisher (The Design of Experiments, 1935, §21) counted all signs.
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
# Hollander and Wolfe (1973), p. 29: depression before and after; also the example of R's wilcox.test.
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
# Montgomery, Design and Analysis of Experiments, Example 4.1: vascular grafts, four pressures × six batches.
GRAFTS = [
    [90.3, 89.2, 98.2, 93.9, 87.4, 97.9],
    [92.5, 89.5, 90.6, 94.7, 87.0, 95.8],
    [85.5, 90.8, 89.6, 86.2, 88.0, 93.4],
    [82.5, 89.5, 85.6, 87.4, 78.9, 90.7],
]
# Few values, so that ties and zeros are frequent.
DIFFERENCES = st.lists(st.sampled_from([-0.5, -0.25, -0.1, 0.0, 0.1, 0.1, 0.25, 0.3, 0.7]), min_size=1, max_size=11)


def test_fishers_count_of_darwins_maize() -> None:
    result = randomisation_test(MAIZE, np.zeros(15))
    assert result.exact
    assert result.p == 1726 / 2**15
    assert result.statistic == pytest.approx(314 / 15)


def test_wilcoxon_of_hollander_and_wolfe() -> None:
    result = wilcoxon_test(BEFORE, AFTER)
    assert (result.statistic, result.exact) == (40.0, True)
    assert result.p == pytest.approx(2 * 0.01953, abs=1e-5)


def test_hsd_of_montgomerys_grafts() -> None:
    result = hsd_test(GRAFTS, 0)
    means = np.mean(GRAFTS, axis=1)
    # MSE = 7.33 with 15 degrees of freedom, as the book has it.
    np.testing.assert_allclose(result.q, np.abs(means - means[0]) / np.sqrt(7.33 / 6), rtol=1e-3)
    # The tables' q(0.05; 4, 15) is 4.08: of the pressures only 9100 differs from 8500 at 5 %.
    assert stats.studentized_range.sf(4.08, 4, 15) == pytest.approx(0.05, abs=4e-4)
    assert (result.p < 0.05).tolist() == [False, False, False, True]
    np.testing.assert_allclose(result.p, stats.studentized_range.sf(result.q, 4, 15), atol=1e-12)
    assert result.p[0] == 1.0


def test_the_studentized_range_gives_the_p_of_rs_example() -> None:
    """TukeyHSD's own example in R, `warpbreaks` by wool and tension: the differences and "p adj" that it prints."""
    mean_square = 134.957778  # of the residuals, on 50 degrees of freedom; 18 looms per tension
    for difference, printed in ((10.0, 0.0336262), (14.722222, 0.0011218), (4.722222, 0.4474210)):
        q = difference / np.sqrt(mean_square / 18)
        assert stats.studentized_range.sf(q, 3, 50) == pytest.approx(printed, abs=5e-7)


def test_hsd_of_two_systems_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random((2, 30))
    assert hsd_test(scores, 0).p[1] == pytest.approx(stats.ttest_rel(*scores).pvalue, abs=1e-8)


def every_sign(difference: np.ndarray) -> np.ndarray:
    return np.array(list(itertools.product([1, -1], repeat=len(difference)))).reshape(-1, len(difference))


@given(DIFFERENCES)
def test_exact_ps_are_shares_of_all_signs(values: list[float]) -> None:
    difference = np.array(values)
    moved = difference[difference != 0]
    signs, ranks = randomisation_test(difference, 0 * difference), wilcoxon_test(difference, 0 * difference)
    if not len(moved):
        assert signs is ranks is None
        return
    sums = np.abs(every_sign(moved) @ moved)
    assert signs.p == np.mean(sums >= abs(moved.sum()) - 1e-9)
    rank = stats.rankdata(np.abs(difference))[difference != 0]  # zeros are ranked, then left out: Pratt
    w = np.array([rank[row > 0].sum() for row in every_sign(moved)])
    found = rank[moved > 0].sum()
    assert ranks.statistic == found
    assert ranks.p == pytest.approx(min(1.0, 2 * min(np.mean(w <= found), np.mean(w >= found))), abs=1e-12)


@pytest.mark.parametrize("queries", [5, 12, 30, 50])
def test_wilcoxon_without_ties_is_scipys(queries: int) -> None:
    difference = np.random.default_rng(queries).normal(0.2, 1, queries)
    expected = stats.wilcoxon(difference, zero_method="pratt", method="exact")
    assert wilcoxon_test(difference, 0 * difference).p == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize("zeros", [0, 40])
def test_wilcoxon_of_many_queries_with_ties_and_zeros_is_scipys(zeros: int) -> None:
    rng = np.random.default_rng(zeros)
    difference = np.concatenate([rng.integers(-6, 9, 150) / 8, np.zeros(zeros)])
    expected = stats.wilcoxon(difference, zero_method="pratt", correction=False, method="asymptotic")
    result = wilcoxon_test(difference, 0 * difference)
    assert (result.p, result.exact) == (pytest.approx(expected.pvalue, abs=1e-12), False)


def test_drawn_signs_are_near_scipys_and_the_same_for_a_seed() -> None:
    rng = np.random.default_rng(2)
    model, baseline = rng.random(60) + 0.08, rng.random(60)
    result = randomisation_test(model, baseline, seed=5)
    expected = stats.permutation_test(
        (model, baseline), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=20_000, rng=1
    )
    assert result.p == pytest.approx(expected.pvalue, abs=0.01)
    assert result == randomisation_test(model, baseline, seed=5)
    assert result.p != randomisation_test(model, baseline, seed=6).p
    assert result.p * (1 + DRAWS) == pytest.approx(round(result.p * (1 + DRAWS)))


def test_a_randomised_hsd_is_the_share_of_all_permutations() -> None:
    scores = np.array([[0.5, 0.25, 0.75], [0.25, 0.5, 0.125], [0.75, 1.0, 1.0]])
    apart = np.abs(scores.mean(axis=1) - scores.mean(axis=1)[0])
    ranges = [
        np.ptp(np.mean(np.stack(columns, axis=1), axis=1))
        for columns in itertools.product(*(list(itertools.permutations(column)) for column in scores.T))
    ]
    expected = [np.mean(np.array(ranges) >= one - 1e-12) for one in apart]
    result = randomised_hsd_test(scores, 0, draws=20_000, seed=3)
    np.testing.assert_allclose(result.p, expected, atol=0.012)
    assert result.p[0] == 1.0


@pytest.mark.parametrize("draws", [1, 99])
def test_the_scores_themselves_are_one_of_the_draws_of_a_randomised_hsd(draws: int) -> None:
    """Of two systems that are 1 apart on each of 40 queries, a draw in 2⁴⁰ is as extreme: none of these."""
    result = randomised_hsd_test(np.vstack([np.zeros(40), np.ones(40)]), 0, draws=draws)
    assert result.p.tolist() == [1.0, 1 / (1 + draws)]


def test_a_randomised_hsd_agrees_with_tukeys_on_normal_scores() -> None:
    """Where systems do not differ much: permuting also spreads what systems differ by."""
    scores = np.random.default_rng(4).normal(size=(4, 200))
    np.testing.assert_allclose(randomised_hsd_test(scores, 0).p, hsd_test(scores, 0).p, atol=0.02)


@pytest.fixture(scope="module")
def scores() -> sf.Scores:
    rng = np.random.default_rng(7)
    base = rng.random(40)
    noise = rng.normal([[0.02], [0.05], [-0.04]], 0.1, (3, 40))
    return sf.Scores(np.vstack([base, base + noise]), ["today", "a", "b", "c"], [f"q{i}" for i in range(40)], "AP")


def test_an_assessment_has_the_tests_with_holms_correction(scores: sf.Scores) -> None:
    data = sf.assess(scores, "today", [0, 5], tests=True).to_dict()
    rows = {row["system"]: row["tests"] for row in data["systems"]}
    assert rows["today"] == {"t": None, "wilcoxon": None, "randomisation": None, "hsd": None}
    for name, function in {"t": stats.ttest_rel, "wilcoxon": stats.wilcoxon}.items():
        expected = {system: function(scores[system], scores["today"]).pvalue for system in "abc"}
        assert {system: rows[system][name]["p_value"] for system in "abc"} == pytest.approx(expected, abs=1e-9)
        assert [rows[system][name]["p_holm"] for system in "abc"] == sf.risk.holm(
            [rows[system][name]["p_value"] for system in "abc"]
        )
    assert rows["a"]["t"]["statistic"] == pytest.approx(stats.ttest_rel(scores["a"], scores["today"]).statistic)
    assert rows["a"]["hsd"]["p_value"] == hsd_test(scores.values, 0).p[1]
    assert data["tests"] == {
        "draws": DRAWS, "seed": 0, "hsd": "studentized range", "hsd_draws": None, "hsd_systems": 4, "hsd_reason": None,
    }  # fmt: skip
    assert "tests" not in sf.assess(scores, "today", [0, 5]).to_dict()


def test_where_there_is_no_hsd_and_what_is_refused(scores: sf.Scores) -> None:
    data = sf.assess(scores, "mean", [5], tests=True).to_dict()
    assert data["systems"][0]["tests"]["hsd"] is None
    assert data["tests"]["hsd_reason"] == "the baseline, the per-query mean of systems, is not a system"
    assert data["systems"][0]["tests"]["t"] is not None
    shifted = sf.Scores(np.vstack([scores["a"], scores["a"] + 0.25]), ["a", "b"], scores.queries)
    data = sf.assess(shifted, "a", [5], tests=True).to_dict()
    assert data["tests"]["hsd_reason"] == "the systems differ by the same amount on every query"
    assert data["systems"][1]["tests"]["t"] is None
    assert data["systems"][1]["tests"]["wilcoxon"]["p_value"] < 1e-6
    one = sf.assess({"a": {"q": 0.5}, "b": {"q": 0.25}}, "a", [5], tests=True).to_dict()
    assert one["tests"]["hsd_reason"] == "it needs at least two systems and two queries"
    with pytest.raises(ArgumentError, match="compare with one baseline, but several are given"):
        sf.assess(scores, ["today", "a"], [5], tests=True)
    traffic = {query: number + 1 for number, query in enumerate(scores.queries)}
    with pytest.raises(ArgumentError, match="the usual tests do not take weights of queries"):
        sf.assess(scores, "today", [5], tests=True, traffic=traffic)
    with pytest.raises(ArgumentError, match="matrix of finite scores"):
        hsd_test([[1.0, 2.0]], 0)


def test_renderings(scores: sf.Scores, tmp_path) -> None:
    assessment = sf.assess(scores, "today", [5], tests="hsd")
    text = " ".join(assessment.to_text().split())
    assert "The usual tests against today: two-sided p-values of plain differences (α = 0)" in text
    assert "HSD: randomised, 10,000 draws, corrected for all pairs of 4 systems" in text
    assert "corrected for 3 comparisons (Holm)" in text
    assert "| system | t | Wilcoxon | randomisation | HSD |" in assessment.to_markdown()
    header = assessment.to_csv().splitlines()[0].split(",")
    assert {"t", "p_t", "p_t_holm", "p_wilcoxon", "p_randomisation_holm", "q_hsd", "p_hsd"} <= set(header)
    assert assessment.rows("p_hsd")[0]["system"] in "abc"
    again = sf.Assessment.from_dict(assessment.to_dict(per_query=True))
    assert again.to_dict() == assessment.to_dict()
    assessment.write(tmp_path / "page.html")
    page = assessment.to_html()
    assert "The usual tests by <bdi>AP</bdi>" in page
    assert "The usual tests" not in sf.assess(scores, "today", [5]).to_html()
    assert (
        assessment.to_metrics()["AP/a/tests/t/p_value"] == assessment.to_dict()["systems"][1]["tests"]["t"]["p_value"]
    )


def test_evaluating_without_tests_does_not_load_scipys_statistics() -> None:
    code = """
import sys, surefoot as sf
sf.assess({"a": {"1": 0.5, "2": 0.2}, "b": {"1": 0.3, "2": 0.4}}, "a").to_text()
assert "scipy.stats" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
