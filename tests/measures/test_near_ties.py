"""rNDCG and SoftNDCG: the paper's lists, slow loops, limits, and what scores at their extremes give.

The rank distribution against enumeration, its limits, its gradient, and a draw of the scores themselves.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measures.slow_ranking import ranked

import surefoot as sf
from surefoot.errors import DataError, MeasureError
from surefoot.measures import expected_discount
from surefoot.measures.near_ties import filled_ranks, percentiles
from surefoot.measures.rank_binomial import rank_distribution
from surefoot.measures.sigma import soft_ndcg_gradient

# Drawn runs may hold no judged document.
pytestmark = pytest.mark.filterwarnings("ignore:run .* none of its")


def value(grades: dict, scores: dict, measure: str) -> float:
    return float(sf.score({"q": grades}, sf.read_run({"q": scores}, name="x"), measure).values[0, 0])


def test_check_values() -> None:
    plain = "(normalize='none')@5"
    assert value({"a": 1}, {"a": 0.6, "b": 0.4}, "SoftNDCG" + plain) == pytest.approx(0.911515, abs=5e-7)
    first, second = ({"a": 2.1, "b": x, "c": 1.0} for x in (2.0, 1.5))
    assert value({"a": 1}, first, "rNDCG" + plain) == pytest.approx(0.833857, abs=5e-7)
    assert value({"a": 1}, second, "rNDCG" + plain) == pytest.approx(0.914569, abs=5e-7)
    # The paper's point: equal nDCG, yet the second list is safer, by either measure.
    assert value({"a": 1}, first, "nDCG@5") == value({"a": 1}, second, "nDCG@5") == 1.0
    assert value({"a": 1}, first, "SoftNDCG" + plain) < value({"a": 1}, second, "SoftNDCG" + plain)


def normalised(run: dict, how: str) -> dict:
    sample = [s for results in run.values() for s in results.values()]

    def percentile(s: float) -> float:
        return sum((x < s) + (x <= s) for x in sample) / (2 * len(sample))

    return run if how == "none" else {q: {d: percentile(s) for d, s in r.items()} for q, r in run.items()}


def ideal(grades, k, gain) -> float:
    best = sorted((gain(max(g, 0)) for g in grades.values()), reverse=True)[:k]
    return sum(g / math.log2(1 + r) for r, g in enumerate(best, start=1))


def slow_soft(documents, scores, grades, sigma, k, gain) -> float:
    total = 0.0
    for j in documents:
        p = [1.0] + [0.0] * len(documents)
        for i in documents:
            if i != j:
                pi = 0.5 * math.erfc((scores[j] - scores[i]) / (2 * sigma))
                p = [(p[r - 1] * pi if r else 0.0) + p[r] * (1 - pi) for r in range(len(p))]
        total += gain(max(grades.get(j, 0), 0)) * sum(x / math.log2(2 + r) for r, x in enumerate(p[:k]))
    best = ideal(grades, k, gain)
    return total / best if best else 0.0


def slow_rndcg(documents, scores, grades, sigma, k, gain) -> float:
    n = len(documents)

    def g(r: int) -> float:
        return gain(max(grades.get(documents[r - 1], 0), 0)) if 1 <= r <= n else 0.0

    def p(r: int) -> float:
        if not 1 <= r < n:
            return 0.0
        return 1 / (1 + math.exp(min((scores[documents[r - 1]] - scores[documents[r]]) / sigma, 700)))

    total = sum(
        (p(r - 1) * g(r - 1) + (1 - p(r - 1) - p(r)) * g(r) + p(r) * g(r + 1)) / math.log2(1 + r)
        for r in range(1, (n if k is None else min(k, n)) + 1)
    )
    best = ideal(grades, k, gain)
    return total / best if best else 0.0


def linear(g: float) -> float:
    return float(g)


def exponential(g: float) -> float:
    return 2.0**g - 1


SLOW = {
    "SoftNDCG@5": (slow_soft, 0.2, 5, linear, "percentile"),
    "SoftNDCG": (slow_soft, 0.2, None, linear, "percentile"),
    "SoftNDCG(dcg='exp-log2',sigma=0.05)@3": (slow_soft, 0.05, 3, exponential, "percentile"),
    "SoftNDCG(normalize='none',sigma=0.7)@10": (slow_soft, 0.7, 10, linear, "none"),
    "rNDCG@5": (slow_rndcg, 0.5, 5, linear, "percentile"),
    "rNDCG": (slow_rndcg, 0.5, None, linear, "percentile"),
    "rNDCG(dcg='exp-log2',sigma=0.1)@2": (slow_rndcg, 0.1, 2, exponential, "percentile"),
    "rNDCG(normalize='none',sigma=2)@4": (slow_rndcg, 2.0, 4, linear, "none"),
}
documents_of = st.text("abcdefgh", min_size=1, max_size=2)
qrels_of = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), st.dictionaries(documents_of, st.integers(-2, 3), min_size=1)
)
run_of = st.dictionaries(
    st.sampled_from(["q1", "q2", "q4"]), st.dictionaries(documents_of, st.integers(0, 5), min_size=1)
)


@pytest.mark.filterwarnings("ignore:.*depends more on the scale")
@given(qrels_of, run_of)
def test_against_slow_loops(qrels, run) -> None:
    if not set(qrels) & set(run):
        return
    for measure, scores in zip(SLOW, sf.score(qrels, sf.read_run(run, name="x"), SLOW), strict=True):
        slow, sigma, k, gain, how = SLOW[measure]
        given_scores = normalised(run, how)
        for query, value_of_query in zip(scores.queries, scores.values[0], strict=True):
            query_scores = given_scores.get(query, {})
            expected = slow(ranked(run.get(query, {})), query_scores, qrels[query], sigma, k, gain)
            assert value_of_query == pytest.approx(expected, abs=1e-12), (measure, query)


@given(qrels_of, run_of)
def test_values_lie_between_zero_and_one(qrels, run) -> None:
    # Without a cut-off the contests are a tournament, whose ranks the ideal order majorises. With one, SoftNDCG
    # may pass 1 a little: see the next test.
    if set(qrels) & set(run):
        for scores in sf.score(qrels, sf.read_run(run), ["SoftNDCG", "rNDCG", "rNDCG@3"]):
            assert (scores.values >= 0).all()
            assert (scores.values <= 1 + 1e-12).all()


def test_soft_ndcg_with_a_cutoff_may_pass_one() -> None:
    # Three equal documents: each is second with chance ½, so rank 2 is held by 1.5 documents on average.
    equal = dict.fromkeys("abc", 1)
    expected = 3 * (0.25 + 0.5 / math.log2(3)) / (1 + 1 / math.log2(3))
    assert value(equal, equal, "SoftNDCG@2") == pytest.approx(expected, abs=1e-12)
    assert 1.04 < expected < 1.041


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.randoms())
def test_names_of_documents_do_not_matter_to_soft_ndcg(grades: list[int], random) -> None:
    scores = [random.random() for _ in grades]
    names = [f"d{i}" for i in range(len(grades))]
    other = names[:]
    random.shuffle(other)
    one, two = (
        value(dict(zip(n, grades, strict=True)), dict(zip(n, scores, strict=True)), "SoftNDCG@4")
        for n in (names, other)
    )
    assert one == pytest.approx(two, abs=1e-13)


def test_a_small_sigma_gives_ndcg_and_a_large_one_the_same_rank_for_all() -> None:
    data = sf.demo.runs(queries=30)
    run = data.runs[3]
    assert len(np.unique(run.ranking.scores)) < len(run)  # with ties between queries, none within
    for measure in ("@5", "@10", "", "(dcg='exp-log2')@10"):
        ndcg = sf.score(data.qrels, run, "nDCG" + measure).values
        inner = measure[1:].replace(")", "").split("@")[0] if "(" in measure else ""
        cut = "@" + measure.split("@")[1] if "@" in measure else ""
        for family in ("SoftNDCG", "rNDCG"):
            text = f"{family}(sigma=1e-9{',' if inner else ''}{inner}){cut}"
            np.testing.assert_allclose(sf.score(data.qrels, run, text).values, ndcg, atol=1e-13)
    # Five documents, k = 5: everyone's rank is 1 + Binomial(4, ½).
    expected = sum(math.comb(4, r) / 16 / math.log2(2 + r) for r in range(5))
    assert value({"c": 1}, dict(zip("abcde", range(5), strict=True)), "SoftNDCG(sigma=1e9)@5") == pytest.approx(
        expected
    )


def test_scores_at_their_extremes() -> None:
    for family in ("SoftNDCG", "rNDCG"):
        raw = f"{family}(normalize='none')@5"
        assert value({"a": 1}, {"a": 1e300, "b": -1e300}, raw) == 1.0
        assert value({"b": 1}, {"a": 1.7e308, "b": -1.7e308}, raw) == pytest.approx(1 / math.log2(3))
        assert value({"a": 1}, {"a": 7.0}, raw) == 1.0  # one document
        assert value({"a": 1}, {"a": 7.0}, f"{family}@5") == 1.0
        constant = dict.fromkeys("ab", 3.0)
        half = 0.5 + 0.5 / math.log2(3)
        assert value({"a": 1}, constant, raw) == value({"b": 1}, constant, raw) == pytest.approx(half)
        assert value({"a": 0}, constant, raw) == 0.0  # nothing relevant
    with pytest.raises(DataError, match="every value must be finite"):
        value({"a": 1}, {"a": math.nan}, "SoftNDCG@5")


def test_percentiles_make_functions_comparable() -> None:
    data = sf.demo.runs(queries=10, depth=20)
    run = data.runs[0]
    stretched = {q: {d: math.exp(3 * s) for d, s in r.items()} for q, r in run.to_dict().items()}
    for measure in ("SoftNDCG@5", "rNDCG@5"):
        one, two = (sf.score(data.qrels, r, measure).values for r in (run, sf.read_run(stretched)))
        np.testing.assert_allclose(one, two, atol=1e-12)


@given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(0, 9), min_size=1))
def test_percentiles(scores: list[int], sample: list[int]) -> None:
    for values, among in ((scores, None), (scores, sample)):
        reference = scores if among is None else among
        expected = [sum((x < s) + (x <= s) for x in reference) / (2 * len(reference)) for s in values]
        np.testing.assert_allclose(percentiles(values, among), expected, atol=1e-12)


def test_a_run_may_bring_its_own_sample() -> None:
    run = sf.read_run({"q": {"a": 3.0, "b": 2.0}}, name="x")
    wide = run.with_score_sample([0.0, 1.0, 2.0, 3.0, 100.0, 100.0, 100.0, 100.0])
    alone, among = (sf.score({"q": {"a": 1}}, one, "SoftNDCG@5").values[0, 0] for one in (run, wide))
    assert among < alone  # in a wide sample the two scores nearly tie
    assert wide.renamed("y").score_sample is not None
    with pytest.raises(DataError, match="score sample of run 'x' is empty"):
        run.with_score_sample([])


def test_a_sigma_that_spans_too_much_of_the_scores_is_told() -> None:
    data = sf.demo.runs(queries=6, depth=100)
    with pytest.warns(
        sf.errors.SurefootWarning, match=r"run 'today': SoftNDCG@5 depends more on the scale .* [0-2]% of"
    ):
        sf.score(data.qrels, data.runs[0], ["nDCG@5", "SoftNDCG@5"])
    with pytest.warns(sf.errors.SurefootWarning, match="use a smaller sigma"):
        sf.stability.noise(data.qrels, data.runs[0], ["SoftNDCG@5"], sizes=[0.1], repeats=1)
    # None of these is refused or warned of: a small σ, no cut-off, a deep one, short lists.
    sf.score(data.qrels, data.runs[0], ["SoftNDCG(sigma=0.01)@5", "SoftNDCG", "SoftNDCG@50", "rNDCG@5"])
    short = sf.demo.runs(queries=6, depth=20)
    sf.score(short.qrels, short.runs[0], "SoftNDCG@5")


def test_the_weight_of_ranks_is_that_of_the_recursion() -> None:
    run = sf.demo.runs(queries=1, depth=40).runs[0]
    chances = rank_distribution(percentiles(run.ranking.scores), 0.2, 5)[0]
    weight = 1 / np.log2(np.arange(2, 7))
    expected = (chances * weight).sum() / weight.sum()
    assert filled_ranks(run, 0.2, 5, "percentile") == pytest.approx(expected, abs=1e-12)


def test_two_robust_runs_are_told_apart(data) -> None:
    folder = data / "trec-robust-2003"
    crowded, spread = (sf.read_run(folder / "runs" / f"{name}.gz") for name in ("MU03rob01", "NLPR03vb10"))
    assert filled_ranks(crowded, 0.2, 5, "percentile") < 0.01
    assert filled_ranks(spread, 0.2, 5, "percentile") > 0.5


def test_both_ways_of_finding_chances_agree(monkeypatch) -> None:
    data = sf.demo.runs(queries=20, depth=30)
    measures = ["SoftNDCG@10", "SoftNDCG(sigma=0.07)@5", "SoftNDCG(sigma=3)", "SoftNDCG(sigma=0.2,normalize='none')@5"]
    quick = sf.score(data.qrels, data.runs[1], measures)
    monkeypatch.setattr(expected_discount, "_chebyshev", lambda spread: None)
    monkeypatch.setattr(expected_discount, "_MOST_DOCUMENTS", 7)
    for one, two in zip(quick, sf.score(data.qrels, data.runs[1], measures), strict=True):
        np.testing.assert_allclose(one.values, two.values, atol=1e-13)


def test_long_lists_of_crowded_scores_stay_in_range() -> None:
    # Forty documents certain to be above and hundreds nearly so: the odds alone would overflow, the blocks keep them.
    scores = {f"d{i:03d}": 8.0 * 0.2 * math.sqrt(2) + i * 1e-4 for i in range(300)} | {"last": 0.0, "first": 100.0}
    raw = "SoftNDCG(normalize='none')"
    grades = {"last": 1, "first": 1}
    result = value(grades, scores, raw)
    assert result == pytest.approx((1 + 1 / math.log2(303)) / (1 + 1 / math.log2(3)), abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("SoftNDCG(sigma=0)@5", "sigma=0 in 'SoftNDCG(sigma=0)@5' must be a finite number above 0"),
        ("rNDCG(sigma=-1)@5", "sigma=-1"),
        ("rNDCG(sigma=1e999)@5", "sigma=inf"),
        (f"rNDCG(sigma=1{'0' * 400})@5", "must be a finite number above 0"),
        ("SoftNDCG(sigma='x')@5", "is not a number"),
        ("SoftNDCG(normalize='z')@5", "write normalize='percentile' (in a sample of the function's scores) or"),
        ("SoftNDCG(dcg=[1])@5", "write dcg='log2' (linear) or dcg='exp-log2'"),
        ("SoftNDGC@5", "did you mean SoftNDCG"),
    ],
)
def test_what_cannot_be_read(measure: str, message: str) -> None:
    with pytest.raises(MeasureError) as caught:
        sf.Measure.parse(measure)
    assert message in str(caught.value)


@pytest.mark.parametrize("family", ["SoftNDCG", "rNDCG"])
def test_sigma_may_be_any_number_above_0(family: str) -> None:
    grades, scores = {"b": 1}, {"a": 2.0, "b": 1.0, "c": 0.0}
    assert value(grades, scores, f"{family}(sigma=1.7e308)@2") == value(grades, scores, f"{family}(sigma=1e90)@2")


def test_they_are_measures_like_any_other() -> None:
    assert str(sf.Measure.parse("softndcg( sigma = 0.2 )@5")) == "SoftNDCG@5"
    assert str(sf.Measure.parse("rNDCG(sigma=0.1,normalize='none')")) == "rNDCG(normalize='none',sigma=0.1)"
    data = sf.demo.runs(queries=20, depth=20)
    assessed = sf.assess(sf.score(data.qrels, data.runs[:3], "SoftNDCG(sigma=0.1)@5"), baseline="today")
    assert assessed.to_dict()["measure"] == "SoftNDCG(sigma=0.1)@5"


scores_of = st.lists(st.floats(0, 1), min_size=1, max_size=8)
sigmas = st.floats(0.02, 3)


def chances(scores: Any, sigma: float, cutoff: int | None = None) -> np.ndarray:
    """The rank distribution without its derivative."""
    return rank_distribution(scores, sigma, cutoff)[0]


def enumerated(scores: list[float], sigma: float) -> np.ndarray:
    """Every one of the 2^(n−1) outcomes of a document's contests, with its chance."""
    n = len(scores)
    p = np.zeros((n, n))
    for j in range(n):
        others = [scores[i] for i in range(n) if i != j]
        lost_to = [0.5 * math.erfc((scores[j] - s) / (2 * sigma)) for s in others]
        for outcome in itertools.product((0, 1), repeat=n - 1):
            p[j, sum(outcome)] += math.prod(c if lost else 1 - c for c, lost in zip(lost_to, outcome, strict=True))
    return p


