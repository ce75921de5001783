"""The page of personalization in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.personal.small import small_study

from surefoot.personal.options import METHOD_LINES
from surefoot.personal.page import opening_list
from surefoot.personal.recommendation import recommendation
from surefoot.personal.study import Personalization
from surefoot.personal.tables import bias_note, distinct_rows, full_label

pytestmark = pytest.mark.heavy  # hundreds of pages in a browser; test_use.py has the light ones


@pytest.fixture(scope="module")
def result() -> Personalization:
    return small_study()


@pytest.fixture
def opened(open_file: Any, result: Personalization, tmp_path: Path) -> Any:
    result.write(tmp_path / "p.html")
    return open_file(tmp_path / "p.html")


def test_a_session_can_be_looked_at(opened: Any, result: Personalization) -> None:
    page = opened.page
    data = result.to_dict()
    assert page.locator("#all circle.point").count() <= len(data["rows"])
    assert page.locator("#methods tbody tr").count() == len(distinct_rows(data["chosen"]))
    page.select_option("#session", "0")
    page.select_option("#list", "0")
    shown = data["sessions"][0]["lists"][0]
    for model in page.locator("#model option").evaluate_all("options => options.map((option) => option.value)"):
        order = shown["orders"][model]
        page.select_option("#model", model)
        cells = page.locator("#lists-body tr td:nth-child(3)").all_inner_texts()
        assert [cell.split()[0] for cell in cells] == [shown["documents"][place] for place in order]
        moves = page.locator("#lists-body tr td:nth-child(4)").all_inner_texts()
        assert moves == [
            f"↑ {place - now}" if place > now else f"↓ {now - place}" if place < now else "–"
            for now, place in enumerate(order)
        ]
    cells = page.locator("#lists-body tr td:nth-child(2)").all_inner_texts()
    assert [("satisfied" in cell) for cell in cells] == [grade > 0 for grade in shown["grade"]]
    page.select_option("#part", "valid")
    opened.settle()
    assert opened.quiet()


def test_the_curve_is_of_the_part_that_is_looked_at(opened: Any, result: Personalization) -> None:
    data = result.to_dict()
    for part in ("test", "valid"):
        opened.page.select_option("#part", part)
        opened.settle()
        standard = data["rows"][0][part]["gain"]
        shown = [row for row in data["rows"] if 100 * row[part]["gain"] / standard > -60]
        points = opened.page.evaluate(
            """() => [...document.querySelectorAll("#all circle.point")].map((one) => [
              one.dataset.name, Number(one.getAttribute("cx")), Number(one.getAttribute("cy"))])"""
        )
        assert [name for name, _, _ in points] == [row["name"] for row in shown]
        # Along both axes points lie as their figures do.
        for axis, sign, figure in ((1, 1, "share_reranked"), (2, -1, "gain")):
            at = [sign * point[axis] for point in points]
            value = [row[part][figure] for row in shown]
            slope = (max(at) - min(at)) / (max(value) - min(value))
            least = min(range(len(value)), key=value.__getitem__)
            assert at == pytest.approx([at[least] + slope * (one - value[least]) for one in value], abs=0.2)


def shown_documents(opened: Any) -> list[str]:
    """The documents of the list that is looked at, as they were shown."""
    return [cell.split()[0] for cell in opened.page.locator("#lists-body tr td:nth-child(2)").all_inner_texts()]


def test_sessions_up_and_down(opened: Any, result: Personalization) -> None:
    page, sessions = opened.page, result.to_dict()["sessions"]
    assert len(sessions) > 2
    page.select_option("#session", "0")
    page.focus("#session")
    opening = opening_list(result.to_dict())
    for key, number in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("ArrowUp", 0)):
        page.keyboard.press(key)
        opened.settle()
        session = sessions[number]
        assert page.locator("#session option:checked").inner_text() == session["session"]
        assert page.locator("#list option").count() == len(session["lists"])
        first = opening[1] if number == opening[0] else 0
        assert page.locator("#list option:checked").inner_text().startswith(f"{first + 1}: ")
        assert shown_documents(opened) == session["lists"][first]["documents"]
        assert session["lists"][first]["query"] in opened.text("#session-note")
    assert opened.quiet()


def test_lists_of_a_session(opened: Any, result: Personalization) -> None:
    page, sessions = opened.page, result.to_dict()["sessions"]
    number = max(range(len(sessions)), key=lambda at: len(sessions[at]["lists"]))
    lists = sessions[number]["lists"]
    assert len(lists) > 1
    page.select_option("#session", str(number))
    page.select_option("#list", str(len(lists) - 1))
    opened.settle()
    assert shown_documents(opened) == lists[-1]["documents"]
    # Another session starts at its first list, with the model that was chosen.
    model = page.locator("#model option").last.inner_text()
    other = 0 if opening_list(result.to_dict())[0] else 1
    page.select_option("#model", model)
    page.select_option("#session", str(other))
    opened.settle()
    assert page.locator("#list").input_value() == "0"
    assert page.locator("#model").input_value() == model
    order = sessions[other]["lists"][0]["orders"][model]
    moved = sum(place != now for now, place in enumerate(order))
    note = f"{moved} result{'s' * (moved != 1)} of {len(order)} would get another rank" if moved else "the order stays"
    assert note in opened.text("#session-note")
    assert opened.quiet()


def test_points_tell_their_figures(opened: Any, result: Personalization) -> None:
    page, rows = opened.page, result.to_dict()["rows"]
    for part in ("valid", "test"):
        page.select_option("#part", part)
        opened.settle()
        for row in rows[:3]:
            point = page.locator(f'#all circle.point[data-name="{row["name"]}"]')
            point.dispatch_event("mousemove", {"clientX": 300, "clientY": 300})
            tip = opened.text("#tip")
            assert row["name"] in tip
            assert f"{100 * row[part]['share_reranked']:.1f} % of lists re-ranked" in tip
            assert f"risk {100 * row[part]['risk']:.3f}" in tip
            point.dispatch_event("mouseleave")
            assert page.locator("#tip").is_hidden()
    chosen = page.locator("#chosen circle.point").count()
    assert chosen <= len(result.chosen)
    page.set_viewport_size({"width": 500, "height": 800})
    opened.settle()
    assert page.locator("#chosen circle.point").count() == chosen
    assert page.evaluate("document.documentElement.scrollWidth") <= 500
    assert opened.quiet()


def test_segments_are_on_the_page(open_file: Any, result: Personalization, tmp_path: Path) -> None:
    data = json.loads(result.to_json())
    for row in data["chosen"]:
        row["segments"] = {
            "kind": {"head": {"share_reranked": 0.25, "gain": 0.0123}, "tail": {"share_reranked": 1.0, "gain": -0.5}}
        }
    Personalization.from_dict(data).write(tmp_path / "p.html")
    opened = open_file(tmp_path / "p.html")
    section = opened.page.locator("section", has=opened.page.locator("h2", has_text="By kind"))
    assert section.locator("thead th").all_inner_texts()[1:] == [
        "head: % re-ranked", "head: gain", "tail: % re-ranked", "tail: gain"
    ]  # fmt: skip
    assert section.locator("tbody tr").first.locator("td").all_inner_texts() == ["25.00", "1.230", "100.00", "−50.000"]


def test_hostile_names_stay_text(open_file: Any, result: Personalization, tmp_path: Path) -> None:
    evil = "</script><script>document.title='x'</script>\u202e"
    data = json.loads(result.to_json())
    for session in data["sessions"]:
        session["session"] = evil
        for shown in session["lists"]:
            shown["query"] = evil
            shown["documents"] = [evil + document for document in shown["documents"]]
    Personalization.from_dict(data).write(tmp_path / "p.html")
    opened = open_file(tmp_path / "p.html")
    assert opened.page.title() != "x"
    assert "</script>" in opened.text("#lists-body")
    assert opened.quiet()


def test_it_opens_with_the_recommended_model_and_three_rows(opened: Any, result: Personalization) -> None:
    page, data = opened.page, result.to_dict()
    choice, rows = data["recommendation"], distinct_rows(data["chosen"])
    assert opened.text("#headline") == recommendation(data).headline
    assert choice["rule"] in opened.text(".lead")
    assert choice["model"] in opened.text(".lead")
    shown = page.locator("#methods tbody tr:visible")
    assert shown.count() == 3
    assert shown.first.locator("bdi").inner_text() == choice["label"]
    assert recommendation(data).tag in shown.first.inner_text()
    assert ("recommended" in opened.text("main")) == (choice["choice"] == "take")
    page.click("#more")
    assert shown.count() == page.locator("#lines > div:visible").count() == len(rows) > 3
    for row, also in rows:
        line = page.locator(
            "#lines > div", has=page.locator("dt", has_text=re.compile(f"^{full_label(row)}$"))
        ).inner_text()
        assert METHOD_LINES[row["method"]] in line
        assert all(full_label(row, label) in line for label in also)
    opened.until("() => location.hash.includes('methods=all')")
    page.click("#more")
    assert shown.count() == 3
    assert opened.quiet()


def test_it_opens_at_a_list_where_something_moved(opened: Any, result: Personalization) -> None:
    data = result.to_dict()
    session, number = opening_list(data)
    assert opened.page.locator("#session").input_value() == str(session)
    assert opened.page.locator("#list").input_value() == str(number)
    assert opened.page.locator("#model").input_value() == data["recommendation"]["label"]
    order = data["sessions"][session]["lists"][number]["orders"][data["recommendation"]["label"]]
    assert order != sorted(order)
    assert "would get another rank" in opened.text("#session-note")


def test_a_link_keeps_the_session(opened: Any, result: Personalization) -> None:
    page, sessions = opened.page, result.to_dict()["sessions"]
    number = max(range(len(sessions)), key=lambda at: len(sessions[at]["lists"]))
    page.select_option("#session", str(number))
    page.select_option("#list", "1")
    page.select_option("#part", "valid")
    opened.until("() => location.hash.includes('part=valid')")
    address = page.evaluate("() => location.hash")
    page.goto("about:blank")
    opened.go(address)
    assert shown_documents(opened) == sessions[number]["lists"][1]["documents"]
    assert page.locator("#part").input_value() == "valid"


def test_on_a_phone_a_list_is_read_without_scrolling(open_file: Any, result: Personalization, tmp_path: Path) -> None:
    result.write(tmp_path / "p.html")
    opened = open_file(tmp_path / "p.html", viewport={"width": 400, "height": 800})
    page = opened.page
    box = page.locator(".scroll", has=page.locator("#orders"))
    assert box.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert page.locator("#orders td.known:visible").count() == 0
    page.click("#known")
    assert page.locator("#orders td.known:visible").count() > 0
    assert box.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    cells = page.locator("#lists-body tr td").evaluate_all("(all) => all.map((one) => one.clientWidth)")
    assert min(width for width in cells if width) > 30


def test_position_bias_is_told_and_drawn(open_file: Any, result: Personalization, tmp_path: Path) -> None:
    """The chart has a point for each position; without an estimate there is the reason, and no chart."""
    data = json.loads(result.to_json())
    points = [1.0, 0.62, 0.4]
    data["position_bias"] = {
        "status": "present", "reason": None, "p": points, "standard_errors": [0.0, 0.1, 0.1], "low": [1.0, 0.5, 0.3],
        "high": [1.0, 0.76, 0.5], "q": 1.0, "df": 1, "position_alone_refuted": False,
    }  # fmt: skip
    Personalization.from_dict(data).write(tmp_path / "p.html")
    opened = open_file(tmp_path / "p.html")
    assert opened.text("#position-note") == bias_note(data)
    for size, shown in ((1280, "wide"), (390, "narrow")):
        opened.page.set_viewport_size({"width": size, "height": 800})
        dots = opened.page.locator(f"#positions svg.{shown} circle.dot:visible")
        at = [float(dots.nth(number).get_attribute("cy")) for number in range(dots.count())]
        assert len(at) == len(points)
        slope = (at[2] - at[0]) / (points[2] - points[0])
        assert at[1] == pytest.approx(at[0] + slope * (points[1] - points[0]), abs=0.2)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= size
    data["position_bias"] |= {"status": "cannot be estimated", "reason": "too few", "p": []}
    Personalization.from_dict(data).write(tmp_path / "q.html")
    opened = open_file(tmp_path / "q.html")
    assert opened.text("#position-note") == "Position bias cannot be estimated from this log: too few."
    assert opened.page.locator("#positions").count() == 0
    assert opened.quiet()
