"""The page of a sweep in a browser: hovered, compared, sorted; nothing logged and nothing loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import surefoot as sf


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> sf.TradeOffs:
    made = sf.synthetic_letor(queries=36, documents=8, features=6, seed=1).with_only([])
    data = made.with_baseline("today", made.feature(1)).with_baseline("<b>\u202e&", made.feature(2))
    grid = {"n_estimators": 4, "num_leaves": 4, "min_data_in_leaf": 5}
    folder = tmp_path_factory.mktemp("sweep") / "s"
    return sf.sweep(
        data, folder, objectives=["u_risk", "geo_risk"], alphas=[1, 5], grid=grid, folds=3, selective="mean:1"
    )


@pytest.fixture
def opened(swept: sf.TradeOffs, open_file: Any, tmp_path: Path) -> Any:
    swept.write_html(tmp_path / "t.html")
    return open_file(tmp_path / "t.html")


def table(page: Any) -> dict[str, list[str]]:
    """Each candidate's cells, in the order of the table."""
    rows = page.evaluate(
        """() => [...document.querySelectorAll("#body tr")].map((row) => [
          row.querySelector("th button").textContent,
          [...row.querySelectorAll("td")].map((cell) => cell.textContent)])"""
    )
    return dict(rows)


def test_points_are_hovered_and_compared(swept: sf.TradeOffs, opened: Any) -> None:
    page = opened.page
    assert page.locator("#plane .candidate").count() == len(swept.rows)
    row = next(row for row in swept.rows if row["name"] == "u_risk α=5")
    point = page.locator('#plane .candidate[data-name="u_risk α=5"]')
    point.dispatch_event("mousemove", {"clientX": 300, "clientY": 300})
    assert f"risk {row['test']['risk']:.4f}" in opened.text("#tip")
    point.dispatch_event("click")
    opened.settle()
    assert page.locator("#other option:checked").inner_text() == "u_risk α=5"
    first = page.locator("#one option:checked").inner_text()
    one = next(each for each in swept.rows if each["name"] == first)
    changed = [mine - other for mine, other in zip(row["per_query"], one["per_query"], strict=True)]
    helped = sum(change > 0 for change in changed)
    assert f"{helped} helped, {sum(change < 0 for change in changed)} hurt" in opened.text("#compare-note")
    heads = page.locator("#queries-head th").all_inner_texts()
    assert heads == ["query", first[:15] + "…" if len(first) > 16 else first, "u_risk α=5", "difference"]
    worst = min(range(len(changed)), key=changed.__getitem__)
    cells = page.locator("#queries-body tr").first.locator("td").all_inner_texts()
    assert changed[worst] < 0
    assert [float(cell.replace("−", "-")) for cell in cells] == pytest.approx(
        [one["per_query"][worst], row["per_query"][worst], changed[worst]], abs=6e-5
    )
    page.locator('#plane .candidate[data-name="geo_risk α=1"]').dispatch_event("click")
    opened.settle()
    picked = [page.locator(f"#{side} option:checked").inner_text() for side in ("one", "other")]
    assert picked == ["u_risk α=5", "geo_risk α=1"]  # the newest is the second of the two
    page.select_option("#part", "valid")
    opened.settle()
    point = page.locator('#plane .candidate[data-name="u_risk α=5"]')
    point.dispatch_event("mousemove", {"clientX": 300, "clientY": 300})
    assert f"risk {row['valid']['risk']:.4f}" in opened.text("#tip")
    page.locator("#head button", has_text="risk").first.click()
    opened.settle()
    assert opened.quiet()


def test_the_table_sorts_and_charts_follow_the_objective(swept: sf.TradeOffs, open_file: Any, tmp_path: Path) -> None:
    swept.write_html(tmp_path / "t.html")
    opened = open_file(tmp_path / "t.html", viewport={"width": 400, "height": 800})
    page = opened.page
    page.locator("#head button", has_text="lost").click()
    opened.settle()
    names = page.locator("#body th button").all_inner_texts()
    losses = {row["name"]: row["test"]["losses"] for row in swept.rows}
    shown = [losses[name] for name in names if name in losses]
    assert shown == sorted(shown, reverse=True)
    page.locator("#head button", has_text="lost").click()
    opened.settle()
    names = page.locator("#body th button").all_inner_texts()
    shown = [losses[name] for name in names if name in losses]
    assert shown == sorted(shown)
    assert page.locator("#head th[aria-sort]").get_attribute("aria-sort") == "ascending"
    page.select_option("#objective", "geo_risk")
    opened.settle()
    trees = next(row["convergence"]["trees"] for row in swept.rows if row["name"] == "geo_risk α=5")
    assert f"α = 5: {trees:.1f} trees" in opened.text("#convergence")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert opened.quiet()


