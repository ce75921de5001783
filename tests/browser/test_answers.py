"""What the page answers: what was found, where an outcome changes, by which measure, and which queries suffer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.report.assessment import Assessment
from surefoot.report.columns import segment_columns
from surefoot.report.notes import few_queries
from surefoot.report.words import advice, headline

pytestmark = pytest.mark.heavy  # hundreds of pages in a browser; test_use.py has the light ones

ALPHAS = [0, 1, 5]


@pytest.fixture(scope="module")
def answered() -> Assessment:
    made = sf.demo.runs(queries=60)
    scores = [sf.score(made.qrels, made.runs, measure) for measure in ("nDCG@10", "AP")]
    harmed = set(made.harmed["bold"])
    kinds = {
        "fate": {query: "doomed" if query in harmed else "spared" for query in scores[0].queries},
        "half": {query: f"{i // 30}" for i, query in enumerate(scores[0].queries[:55])},
    }
    return sf.assess(scores, "today", ALPHAS, segments=kinds)


def shown_outcome(opened: Any) -> str:
    return opened.in_words()


def test_opens_at_the_smallest_alpha_above_0(show: Any, answered: Assessment) -> None:
    opened = show(answered)
    assert opened.page.evaluate("surefoot.state().alpha") == 1
    assert shown_outcome(opened) == answered.in_words("bold")
    assert "These segments get worse by more than chance: fate doomed" in shown_outcome(opened)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_what_was_found(show: Any, answered: Assessment, measure: str) -> None:
    opened = show(answered)
    for alpha in ALPHAS:
        opened.page.evaluate("(hash) => { location.hash = hash; }", f"#alpha={alpha}&system=bm25&measure={measure}")
        opened.until("(alpha) => surefoot.state().alpha === alpha", alpha)
        opened.settle()
        expected = advice(answered[measure].to_dict(), alpha)[0]
        sentence, word = headline(answered[measure].to_dict(), alpha)
        assert (opened.text("#headline"), opened.text("#chip")) == (sentence, word)
        opened.page.click("#advice-show")
        opened.settle()
        assert not opened.page.locator("#advice-show").is_visible()
        assert shown_outcome(opened).removesuffix(f" {few_queries(60, alpha)}") in expected
    assert opened.quiet()


def test_nothing_is_better(show: Any) -> None:
    scores = {"today": {"a": 0.5, "b": 0.4, "c": 0.3}, "worse": {"a": 0.1, "b": 0.3, "c": 0.3}}
    opened = show(sf.assess(scores, "today"))
    assert opened.text("#headline") == headline(sf.assess(scores, "today").to_dict(), 1)[0]
    opened, mean = show(sf.assess(scores, "mean")), "the per-query mean of 2 systems"
    assert opened.text("#headline") == f"No system is better than {mean} at α = 1 by more than chance"
    opened = show(sf.assess({"only": {"a": 0.5}}, "only"))
    assert opened.text("#headline") == "There is no system to compare with only"
    assert not opened.page.locator("#advice-show").is_visible()


def test_measure_picker(show: Any, answered: Assessment, demo: Assessment) -> None:
    opened = show(answered)
    opened.page.select_option("#measure-pick", "AP")
    opened.settle()
    assert shown_outcome(opened) == answered["AP"].in_words("bold")
    assert opened.text("#measure").startswith("AP · ")
    assert "measure=AP" in opened.page.url
    opened.go("#" + opened.page.url.partition("#")[2])
    assert opened.page.input_value("#measure-pick") == "AP"
    opened.page.go_back()
    assert opened.quiet()
    assert not show(demo).page.locator("#measure-pick").is_visible()


def test_segments(show: Any, answered: Assessment, demo: Assessment) -> None:
    opened = show(answered)
    rows = opened.page.locator("#segments-body tr")
    data = answered["nDCG@10"].to_dict()
    expected = [
        (part["segment"], next(row for row in part["systems"] if row["system"] == "bold")["alpha"]["1"])
        for column in data["segments"]
        for part in column["segments"]
    ]
    expected.sort(key=lambda one: one[1]["u_risk"])
    assert [text.split()[-1] for text in rows.locator("button").all_inner_texts()] == [name for name, _ in expected]
    headings = opened.page.locator("#segments-head th").all_inner_texts()[1:]
    cells = dict(zip(headings, rows.first.locator("td").all_inner_texts(), strict=True))
    assert headings == [column.heading for column in segment_columns(1)]
    assert cells["U_Risk"] == f"{expected[0][1]['u_risk']:+.4f}".replace("-", "−")
    assert cells["T_Risk"] == f"{expected[0][1]['t_risk']:.3f} ▼".replace("-", "−")
    rows.first.locator("button").click()
    opened.settle()
    assert opened.text("#measure").endswith(" of fate doomed")
    assert "column=fate&segment=doomed" in opened.page.url
    assert "It is worse than today at α = 1" in shown_outcome(opened)
    assert opened.page.locator("#queries-body tr").count() == min(10, data["segments"][0]["segments"][1]["queries"])
    opened.go("#" + opened.page.url.partition("#")[2])
    assert opened.page.locator("#segments-body tr.chosen").count() == 1
    opened.page.locator("#queries-body button").first.click()
    opened.settle()
    assert opened.page.locator("dialog .document").count() == 40
    opened.page.keyboard.press("Escape")
    opened.page.select_option("#segment", "")
    opened.settle()
    assert shown_outcome(opened) == answered.in_words("bold")
    assert opened.quiet()
    assert not show(demo).page.locator("#segments-section").is_visible()


@pytest.fixture(scope="module")
def many_kinds() -> Assessment:
    """Segments of 6, 7, …, 28 queries; the larger, the more it is hurt, but for the two smallest."""
    kind = np.repeat(np.arange(23), np.arange(6, 29))
    change = np.where(kind < 2, -0.3, -0.01 * kind) + np.random.default_rng(0).normal(0, 0.005, len(kind))
    scores = sf.Scores([np.full(len(kind), 0.5), 0.5 + change], ["today", "new"], range(len(kind)))
    return sf.assess(scores, "today", [1], segments={"kind": {str(i): f"k{one}" for i, one in enumerate(kind)}})


def test_orders_of_segments(show: Any, many_kinds: Assessment) -> None:
    parts = many_kinds.to_dict()["segments"][0]["segments"]
    hurt = sorted(parts, key=lambda part: part["systems"][1]["alpha"]["1"]["u_risk"])
    opened = show(many_kinds)
    for order, expected in [("hurt", hurt), ("large", parts)]:
        opened.page.select_option("#segments-order", order)
        opened.settle()
        names = [text.split()[-1] for text in opened.page.locator("#segments-body button").all_inner_texts()]
        assert names == [part["segment"] for part in expected[:20]]
    assert opened.text("#segments-more") == "Show all 23 segments"
    opened.page.click("#segments-more")
    opened.settle()
    assert opened.page.locator("#segments-body tr").count() == 23
    assert not opened.page.locator("#segments-more").is_visible()


def test_more_suffering_segments_than_are_named(show: Any, many_kinds: Assessment) -> None:
    assert " more." in many_kinds.in_words("new")
    assert shown_outcome(show(many_kinds)) == many_kinds.in_words("new")


def test_an_assessment_read_back_has_its_segments(show: Any, answered: Assessment, tmp_path: Any) -> None:
    answered.write(tmp_path / "a.json", per_query=True)
    opened = show(Assessment.read(tmp_path / "a.json"))
    assert shown_outcome(opened) == answered.in_words("bold")


def test_measures_of_different_queries_are_refused() -> None:
    one, other = ({"a": dict.fromkeys(queries, 0.5), "b": dict.fromkeys(queries, 0.2)} for queries in ("qr", "qs"))
    scores = [sf.read_scores(one, "P@5"), sf.read_scores(other, "AP")]
    with pytest.raises(ArgumentError, match="P@5 and AP belong to different systems or queries"):
        sf.assess(scores, "a").to_html()


def test_texts_beside_ids(show: Any, demo: Assessment) -> None:
    queries = {query: f"goats of valley {i}" for i, query in enumerate(demo.scores.queries)}
    documents = {
        document: f"Title of {document}" for ranked in demo.scores.runs[0].to_dict().values() for document in ranked
    }
    opened = show(demo, texts=queries, documents=documents, title="Spring release")
    page = opened.page
    page.fill("#search", "VALLEY 17")
    opened.settle()
    assert page.locator("#queries-body th button").all_inner_texts() == [demo.scores.queries[17]]
    assert page.locator("#queries-body .words").inner_text() == "goats of valley 17"
    page.locator("#queries-body button").click()
    opened.settle()
    assert opened.text("#query-text") == "goats of valley 17"
    row = page.locator("dialog .document").first
    assert row.locator(".words").inner_text() == f"Title of {row.locator('bdi').first.inner_text()}"
    page.keyboard.press("Escape")
    page.focus("#differences")
    page.keyboard.press("ArrowRight")
    assert ": goats of valley " in page.locator("#differences").get_attribute("aria-valuetext")
    assert opened.text("#named") == page.title() == "Spring release"
    assert opened.text("#made").startswith("Date\n20")
    assert opened.quiet()


def test_results_are_promised_where_there_are_some(show: Any, demo: Assessment, trec_2012: sf.Scores) -> None:
    for assessment, words in (
        (demo, "click for its results"),
        (sf.assess(trec_2012, "indriCASP"), "every system's score"),
    ):
        opened = show(assessment)
        opened.page.locator("#differences").hover()
        assert words in opened.text("#tip")


def test_a_dozen_systems_first(show: Any, trec_2012: sf.Scores) -> None:
    assessment = sf.assess(trec_2012, "indriCASP")
    opened = show(assessment, "#system=sys14")
    best = [row["system"] for row in assessment.rows()]
    first = opened.first_column()
    assert first[:12] == best[:12]
    assert set(first[12:]) == {"sys14", "indriCASP"} - set(best[:12])
    assert opened.text("#systems-more") == "Show all 49 systems"
    opened.page.click("#systems-more")
    opened.settle()
    assert opened.first_column() == best
    assert not opened.page.locator("#systems-more").is_visible()
    assert opened.quiet()


def test_the_interval_of_u_risk(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    bold = next(row for row in demo.to_dict()["systems"] if row["system"] == "bold")["alpha"]["5"]
    low, high = bold["u_risk_interval"]
    assert opened.text("#figure-u") == f"{bold['u_risk']:+.4f}".replace("-", "−")
    assert opened.text("#figure-u-note") == f"95 %: {low:+.3f} to {high:+.3f}".replace("-", "−")
    cell = opened.page.locator("#systems-body tr.chosen td[title]")
    assert cell.get_attribute("title") == f"95 % interval {low:+.4f} to {high:+.4f}".replace("-", "−")


@pytest.mark.parametrize("width", [400, 680, 768, 860, 1280])
def test_long_names_keep_their_tags(show: Any, width: int) -> None:
    scores = {f"{kind}-{'x' * 60}": {"q": 0.5 + i / 9, "r": 0.2, "s": 0.1 * i} for i, kind in enumerate(("old", "new"))}
    opened = show(sf.assess(scores, next(iter(scores))), viewport={"width": width, "height": 900})
    assert sorted(opened.page.locator("#systems-body .tag").all_inner_texts()) == ["baseline", "shown"]
    hidden = opened.page.evaluate(
        """() => [...document.querySelectorAll("#systems-body .tag")].filter((tag) =>
          tag.getBoundingClientRect().right > tag.closest("th").getBoundingClientRect().right).length"""
    )
    assert hidden == 0
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    assert opened.quiet()


def test_points_have_labels_where_there_is_room(show: Any, demo: Assessment) -> None:
    # Three points in a row, each too near the next for a label between them.
    rewards = {"today": (0, 0), "west side": (0.30, -0.100), "middle": (0.30, -0.104), "east side": (0.30, -0.108)}
    scores = {name: {"q": 0.4 + up, "r": 0.4 + down} for name, (up, down) in rewards.items()}
    opened = show(sf.assess(scores, "today"))
    assert sorted(opened.page.locator("#plane text.label").all_text_contents()) == ["east side", "middle", "west side"]
    opened = show(demo)
    boxes = opened.page.evaluate(
        "[...document.querySelectorAll('#plane text.label')].map((one) => one.getBoundingClientRect().toJSON())"
    )
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            apart = one["left"] >= other["right"] or other["left"] >= one["right"]
            assert apart or one["top"] >= other["bottom"] - 6 or other["top"] >= one["bottom"] - 6


def test_print_keeps_headings_with_what_follows(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    opened.page.emulate_media(media="print")
    breaks = "[...document.querySelectorAll('main h2')].map((one) => getComputedStyle(one).breakAfter)"
    assert set(opened.page.evaluate(breaks)) == {"avoid"}


def test_as_good_on_average(show: Any) -> None:
    scores = {"today": {"a": 0.5, "b": 0.25, "c": 0.75}, "new": {"a": 0.25, "b": 0.5, "c": 0.75}}
    assessment = sf.assess(scores, "today", [0])
    opened = show(assessment)
    assert shown_outcome(opened) == assessment.in_words("new")
    assert "new neither gains nor loses score on average. 1 of 3 queries gets worse" in shown_outcome(opened)


def test_segments_have_a_mean(show: Any, answered: Assessment) -> None:
    opened = show(answered, "#system=bold")
    heads = opened.page.locator("#segments-head th").all_inner_texts()
    place = heads.index("mean")
    data = answered.to_dict()["measures"][0]
    means = {
        part["segment"]: next(row["mean"] for row in part["systems"] if row["system"] == "bold")
        for column in data["segments"]
        for part in column["segments"]
    }
    for row in opened.page.locator("#segments-body tr").all():
        name = row.locator("th button").inner_text().split()[-1]
        assert float(row.locator("td").nth(place - 1).inner_text()) == pytest.approx(means[name], abs=6e-5)


def test_nobody_hurt_is_no_alarm(show: Any) -> None:
    scores = {"today": {"a": 0.5, "b": 0.4, "c": 0.3}, "new": {"a": 0.6, "b": 0.7, "c": 0.3}}
    opened = show(sf.assess(scores, "today", [0]))
    tones = {
        name: opened.page.locator(f"#figure-{name}").get_attribute("data-tone") for name in ("helped", "hurt", "badly")
    }
    assert tones == {"helped": "helped", "hurt": "", "badly": ""}


def test_names_in_the_plane_leave_ticks_and_axes_alone(show: Any, demo: Assessment) -> None:
    for width in (400, 1280):
        opened = show(demo, "#system=bold", viewport={"width": width, "height": 900})
        touching = opened.page.evaluate(
            """() => {
              const all = (kind) => [...document.querySelectorAll(`#plane text.${kind}`)];
              const boxes = (kind) => all(kind).map((one) => one.getBoundingClientRect());
              const axes = [...boxes("tick"), ...boxes("axis")];
              const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
              return boxes("label").filter((one) => axes.some((other) => meet(one, other))).length;
            }"""
        )
        assert touching == 0
        assert opened.page.locator("#plane text.label").count() > 2


def test_the_change_of_a_query_is_seen_on_a_phone(show: Any, demo: Assessment) -> None:
    opened = show(demo, viewport={"width": 400, "height": 900})
    box = opened.page.locator("#queries-body tr").first.locator("td").first.bounding_box()
    assert box["x"] + box["width"] <= 400
    assert opened.page.locator("#queries-body tr").first.locator("td").first.inner_text().startswith(("−", "+"))


def test_the_histograms_axis_is_even(show: Any, demo: Assessment) -> None:
    opened = show(demo, "#system=bold")
    ticks = opened.page.evaluate(
        """() => [...document.querySelectorAll("#histogram text.tick[text-anchor=middle]")].map((one) => [
          Number(one.getAttribute("x")), Number(one.textContent.replace("−", "-"))])"""
    )
    ticks.sort()
    steps = {(round(b[0] - a[0]), round(b[1] - a[1], 6)) for a, b in pairwise(ticks)}
    assert len(steps) == 1
