"""The page counts by traffic, or each query once; both as Python does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.report.words import headline

from .test_numbers import ALPHAS, assert_rows

pytestmark = pytest.mark.heavy


def weighted_sample(seed: int = 3, queries: int = 90) -> tuple[sf.Scores, dict[str, float]]:
    rng = np.random.default_rng(seed)
    values = np.round(rng.beta(0.6, 1.2, size=(6, queries)), 3)
    values[1] = np.clip(values[0] + rng.normal(0.1, 0.2, queries), 0, 1)
    values[3] = values[0]
    scores = sf.Scores(values, [f"s{i}" for i in range(6)], [f"q{i}" for i in range(queries)])
    return scores, dict(zip(scores.queries, rng.pareto(1.5, queries) + 0.1, strict=True))


@pytest.mark.parametrize("most", [1, 30, 1000, 1e5])  # times as often, for one of the queries
def test_figures_of_both_ways_to_count(show: Callable[..., Any], most: float) -> None:
    scores, traffic = weighted_sample()
    traffic["q7"] *= most
    opened = show(sf.assess(scores, "s0", traffic=traffic, segments="by-traffic"))
    for how, options in (("traffic", {"traffic": traffic}), ("queries", {})):
        opened.page.select_option("#count-by", how)
        opened.settle()
        for baseline in ("s0", "s1", "mean"):
            expected = sf.assess(scores, baseline, ALPHAS, **options).to_dict()["systems"]
            for alpha in ALPHAS:
                actual = opened.page.evaluate("([a, b]) => surefoot.figures(a, b)", [alpha, baseline])
                assert_rows(actual, expected, alpha, f"against {baseline}, by {how}", rel=1e-9)
                for mine, theirs in zip(actual, expected, strict=True):
                    shares = theirs.get("traffic_shares", {"losses": None, "loss_over_20": None})
                    assert mine["traffic_losses"] == pytest.approx(shares["losses"], abs=1e-12)
                    assert mine["traffic_loss_over_20"] == pytest.approx(shares["loss_over_20"], abs=1e-12)
                    for key in ("t_traffic", "p_traffic", "df_traffic"):
                        own = theirs["alpha"][f"{alpha:g}"].get(key)
                        assert mine[key] == (own if own is None else pytest.approx(own, abs=1e-9, rel=1e-9)), key
                    once = theirs.get("each_once", {"gain": None})["gain"]
                    assert mine["gain_once"] == pytest.approx(once, abs=1e-12)
    assert opened.quiet()


def test_one_query_that_is_the_worst_and_has_nearly_all_of_the_traffic(show: Callable[..., Any]) -> None:
    """Then t is huge, and the degrees of freedom are few."""
    gains = np.linspace(0.1, 0.3, 30)
    scores = sf.Scores([np.full(30, 0.5), 0.5 + gains], ["today", "new"], [f"q{i}" for i in range(30)])
    for most in (1e4, 1e10):
        assessment = sf.assess(scores, "today", ALPHAS, traffic={f"q{i}": 1.0 if i else most for i in range(30)})
        row = assessment.to_dict()["systems"][1]["alpha"]["0"]
        assert row["t_traffic"] > 100
        assert row["p_traffic"] > 0.5
        (_, mine) = show(assessment).page.evaluate("([a, b]) => surefoot.figures(a, b)", [0, "today"])
        for key in ("t_traffic", "p_traffic", "u_risk_interval"):
            assert mine[key] == (row[key] if row[key] is None else pytest.approx(row[key], rel=1e-6)), key
        assert (mine["outcome"], mine["outcome_without_extra_query"]) == ("unclear", "unclear")


@pytest.mark.parametrize("seed", [3, 8])
def test_segments_turns_and_queries(show: Callable[..., Any], seed: int) -> None:
    scores, traffic = weighted_sample(seed)
    assessment = sf.assess(scores, "s0", ALPHAS, traffic=traffic, segments="by-traffic")
    opened = show(assessment)
    data = assessment.to_dict(per_query=True)
    for alpha in ALPHAS:
        (column,) = opened.page.evaluate("([a, b]) => surefoot.segments(a, b)", [alpha, "s0"])
        (expected,) = data["segments"]
        assert [part["segment"] for part in column["segments"]] == [part["segment"] for part in expected["segments"]]
        for mine, theirs in zip(column["segments"], expected["segments"], strict=True):
            assert_rows(mine["systems"], theirs["systems"], alpha, mine["segment"])
        t_j = data["per_query"]["systems"]["s1"]["alpha"][f"{alpha:g}"]["t_j"]
        actual = opened.page.evaluate("(given) => surefoot.queryScores(...given)", [alpha, "s0", "s1"])
        assert [one["tJ"] for one in actual] == pytest.approx(t_j, abs=1e-9)
    turns = opened.page.evaluate("() => surefoot.turns('s0')")
    for mine, row in zip(turns, data["systems"], strict=True):
        assert mine == row["outcome_by_alpha"]
    curve = opened.page.evaluate("() => surefoot.curve('s0', 's1', [0, 1, 5, 10])")
    robust = [data["systems"][1]["alpha"][key]["t_robust"] for key in ("0", "1", "5", "10")]
    assert curve == pytest.approx(robust, rel=1e-7, abs=1e-9)


def test_words_of_both_ways_to_count(show: Callable[..., Any]) -> None:
    for seed, queries in ((0, 90), (1, 90), (2, 90), (3, 700)):
        scores, traffic = weighted_sample(seed, queries)
        by_traffic = sf.assess(scores, "s0", ALPHAS, traffic=traffic)
        opened = show(by_traffic)
        for how, assessment in (("traffic", by_traffic), ("queries", sf.assess(scores, "s0", ALPHAS))):
            opened.page.select_option("#count-by", how)
            for alpha in (1, 5):
                opened.page.evaluate("(hash) => { location.hash = hash; }", f"#alpha={alpha}&system=s1&count={how}")
                opened.until("(alpha) => surefoot.state().alpha === alpha", alpha)
                opened.settle()
                assert opened.in_words() == assessment.in_words("s1", alpha)
                assert opened.text("#headline") == headline(assessment.to_dict(), alpha)[0]
                worst = f"Mean difference of the worst 5 % of {how}"
                assert opened.page.locator(f"#systems-head button[title='{worst}']").count() == 1
        assert opened.quiet()


def test_the_switch_is_in_the_address_and_absent_without_traffic(show: Callable[..., Any], demo: Any) -> None:
    scores, traffic = weighted_sample()
    opened = show(sf.assess(scores, "s0", traffic=traffic))
    assert opened.page.locator("#count-by").is_visible()
    assert "Traffic" in opened.page.locator("#queries thead").inner_text()
    opened.page.select_option("#count-by", "queries")
    opened.until("() => location.hash.includes('count=queries')")
    opened.go("#count=queries")
    assert opened.page.locator("#count-by").input_value() == "queries"
    assert not show(demo).page.locator("#count-by").is_visible()
    equal = sf.assess(scores, "s0", traffic=dict.fromkeys(scores.queries, 3))
    assert not show(equal).page.locator("#count-by").is_visible()


def test_a_page_that_is_read_back_has_its_traffic(show: Callable[..., Any], tmp_path: Path) -> None:
    scores, traffic = weighted_sample()
    assessment = sf.assess(scores, "s0", traffic=traffic)
    assert sf.Assessment.from_dict(assessment.to_dict(per_query=True)).to_html() == assessment.to_html()
