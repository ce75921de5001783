"""The browser's figures are Python's, to 1e-9."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.risk.tradeoff import alpha_key

pytestmark = pytest.mark.heavy  # hundreds of pages in a browser; test_use.py has the light ones

ALPHAS = [0, 1, 2.5, 5, 10]
PLAIN = [
    "mean", "geometric_mean", "reward", "risk", "gain", "wins", "losses", "ties", "loss_over_20", "reward_over_risk",
    "risk_over_reward", "wins_over_losses", "losses_over_wins", "worst_mean", "is_baseline",
]  # fmt: skip
AT_ALPHA = [
    "u_risk", "t_risk", "p_value", "t_skewness", "p_skewness", "t_robust", "p_robust",
    "u_risk_interval", "p_holm", "df", "se", "outcome", "outcome_without_extra_query",
    "z_risk", "geo_risk",
]  # fmt: skip


def assert_same(opened: Any, scores: sf.Scores, baselines: list[str], measure: int = 0, **options: Any) -> None:
    for baseline in baselines:
        expected = sf.assess(scores, baseline, ALPHAS, **options).to_dict()["systems"]
        for alpha in ALPHAS:
            actual = opened.page.evaluate("([a, b, m]) => surefoot.figures(a, b, m)", [alpha, baseline, measure])
            assert_rows(actual, expected, alpha, f"against {baseline} by measure {measure}")


def assert_rows(found: list[Any], expected: list[Any], alpha: float, which: str, rel: float = 1e-12) -> None:
    assert [row["system"] for row in found] == [row["system"] for row in expected]
    for mine, theirs in zip(found, expected, strict=True):
        figures = {key: theirs[key] for key in PLAIN}
        at = theirs["alpha"][alpha_key(alpha)]
        figures |= {key: at[key] for key in AT_ALPHA}
        figures |= {"reason": at["reasons"]["t_risk"], "z_risk_reason": at["reasons"]["z_risk"]}
        for key, value in figures.items():
            where = f"{key} of {mine['system']} {which} at α = {alpha}"
            if isinstance(value, float | list):
                assert mine[key] == pytest.approx(value, abs=1e-9, rel=rel), where
            else:
                assert mine[key] == value, where


def test_trec_2012(show: Any, trec_2012: sf.Scores) -> None:
    opened = show(sf.assess(trec_2012, "indriCASP"))
    assert_same(opened, trec_2012, ["indriCASP", "sys44", "mean", "median", "max"])
    assert opened.quiet()


def test_synthetic_matrix(show: Any) -> None:
    rng = np.random.default_rng(7)
    values = np.round(rng.beta(0.6, 1.2, size=(8, 90)), 3)
    values[3] = values[0]  # identical to the baseline
    values[4] = np.round(values[0] + 0.25, 3)  # better by the same on every query
    values[:, 5] = 0  # a query nobody scores on
    values[6] = 0
    scores = sf.Scores(values, [f"s{i}" for i in range(8)], [f"q{i}" for i in range(90)])
    opened = show(sf.assess(scores, "s0"))
    assert_same(opened, scores, ["s0", "s1", "s6", "mean", "median", "max"])
    assert opened.quiet()


def test_population(show: Any, trec_2012: sf.Scores) -> None:
    nine = ["sys44", "sys38", "sys6", "sys18", "sys46", "sys10", "indriCASP", "sys29", "sys14"]
    opened = show(sf.assess(trec_2012, "indriCASP", population=nine))
    assert_same(opened, trec_2012, ["indriCASP", "mean", "median", "max"], population=nine)


@pytest.mark.parametrize(
    ("values", "queries"),
    [
        ([[0.5], [0.7], [0.1]], 1),
        ([[0.5, -0.2, 0.3], [0.7, 0.1, 0.2], [-0.1, 0.0, 0.4]], 3),
        ([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], 2),
        ([[0.1, 0.9], [0.3, 0.3], [0.3, 0.3]], 2),
        ([[0.9, 0.9], [0.72, 0.7199], [0.7, 0.9]], 2),  # a loss of exactly a fifth is not over it
        # Far below expectation at large α: GeoRisk is the root of a tiny tail.
        ([[5000.0, 0.0, 0.0], [0.0, 4000.0, 1.0], [1.0, 2.0, 9000.0]], 3),
    ],
)
def test_edges(show: Any, values: list[list[float]], queries: int) -> None:
    scores = sf.Scores(values, ["a", "b", "c"], [str(i) for i in range(queries)])
    opened = show(sf.assess(scores, "a"))
    assert_same(opened, scores, ["a", "b", "mean", "median", "max"])
    assert opened.quiet()


def test_many_queries(show: Any) -> None:
    rng = np.random.default_rng(3)
    scores = sf.Scores(rng.uniform(size=(5, 4000)) ** 2, list("abcde"), [str(i) for i in range(4000)])
    assert_same(show(sf.assess(scores, "a")), scores, ["a", "mean"])


def test_the_mean_gives_no_loss_to_who_equals_it(show: Any) -> None:
    scores = sf.Scores([[0.1, 0.5], [0.2, 0.5], [0.3, 0.5]], list("abc"), ["q1", "q2"])
    assert_same(show(sf.assess(scores, "mean")), scores, ["mean", "median"])


@pytest.mark.parametrize("divisor", [1, 10, 7])
def test_rounding_parts_nothing(show: Any, divisor: int) -> None:
    """Wins, losses, ties and losses of 20 % of tenths are those of whole numbers; sums in two orders are ties."""
    values = np.random.default_rng(3).integers(0, 12, (3, 60)) / divisor
    values[:, -1] = [0.3, 0.1 + 0.2, 0.3]
    scores = sf.Scores(values, list("abc"), range(60))
    assert_same(show(sf.assess(scores, "a")), scores, ["a", "mean", "median"])


def test_large_whole_numbers_are_exact(show: Any) -> None:
    scores = sf.Scores([[2.0**53, 7, 5], [2.0**53 - 1, 8, 5]], ["a", "b"], ["x", "y", "z"])
    opened = show(sf.assess(scores, "a"))
    [_, row] = opened.page.evaluate("() => surefoot.figures(0, 'a', 0)")
    assert [row[key] for key in ("wins", "losses", "ties")] == [1, 1, 1]


def test_the_curve_is_the_sturdy_t(show: Any, trec_2012: sf.Scores) -> None:
    opened = show(sf.assess(trec_2012, "indriCASP"))
    actual = opened.page.evaluate("() => surefoot.curve('indriCASP', 'sys44', [0, 2, 5, 20])")
    tests = [sf.t_test(trec_2012["sys44"], trec_2012["indriCASP"], alpha) for alpha in (0, 2, 5, 20)]
    assert actual == pytest.approx([test.t_robust for test in tests], rel=1e-9, abs=1e-12)


def test_per_query_scores(show: Any, trec_2012: sf.Scores) -> None:
    opened = show(sf.assess(trec_2012, "indriCASP"))
    for system in ("sys24", "sys19"):
        for alpha in (0, 5):
            expected = sf.risk.query_scores(trec_2012[system], trec_2012["indriCASP"], alpha)
            assert expected is not None
            actual = opened.page.evaluate("(given) => surefoot.queryScores(...given)", [alpha, "indriCASP", system])
            assert [one["tR"] for one in actual] == pytest.approx(expected.t_r.tolist(), abs=1e-9)
            assert [one["tJ"] for one in actual] == pytest.approx(expected.t_j.tolist(), abs=1e-9)
            significant = (np.abs(expected.t_j) > expected.critical).tolist()
            assert [one["significant"] for one in actual] == significant
    # The topics that Dinçer et al. (2014) name for uogTrA44xi.
    actual = opened.page.evaluate("() => surefoot.queryScores(0, 'indriCASP', 'sys24')")
    hurt = [q for q, one in zip(trec_2012.queries, actual, strict=True) if one["significant"] and one["tJ"] < 0]
    assert hurt == ["166", "175"]


def test_each_measure(show: Any) -> None:
    made = sf.demo.runs(queries=40)
    scores = [sf.score(made.qrels, made.runs, measure) for measure in ("nDCG@10", "AP", "P@5")]
    opened = show(sf.assess(scores, "today"))
    for number, matrix in enumerate(scores):
        assert_same(opened, matrix, ["today", "mean"], measure=number)
    assert opened.quiet()


def test_each_segment(show: Any, trec_2012: sf.Scores) -> None:
    kinds = {
        "parity": {query: "odd" if int(query) % 2 else "even" for query in trec_2012.queries},
        "size": {query: ["s", "m", "l", "alone"][min(3, i // 16)] for i, query in enumerate(trec_2012.queries[:49])},
    }
    some = sf.Scores(trec_2012.values[::4], trec_2012.systems[::4], trec_2012.queries)
    opened = show(sf.assess(some, some.systems[0], ALPHAS, segments=kinds))
    for baseline in (some.systems[0], some.systems[3], "mean", "median"):
        expected = sf.assess(some, baseline, ALPHAS, segments=kinds).to_dict()["segments"]
        for alpha in ALPHAS:
            actual = opened.page.evaluate("([a, b]) => surefoot.segments(a, b)", [alpha, baseline])
            for mine, theirs in zip(actual, expected, strict=True):
                assert mine["column"] == theirs["column"]
                for one, other in zip(mine["segments"], theirs["segments"], strict=True):
                    assert (one["segment"], one["queries"]) == (other["segment"], other["queries"])
                    assert_rows(one["systems"], other["systems"], alpha, f"on {one['segment']} against {baseline}")
    assert opened.quiet()


def test_turning_points(show: Any, trec_2012: sf.Scores) -> None:
    opened = show(sf.assess(trec_2012, "indriCASP"))
    for baseline in ("indriCASP", "sys44", "mean"):
        expected = [row["outcome_by_alpha"] for row in sf.assess(trec_2012, baseline).to_dict()["systems"]]
        actual = opened.page.evaluate("(baseline) => surefoot.turns(baseline)", baseline)
        for mine, theirs in zip(actual, expected, strict=True):
            assert (mine is None) == (theirs is None)
            for one, other in zip(mine or [], theirs or [], strict=True):
                assert one["outcome"] == other["outcome"]
                assert one["alpha"] == pytest.approx(other["alpha"], abs=1e-9)