def test_a_point_is_clicked_with_the_mouse(swept: sf.TradeOffs, opened: Any) -> None:
    page = opened.page
    page.locator("#plane").scroll_into_view_if_needed()
    # Points may cover each other: those that a reader can reach lie on top at their own centre.
    reachable = page.evaluate(
        """() => [...document.querySelectorAll("#plane .candidate:not(.picked)")].map((point) => {
          const box = point.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
          return document.elementFromPoint(x, y) === point ? [point.dataset.name, x, y] : null;
        }).filter(Boolean)"""
    )
    assert reachable
    name, x, y = reachable[0]
    page.mouse.move(x, y)
    assert name in opened.text("#tip")
    page.mouse.click(x, y)
    opened.settle()
    assert page.locator("#other option:checked").inner_text() == name
    assert page.locator("#plane .candidate.picked").count() == 2
    assert name in page.locator("#body tr.picked th button").all_inner_texts()
    page.mouse.move(1, 1)
    assert page.locator("#tip").is_hidden()
    assert opened.quiet()


def test_a_name_in_the_table_is_clicked(swept: sf.TradeOffs, opened: Any) -> None:
    page = opened.page
    page.locator("#body th button", has_text="geo_risk α=5").first.click()
    opened.settle()
    assert page.locator("#other option:checked").inner_text() == "geo_risk α=5"
    page.select_option("#one", label="geo_risk α=5")
    opened.settle()
    assert "changes 0 queries" in opened.text("#compare-note")
    assert page.locator("#differences rect.bar").count() == 0
    assert page.locator("#queries-body tr").count() == 0
    page.select_option("#one", label="today")
    opened.settle()
    row = next(row for row in swept.rows if row["name"] == "geo_risk α=5")
    figures = row["test"]
    assert f"{figures['wins']:.0f} helped, {figures['losses']:.0f} hurt" in opened.text("#compare-note")
    assert opened.quiet()


def test_the_part_is_switched(swept: sf.TradeOffs, opened: Any) -> None:
    page = opened.page
    places = {}
    for part in ("test", "valid", "test"):
        page.select_option("#part", part)
        opened.settle()
        cells = table(page)
        for row in swept.rows:
            figures = row[part]
            assert f"{figures['reward']:.4f}" in cells[row["name"]]
            assert f"{figures['risk']:.4f}" in cells[row["name"]]
        assert f"on {part} queries" in page.locator("#plane svg").get_attribute("aria-label")
        shown = page.evaluate("() => [...document.querySelectorAll('#plane .candidate')].map((one) => one.outerHTML)")
        assert places.setdefault(part, shown) == shown
    assert places["test"] != places["valid"]
    # Two candidates are compared on test queries, whatever part is looked at.
    assert opened.text("#compare-note").startswith("On test queries")
    assert opened.quiet()


def test_every_column_sorts_on_the_part_that_is_looked_at(swept: sf.TradeOffs, opened: Any) -> None:
    page = opened.page
    page.select_option("#part", "valid")
    opened.settle()
    unsorted = list(table(page))
    for column in range(page.locator("#head button").count()):
        for direction in ("descending", "ascending"):
            page.locator("#head button").nth(column).click()
            opened.settle()
            assert page.locator("#head th[aria-sort]").get_attribute("aria-sort") == direction
            values = [cells[column].replace("−", "-") for cells in table(page).values()]
            numbers = [float("-inf") if value == "–" else float(value) for value in values]
            assert numbers == sorted(numbers, reverse=direction == "descending")
    assert sorted(table(page)) == sorted(unsorted)
    assert opened.quiet()


def test_break_even_follows_alpha(swept: sf.TradeOffs, opened: Any) -> None:
    page = opened.page
    slopes = []
    for alpha in ("1", "5"):
        page.select_option("#alpha", alpha)
        opened.settle()
        assert f"gain = {alpha} · risk" in page.locator("#plane svg").text_content()
        slopes.append(page.locator("#plane path.limit").get_attribute("d"))
    assert slopes[0] != slopes[1]
    assert opened.quiet()
