"""The page of personalization in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.clicks.logs import GRADES, YANDEX14, generated, made

from surefoot.personal.study import Personalization, study


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Personalization:
    folder = tmp_path_factory.mktemp("personal")
    table = made(generated(folder, 60, queries=30), folder / "made", YANDEX14, GRADES)
    small = {"betas": (0.1, 0.5), "alphas": (1.0,), "lowest": (1.0,)}
    return study(table, labels="grades", grid=small, ranker={"n_estimators": 10, "min_data_in_leaf": 20})


def test_a_session_can_be_looked_at(open_file: Any, result: Personalization, tmp_path: Path) -> None:
    result.to_html(tmp_path / "p.html")
    opened = open_file(tmp_path / "p.html")
    page = opened.page
    data = result.to_dict()
    assert page.locator("#all circle.point").count() <= len(data["rows"])
    assert page.locator("table.systems tbody tr").count() == len(data["chosen"])
    shown = data["sessions"][0]["lists"][0]
    for model, order in shown["orders"].items():
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


def test_the_curve_is_of_the_part_that_is_looked_at(open_file: Any, result: Personalization, tmp_path: Path) -> None:
    result.to_html(tmp_path / "p.html")
    opened = open_file(tmp_path / "p.html")
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


def test_segments_are_on_the_page(open_file: Any, result: Personalization, tmp_path: Path) -> None:
    data = json.loads(result.to_json())
    for row in data["chosen"]:
        row["segments"] = {
            "kind": {"head": {"share_reranked": 0.25, "gain": 0.0123}, "tail": {"share_reranked": 1.0, "gain": -0.5}}
        }
    Personalization.from_dict(data).to_html(tmp_path / "p.html")
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
    Personalization.from_dict(data).to_html(tmp_path / "p.html")
    opened = open_file(tmp_path / "p.html")
    assert opened.page.title() != "x"
    assert "</script>" in opened.text("#lists-body")
    assert opened.quiet()
