"""The pages of decisions and certificates in a browser: rankings of hurt queries, and what is printed to sign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.browser import samples_of_decisions

import surefoot as sf
from surefoot.report.provenance import Provenance

pytestmark = pytest.mark.heavy  # hundreds of pages in a browser; test_use.py has the light ones


@pytest.fixture
def decision(tmp_path: Path) -> tuple[sf.Decision, Path]:
    made = sf.demo.runs(queries=120)
    scores = sf.score(made.qrels, made.runs[:2], "nDCG@10")
    decided = sf.gate(scores, baseline="today", policy={"risk": 0.03, "gain": 0})
    first = decided.to_dict()["most_hurt"][0]["query"]
    titles = {f"{first}-d{number:03}": f"<i>Title</i> {number}" for number in range(60)}
    decided.write(tmp_path / "decision.html", documents=titles)
    return decided, tmp_path / "decision.html"


def is_open(opened: Any) -> bool:
    return bool(opened.page.evaluate("() => document.getElementById('query').open"))


def test_a_hurt_query_opens_its_rankings(decision: tuple[sf.Decision, Path], open_file: Any) -> None:
    decided, path = decision
    hurt = decided.to_dict()["most_hurt"]
    opened = open_file(path)
    page = opened.page
    page.click("#hurt button[data-place='0']")
    assert is_open(opened)
    assert opened.text("#query-title") == f"Query {hurt[0]['query']}"
    assert f"{hurt[0]['difference']:.4f}".replace("-", "−") in opened.text("#query-summary")
    assert page.locator("#query .ranked").count() == 2
    assert page.locator("#query .ranked tbody tr").count() == 40
    assert "<i>Title</i>" in opened.text("#query-body")
    assert page.locator("#query .costs li").count() > 0
    page.click("#query-after")
    assert opened.text("#query-title") == f"Query {hurt[1]['query']}"
    address = page.url
    page.keyboard.press("Escape")
    opened.until("() => !document.getElementById('query').open")
    again = open_file(path, address.partition(".html")[2])
    assert is_open(again)
    assert again.text("#query-title") == f"Query {hurt[1]['query']}"
    again.page.click("#query-close")
    assert not is_open(again)
    again.page.go_back()
    again.until("() => document.getElementById('query').open")
    assert opened.quiet()
    assert again.quiet()


def test_the_headline_and_the_chip_state_the_decision(decision: tuple[sf.Decision, Path], open_file: Any) -> None:
    decided, path = decision
    assert decided.decision == "stop"
    opened = open_file(path, viewport={"width": 400, "height": 800})
    assert opened.text("#headline").startswith("Keep today, stop bold: ")
    assert opened.text("#chip").endswith("Stop")
    opened.page.click("#hurt button[data-place='0']")
    wide = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not opened.page.evaluate(wide)
    inside = "() => { const box = document.getElementById('query'); return box.scrollWidth > box.clientWidth; }"
    assert not opened.page.evaluate(inside)


def test_a_certificate_is_signed_on_paper(tmp_path: Path, open_file: Any) -> None:
    samples_of_decisions.certificate(tmp_path / "certificate.html", Provenance())
    opened = open_file(tmp_path / "certificate.html")
    opened.page.emulate_media(media="print")
    for words in ("Name", "Signature", "Date"):
        assert opened.page.locator(".sign span", has_text=words).is_visible()
    assert opened.page.get_by_text("chosen: ").first.is_visible()
    assert opened.page.get_by_text("level 0.15", exact=True).first.is_visible()
