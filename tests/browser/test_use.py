"""What a reader does with the page: slide, pick, sort, search, open a query, follow a link."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.report.assessment import Assessment


def slide(opened: Any, alpha: float) -> None:
    opened.page.evaluate(
        "(value) => { const one = document.getElementById('alpha'); one.value = value;"
        " one.dispatchEvent(new Event('input', { bubbles: true })); }",
        str(alpha),
    )
    opened.settle()


def cell(opened: Any, system: str, heading: str) -> str:
    heads = [re.sub(r" [↑↓]$", "", text) for text in opened.page.locator("#systems-head th").all_inner_texts()]
    row = opened.page.locator("#systems-body tr").filter(has=opened.page.get_by_role("button", name=system, exact=True))
    return row.locator("th, td").nth(heads.index(heading)).inner_text()


def test_missing_queries_stand_in_the_outcome(show: Any) -> None:
    made = sf.demo.runs(queries=60)
    half = {query: documents for i, (query, documents) in enumerate(made.runs[0].to_dict().items()) if i % 2}
    runs = {"today": made.runs[0], "half": half, "bold": made.runs[1]}
    zero = sf.assess(sf.score(made.qrels, runs, "nDCG@10"), baseline="today", alphas=[5])
    opened = show(zero, "#system=half")
    assert opened.in_words().replace("−", "-") == zero.in_words("half", 5).replace("−", "-")
    opened.go("#system=bold&baseline=half")
    assert " half lacks 30 of the 60 queries; they score 0. " in opened.text("#effect")
    drop = sf.assess(sf.score(made.qrels, runs, "nDCG@10", missing="drop"), baseline="today", alphas=[5])
    opened = show(drop, "#system=bold")
    assert opened.in_words().replace("−", "-") == drop.in_words("bold", 5).replace("−", "-")
    assert "With fewer than 50 queries" in opened.text("#caution")
    assert opened.quiet()


def test_outcome_says_what_python_says(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    assert opened.in_words().replace("−", "-") == demo.in_words("bold", 5).replace("−", "-")
    slide(opened, 0)
    assert opened.in_words().replace("−", "-") == demo.in_words("bold", 0).replace("−", "-")
    assert opened.quiet()


def test_slider_recomputes_and_sorts_again(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    opened.page.get_by_role("button", name="U_Risk").click()
    opened.settle()
    assert opened.first_column() == [row["system"] for row in demo.rows("u_risk@5")]
    slide(opened, 0)
    assert opened.first_column() == [row["system"] for row in demo.rows("u_risk@0")]
    data = demo.to_dict()
    bold = next(row for row in data["systems"] if row["system"] == "bold")
    assert cell(opened, "bold", "U_Risk") == f"{bold['alpha']['0']['u_risk']:+.4f}".replace("-", "−")
    assert cell(opened, "today", "T_Risk") == cell(opened, "today", "p skewness") == "–"
    assert "counts" not in opened.text("#alpha-note")
    slide(opened, 2.5)
    assert opened.text("#alpha-note") == "each loss counts 3.5 times"
    assert opened.page.input_value("#alpha-number") == "2.5"


def test_exact_alpha(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    opened.page.fill("#alpha-number", "1.234")
    opened.settle()
    assert opened.page.evaluate("surefoot.state().alpha") == 1.234
    opened.page.wait_for_url("**#alpha=1.234*")


@pytest.mark.parametrize("baseline", ["steady", "mean", "median", "max"])
def test_baseline_picker(show: Any, demo: Assessment, baseline: str) -> None:
    opened = show(demo)
    opened.page.select_option("#baseline", baseline)
    opened.settle()
    expected = {row["system"]: row for row in sf.assess(demo.scores, baseline, [5]).to_dict()["systems"]}
    for system in ("bold", "dense"):
        assert cell(opened, system, "lost") == str(expected[system]["losses"])
        assert cell(opened, system, "reward") == f"{expected[system]['reward']:.3f}"
    assert "compared with those of today only" in opened.text("#churn")
    opened.page.select_option("#baseline", "today")
    opened.settle()
    assert "re-ranked" in opened.text("#churn")
    assert opened.quiet()


def test_picking_the_shown_system_as_baseline_shows_another(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    opened.page.select_option("#baseline", "bold")
    opened.settle()
    assert opened.page.evaluate("surefoot.state().system") == "steady"
    opened.page.locator("#systems-body").get_by_role("button", name="bold", exact=True).click()
    opened.settle()
    assert "is what the others are compared with" in opened.text("#effect")
    assert opened.quiet()


def test_sorting(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    risk = opened.page.locator("th", has=opened.page.get_by_role("button", name="risk", exact=True))
    risk.get_by_role("button").click()
    opened.settle()
    assert opened.first_column() == [row["system"] for row in demo.rows("risk")]
    assert risk.get_attribute("aria-sort") == "ascending"
    risk.get_by_role("button").click()
    opened.settle()
    assert risk.get_attribute("aria-sort") == "descending"
    assert opened.first_column()[0] == demo.rows("risk")[-1]["system"]
    assert opened.page.locator("th[aria-sort]").count() == 1
    opened.page.wait_for_url("**&sort=risk&order=reversed")
    again = opened.first_column()
    opened.go("#" + opened.page.url.partition("#")[2])
    assert opened.first_column() == again


def test_choosing_a_system(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    opened.page.get_by_role("button", name="dense", exact=True).click()
    opened.settle()
    assert opened.text("#effect").startswith("dense ")
    assert opened.page.input_value("#system") == "dense"
    opened.page.go_back()
    opened.settle()
    assert opened.text("#effect").startswith("bold ")


def test_search_and_order(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    hurt = demo.per_query().filter(system="bold").sort("difference", maintain_order=True)
    rows = opened.page.locator("#queries-body button")
    assert rows.all_inner_texts() == hurt["query"].to_list()[:10]
    opened.page.fill("#search", "Q1")
    opened.settle()
    assert set(rows.all_inner_texts()) == {f"q{i}" for i in range(10, 20)}
    opened.page.fill("#search", "nothing like it")
    opened.settle()
    assert rows.count() == 0
    assert opened.page.locator("#queries-none").is_visible()
    opened.page.fill("#search", "")
    opened.page.select_option("#queries-order", "helped")
    opened.settle()
    assert rows.first.inner_text() == hurt["query"][-1]
    opened.page.click("#queries-more")
    opened.settle()
    assert rows.count() == 60


def test_query_detail(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    query = opened.page.locator("#queries-body button").first.inner_text()
    opened.page.locator("#queries-body button").first.click()
    opened.settle()
    assert opened.page.locator("dialog").is_visible()
    runs = {run.name: run.to_dict()[query] for run in demo.scores.runs}
    grades = demo.scores.qrels.to_dict()[query]
    lists = opened.page.locator("dialog .ranked")
    for at, (mine, other, was) in enumerate([("today", "bold", "to"), ("bold", "today", "from")]):
        ranks = {document: rank for rank, document in enumerate(runs[other], start=1)}
        expected = []
        for rank, document in enumerate(list(runs[mine])[:20], start=1):
            there = ranks[document]
            up = there > rank if was == "from" else there < rank
            moved = "=" if there == rank else f"{'↑' if up else '↓'} {was} {there}"
            expected.append([str(rank), f"{grades[document]:g}", document, moved])
        rows = lists.nth(at).locator("tbody tr").all()
        assert [row.locator("td").all_inner_texts() for row in rows] == expected
    scores = dict(zip(demo.scores.systems, demo.scores.values[:, demo.scores.queries.index(query)], strict=True))
    shown = opened.page.locator("dialog .everyone td.number").all_inner_texts()
    assert shown == [f"{value:.4f}" for value in sorted(scores.values(), reverse=True)]
    opened.page.click("#query-after")
    opened.settle()
    assert query not in opened.text("#query-title")
    opened.page.keyboard.press("Escape")
    opened.settle()
    assert opened.page.evaluate("document.activeElement.textContent") == query
    assert not opened.page.locator("dialog").is_visible()
    assert "query=" not in opened.page.url
    assert opened.quiet()


def test_detail_against_another_baseline(show: Any, demo: Assessment) -> None:
    opened = show(demo, "#baseline=steady&system=bold&query=q05&alpha=5")
    assert opened.page.locator("dialog .ranked").count() == 2
    opened.go("#baseline=mean&system=bold&query=q05&alpha=5")
    opened.page.reload()
    opened.page.wait_for_selector("html.ready", state="attached")
    assert opened.page.locator("dialog .ranked").count() == 1
    assert "no results of its own" in opened.text("#query-body")
    assert opened.quiet()


def test_detail_without_runs(show: Any, trec_2012: sf.Scores) -> None:
    opened = show(sf.assess(trec_2012, "indriCASP"), "#system=sys44&query=166")
    assert "came without rankings" in opened.text("#query-body")
    assert opened.page.locator("dialog .everyone tr").count() == 49
    assert not opened.page.locator("#churn-figure").is_visible()
    assert opened.quiet()


def test_deep_link(show: Any, demo: Assessment) -> None:
    opened = show(demo, "#alpha=2.5&baseline=median&system=dense&query=q07")
    assert opened.page.evaluate("surefoot.state()") == {
        "alpha": 2.5, "baseline": "median", "system": "dense", "query": "q07", "sort": "mean", "reversed": False,
        "measure": "nDCG@10", "column": None, "segment": None, "byTraffic": False,
    }  # fmt: skip
    assert opened.text("#query-title") == "Query q07"
    opened.page.evaluate("location.hash = '#alpha=0&baseline=bm25&system=steady'")
    opened.until("document.getElementById('effect').textContent.startsWith('steady')")
    assert not opened.page.locator("dialog").is_visible()
    opened.page.evaluate("location.hash = '#alpha=-3&baseline=nobody&system=&query=none&sort=what'")
    opened.until("document.getElementById('effect').textContent.startsWith('bold')")
    assert opened.page.evaluate("surefoot.state().alpha") == 5


@pytest.mark.parametrize("alpha", ["1e308", "1e400", "1000001", "NaN", "-1", "", " ", "x", "Infinity"])
def test_an_address_with_an_absurd_alpha_shows_the_usual_one(show: Any, demo: Assessment, alpha: str) -> None:
    opened = show(demo, f"#alpha={alpha}&baseline=today&system=bold")
    assert opened.page.evaluate("surefoot.state().alpha") == 5
    assert "NaN" not in opened.text("body")
    opened.page.fill("#alpha-number", "2")
    opened.page.evaluate(
        "(() => { const n = document.getElementById('alpha-number'); n.value = '1e308';"
        " n.dispatchEvent(new Event('input')); })()"
    )
    assert opened.page.evaluate("surefoot.state().alpha") == 2
    assert opened.quiet()


def test_back_closes_a_query(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    opened.page.locator("#queries-body button").first.click()
    opened.page.wait_for_selector("dialog[open]")
    opened.page.go_back()
    opened.page.wait_for_selector("dialog", state="hidden")
    opened.page.go_forward()
    opened.page.wait_for_selector("dialog[open]")
    assert opened.quiet()


def test_download(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    with opened.page.expect_download() as waited:
        opened.page.get_by_label("Download Systems as CSV").click()
    text = waited.value.path().read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    expected = list(csv.DictReader(io.StringIO(demo.to_csv())))
    assert [row["system"] for row in rows] == [row["system"] for row in expected]
    for mine, theirs in zip(rows, expected, strict=True):
        assert set(mine) <= set(theirs)
        for key in set(mine) - {"system"}:
            assert (mine[key] == "") == (theirs[key] == "")
            assert mine[key] == "" or float(mine[key]) == pytest.approx(float(theirs[key]), abs=1e-9)
    assert opened.quiet()


def test_downloaded_names_are_those_of_python(show: Any) -> None:
    names = [
        "=cmd",
        "+1",
        "-1",
        "@SUM(A1)",
        " =1",
        "＝1",
        "\ufeff=1",
        "\u3000-1",
        '=a,"b"',
        "\t=1",
        "a=1",
        "1-1",
        "'",
        "b c",
    ]
    values = np.random.default_rng(0).random((len(names) + 1, 30))
    assessment = sf.assess(sf.Scores(values, ["today", *names], range(30), "nDCG"), "today")
    opened = show(assessment)
    with opened.page.expect_download() as waited:
        opened.page.get_by_label("Download Systems as CSV").click()
    text = waited.value.path().read_text(encoding="utf-8")
    mine, theirs = ([line[0] for line in csv.reader(io.StringIO(one))] for one in (text, assessment.to_csv()))
    assert mine == theirs
    assert {"'=cmd", "'\ufeff=1", "�=1", "a=1", '\'=a,"b"'} <= set(mine)


def of_p(p: float) -> Assessment:
    """A system whose robust p is nearly that."""
    base, noise = np.random.default_rng(0).random((2, 60))
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        shift = (low + high) / 2
        reached = sf.t_test(base + noise - 0.5 + shift, base).p_robust or 0.0
        low, high = (shift, high) if reached > p else (low, shift)
    return sf.assess(sf.Scores([base, base + noise - 0.5 + high], ["today", "new"], range(60)), "today", [0])


@pytest.mark.parametrize(
    ("p", "table", "words"),
    [(0.00013, "0.0001", "= 0.00013"), (0.00007, "0.0001", "= 0.0001"), (0.00003, "< 0.0001", "< 0.0001")],
)
def test_small_p_values_read_as_in_python(show: Any, p: float, table: str, words: str) -> None:
    assessment = of_p(p)
    opened = show(assessment)
    assert f"p {words}" in assessment.in_words("new")
    assert f"p {words}" in opened.text("#effect")
    assert cell(opened, "new", "p") == table
    assert opened.text("#figure-t-note") == f"p {table if table.startswith('<') else '= ' + table}"


def test_hover_and_click_in_the_differences(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    chart = opened.page.locator("#differences svg")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    opened.page.mouse.move(box["x"] + 52, box["y"] + 150)
    hurt = demo.per_query().filter(system="bold").sort("difference", maintain_order=True)
    assert hurt["query"][0] in opened.text("#tip")
    opened.page.mouse.click(box["x"] + 52, box["y"] + 150)
    opened.settle()
    assert opened.text("#query-title") == f"Query {hurt['query'][0]}"


def test_charts_are_drawn_and_labelled(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    for chart in ("histogram", "differences", "t-risk", "geo-risk", "profiles", "plane"):
        assert opened.page.locator(f"#{chart} svg[role=img]").get_attribute("aria-label")
    assert opened.page.locator("#multiples svg").count() == 4
    assert opened.page.locator("#t-risk path.curve").count() == 11  # the baseline has none
    assert opened.page.locator("#geo-risk path.curve").count() == 12
    assert opened.page.locator("#plane .point").count() == 11
    assert opened.page.locator("#t-risk rect.band").count() == 1
    assert opened.page.locator("figure").count() == opened.page.locator("figure > figcaption").count()
