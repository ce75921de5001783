"""Two rankings side by side: what documents' moves cost adds up to the query's change."""

from __future__ import annotations

from typing import Any

import pytest

import surefoot as sf

pytestmark = pytest.mark.heavy  # hundreds of pages in a browser; test_use.py has the light ones


@pytest.mark.parametrize(
    "measure", ["nDCG@10", "nDCG(dcg='exp-log2')@5", "DCG@20", "ERR@20", "RR@10", "P@10", "P(rel=2)@5", "R@10", "AP@20"]
)
def test_costs_add_up_to_the_change(show: Any, measure: str) -> None:
    made = sf.demo.runs(queries=30)
    scores = sf.score(made.qrels, made.runs, measure)
    opened = show(sf.assess(scores, "today", [0]), "#system=bold")
    for number, query in enumerate(scores.queries):
        costs = opened.page.evaluate("(query) => surefoot.costs(query)", query)
        change = scores["bold"][number] - scores["today"][number]
        assert sum(one["cost"] for one in costs) == pytest.approx(
            change, abs=1e-3
        )  # those that round to 0 are left out
        assert [one["cost"] for one in costs] == sorted(one["cost"] for one in costs)
    assert opened.quiet()


def test_each_move_is_named_with_its_cost(show: Any) -> None:
    qrels = {"q": {"a": 2, "b": 1, "c": 0, "d": 1}, "r": {"a": 1}}
    today = {"q": {"a": 4.0, "c": 3.0, "b": 2.0}, "r": {"a": 1.0}}
    new = {"q": {"b": 4.0, "c": 3.0, "a": 2.0, "d": 1.0}, "r": {"a": 1.0}}
    titles = {"a": "The first", "b": "<b>bold</b>"}
    scores = sf.score(qrels, {"today": today, "new": new}, "nDCG@10")
    opened = show(sf.assess(scores, "today", [0]), "#system=new&query=q", documents=titles)
    ideal = 2 + 1 / 1.5849625007211562 + 1 / 2
    moves = opened.page.locator(".costs li:not(.small)").all_inner_texts()
    assert [move.split(":")[0] for move in moves] == ["a fell from 1 to 3", "b rose from 3 to 1", "d is new at 4"]
    shown = [float(move.rpartition(" ")[2].replace("−", "-")) for move in moves]
    assert shown == pytest.approx([-1 / ideal, 0.5 / ideal, 0.43067655807339306 / ideal], abs=5e-5)
    assert opened.page.locator(".links line").count() == 3
    assert [opened.page.locator(f".links line.{tone}").count() for tone in ("up", "down")] == [1, 1]
    assert opened.text(".ranked >> nth=0").count("The first") == 1
    assert "<b>bold</b>" in opened.text(".ranked >> nth=1")
    opened.page.set_viewport_size({"width": 400, "height": 800})
    opened.settle()
    assert opened.page.evaluate(
        "document.querySelector('dialog').scrollWidth <= document.querySelector('dialog').clientWidth + 1"
    )
    assert opened.quiet()


def test_lists_that_end_before_the_cutoff_say_nothing_of_costs(show: Any) -> None:
    made = sf.demo.runs(queries=20)
    opened = show(sf.assess(sf.score(made.qrels, made.runs, "AP"), "today", [0]), "#system=bold")
    assert opened.page.evaluate("(query) => surefoot.costs(query)", made.qrels.queries[0]) is None
    opened.page.locator("#queries-body button").first.click()
    opened.settle()
    assert opened.page.locator(".costs").count() == 0
    assert opened.page.locator(".ranked").count() == 2