@pytest.mark.parametrize("n", range(1, 11))
def test_equals_enumeration_of_all_outcomes(n: int) -> None:
    scores = np.random.default_rng(n).random(n)
    scores[n // 2 :: 3] = scores[0]  # ties among them
    np.testing.assert_allclose(chances(scores, 0.2), enumerated(scores.tolist(), 0.2), atol=1e-13)


@given(scores_of, sigmas)
def test_rows_sum_to_one(scores: list[float], sigma: float) -> None:
    p = chances(scores, sigma)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)


@given(scores_of, sigmas, st.randoms())
def test_the_order_of_adding_does_not_matter(scores: list[float], sigma: float, random) -> None:
    order = list(range(len(scores)))
    random.shuffle(order)
    shuffled = chances([scores[i] for i in order], sigma)
    np.testing.assert_allclose(shuffled, chances(scores, sigma)[order], atol=1e-12)


@given(scores_of, sigmas, st.integers(1, 8))
def test_a_cutoff_keeps_the_first_ranks(scores: list[float], sigma: float, cutoff: int) -> None:
    np.testing.assert_array_equal(chances(scores, sigma, cutoff), chances(scores, sigma)[:, :cutoff])


def test_limits_of_sigma() -> None:
    scores = [0.9, 0.5, 0.7, 0.1]
    np.testing.assert_array_equal(chances(scores, 1e-9), np.eye(4)[[0, 2, 1, 3]])
    binomial = [math.comb(3, r) / 8 for r in range(4)]
    np.testing.assert_allclose(chances(scores, 1e9), [binomial] * 4, atol=1e-9)
    # Equal scores stay a toss-up whatever σ: the limit is no tie rule.
    np.testing.assert_array_equal(chances([0.5, 0.5], 1e-9), [[0.5, 0.5], [0.5, 0.5]])


