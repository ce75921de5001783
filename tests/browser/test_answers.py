"""What the page answers: which system to ship, where its verdict turns, by which measure, and which queries suffer."""

from __future__ import annotations

from typing import Any

import pytest

import surefoot as sf
from surefoot.report.assessment import Assessment
from surefoot.report.words import advice

ALPHAS = [0, 1, 5]


@pytest.fixture(scope="module")
def answered() -> Assessment:
    made = sf.synthetic_runs(queries=60)
    scores = [sf.score(made.qrels, made.runs, measure) for measure in ("nDCG@10", "AP")]
    harmed = set(made.harmed["bold"])
    kinds = {
        "fate": {query: "doomed" if query in harmed else "spared" for query in scores[0].queries},
        "half": {query: f"{i // 30}" for i, query in enumerate(scores[0].queries[:55])},
    }
    return sf.assess(scores, "today", ALPHAS, segments=kinds)


def said(opened: Any) -> str:
    return opened.text("#effect").replace("−", "-")


def test_opens_at_the_smallest_alpha_above_0(show: Any, answered: Assessment) -> None:
    opened = show(answered)
    assert opened.page.evaluate("surefoot.state().alpha") == 1
    assert said(opened) == answered.verdict("bold")
    assert "Suffering by more than chance: fate doomed" in said(opened)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_which_system_to_ship(show: Any, answered: Assessment, measure: str) -> None:
    opened = show(answered)
    for alpha in ALPHAS:
        opened.page.evaluate("(hash) => { location.hash = hash; }", f"#alpha={alpha}&system=bm25&measure={measure}")
        opened.until("(alpha) => surefoot.state().alpha === alpha", alpha)
        opened.settle()
        expected = advice(answered[measure].to_dict(), alpha)[0]
        assert expected.startswith(opened.text("#advice"))
        assert opened.text("#advice").startswith(("Ship ", "Keep "))
        opened.page.click("#advice-show")
        opened.settle()
        assert not opened.page.locator("#advice-show").is_visible()
        assert expected.endswith(said(opened))
    assert opened.quiet()


def test_nothing_to_ship(show: Any) -> None:
    scores = {"today": {"a": 0.5, "b": 0.4, "c": 0.3}, "worse": {"a": 0.1, "b": 0.3, "c": 0.3}}
    opened = show(sf.assess(scores, "today"))
    assert opened.text("#advice") == "Keep today: no system's reward outweighs its risk by more than chance."
    opened = show(sf.assess(scores, "mean"))
    assert opened.text("#advice") == "Ship none yet: no system's reward outweighs its risk by more than chance."
    opened = show(sf.assess({"only": {"a": 0.5}}, "only"))
    assert opened.text("#advice") == "There is no system to compare with only."
    assert not opened.page.locator("#advice-show").is_visible()


def test_measure_picker(show: Any, answered: Assessment, demo: Assessment) -> None:
    opened = show(answered)
    opened.page.select_option("#measure-pick", "AP")
    opened.settle()
    assert said(opened) == answered["AP"].verdict("bold")
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
    found = [
        (part["segment"], next(row for row in part["systems"] if row["system"] == "bold")["alpha"]["1"])
        for column in data["segments"]
        for part in column["segments"]
    ]
    found.sort(key=lambda one: one[1]["u_risk"])
    assert [text.split()[-1] for text in rows.locator("button").all_inner_texts()] == [name for name, _ in found]
    cells = rows.first.locator("td").all_inner_texts()
    assert cells[6] == f"{found[0][1]['u_risk']:+.4f}".replace("-", "−")
    assert cells[7] == f"{found[0][1]['t_adjusted']:.3f} ▼".replace("-", "−")
    rows.first.locator("button").click()
    opened.settle()
    assert opened.text("#measure").endswith(" of fate doomed")
    assert "column=fate&segment=doomed" in opened.page.url
    assert "systems and segments" in said(opened)
    assert opened.page.locator("#queries-body tr").count() == min(10, data["segments"][0]["segments"][1]["queries"])
    opened.go("#" + opened.page.url.partition("#")[2])
    assert opened.page.locator("#segments-body tr.chosen").count() == 1
    opened.page.locator("#queries-body button").first.click()
    opened.settle()
    assert opened.page.locator("dialog .document").count() == 40
    opened.page.keyboard.press("Escape")
    opened.page.select_option("#segment", "")
    opened.settle()
    assert said(opened) == answered.verdict("bold")
    assert opened.quiet()
    assert not show(demo).page.locator("#segments-section").is_visible()


def test_an_assessment_read_back_has_its_segments(show: Any, answered: Assessment, tmp_path: Any) -> None:
    answered.write_json(tmp_path / "a.json", per_query=True)
    opened = show(Assessment.read(tmp_path / "a.json"))
    assert said(opened) == answered.verdict("bold")


def test_measures_of_different_queries_are_refused() -> None:
    one, other = ({"a": dict.fromkeys(queries, 0.5), "b": dict.fromkeys(queries, 0.2)} for queries in ("qr", "qs"))
    scores = [sf.read_scores(one, "P@5"), sf.read_scores(other, "AP")]
    with pytest.raises(sf.ArgumentError, match="P@5 and AP are of different systems or queries"):
        sf.assess(scores, "a").to_html()