def test_extremes_do_not_overflow() -> None:
    np.testing.assert_array_equal(chances([1.7e308, -1.7e308], 1e-300), np.eye(2))
    np.testing.assert_allclose(chances([1.5e308, -1.5e308], 1.5e308)[0, 0], 0.5 * math.erfc(-1.0), rtol=1e-14)
    np.testing.assert_array_equal(chances([3.0], 0.2), [[1.0]])
    assert np.isfinite(rank_distribution([1e300, -1e300, 0.0], 0.2)[1]).all()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.floats(0.05, 2))
def test_the_gradient_agrees_with_finite_differences(scores: list[float], sigma: float) -> None:
    _, slope = rank_distribution(scores, sigma)
    step = 1e-5 * sigma
    numeric = (chances(scores, sigma + step) - chances(scores, sigma - step)) / (2 * step)
    np.testing.assert_allclose(slope, numeric, atol=1e-5)


def test_the_gradient_of_soft_ndcg_agrees_with_finite_differences() -> None:
    rng = np.random.default_rng(5)
    scores, grades = rng.random((200, 5)), rng.integers(0, 5, (200, 5)).astype(float)
    for form, cutoff in (("log2", 5), ("exp-log2", 3), ("log2", None)):
        for sigma in (0.05, 0.2, 1.0):
            _, slope = soft_ndcg_gradient(scores, grades, sigma, dcg=form, cutoff=cutoff)
            step = 1e-5 * sigma
            high, low = (
                soft_ndcg_gradient(scores, grades, at, dcg=form, cutoff=cutoff)[0]
                for at in (sigma + step, sigma - step)
            )
            np.testing.assert_allclose(slope, (high - low) / (2 * step), atol=1e-5)


def draw_ranks(scores: np.ndarray, sigma: float, draws: int) -> np.ndarray:
    """How often each document stands at each rank when scores are drawn from their normal distributions."""
    rng = np.random.default_rng(0)
    noisy = scores + sigma * rng.standard_normal((draws, len(scores)))
    ranks = np.argsort(np.argsort(-noisy, axis=1), axis=1)
    return np.stack([np.bincount(column, minlength=len(scores)) / draws for column in ranks.T])


def test_a_monte_carlo_draw_agrees_for_two_documents() -> None:
    draws = 400_000
    for scores in ([0.6, 0.4], [0.51, 0.5], [0.9, 0.1]):
        p = chances(scores, 0.2)
        error = np.sqrt(p * (1 - p) / draws)
        assert (np.abs(draw_ranks(np.array(scores), 0.2, draws) - p) < 4 * error + 1e-9).all()


def test_a_monte_carlo_draw_parts_for_more_as_the_note_says() -> None:
    # Contests of one document are not independent: they share its own noise. So real ranks spread wider.
    scores = np.array([0.9, 0.7, 0.5, 0.3, 0.1])
    gap = draw_ranks(scores, 0.2, 200_000) - chances(scores, 0.2)
    assert 0.04 < np.abs(gap).max() < 0.08


@pytest.mark.parametrize("sigma", [0, -1, math.nan, math.inf, "x", True, None])
def test_sigma_must_be_a_number_above_zero(sigma: object) -> None:
    with pytest.raises(MeasureError, match="sigma is"):
        chances([0.5, 0.4], sigma)  # type: ignore[arg-type]
