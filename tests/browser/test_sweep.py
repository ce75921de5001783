"""The page of a sweep in a browser: hovered, compared, sorted; nothing logged and nothing loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.choose.gaining import gaining_sweep

import surefoot as sf
from surefoot.choose.recommendation import model_name, recommendation

pytestmark = pytest.mark.heavy  # hundreds of pages in a browser; test_use.py has the light ones


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> sf.TradeOffs:
    made = sf.demo.letor(queries=36, documents=8, features=6, seed=1).with_baselines_only([])
    data = made.with_baseline("today", made.feature(1)).with_baseline("<b>\u202e&", made.feature(2))
    grid = {"n_estimators": 4, "num_leaves": 4, "min_data_in_leaf": 5}
    folder = tmp_path_factory.mktemp("sweep") / "s"
    return sf.sweep(
        data, folder, objectives=["u_risk", "geo_risk"], alphas=[1, 5], grid=grid, folds=3, selective="mean:1"
    )


@pytest.fixture(scope="module")
def gaining() -> sf.TradeOffs:
    return gaining_sweep()


@pytest.fixture
def recommending(gaining: sf.TradeOffs, open_file: Any, tmp_path: Path) -> Any:
    gaining.write(tmp_path / "g.html")
    return open_file(tmp_path / "g.html")


@pytest.fixture
def opened(swept: sf.TradeOffs, open_file: Any, tmp_path: Path) -> Any:
    swept.write(tmp_path / "t.html")
    return open_file(tmp_path / "t.html")


def table(page: Any) -> dict[str, list[str]]:
    """Each candidate's cells, in the order of the table."""
    rows = page.evaluate(
        """() => [...document.querySelectorAll("#body tr")].map((row) => [
          row.querySelector("th button").textContent,
          [...row.querySelectorAll("td")].map((cell) => cell.textContent)])"""
    )
    return dict(rows)


def test_points_carry_their_intervals(swept: sf.TradeOffs, opened: Any) -> None:
    page, rows = opened.page, {row["name"]: row for row in swept.rows}
    crosses = page.locator("#plane .interval")
    shown = set(crosses.evaluate_all("(all) => all.map((one) => one.dataset.of)"))
    assert shown >= {
        page.locator("#one option:checked").inner_text(),
        page.locator("#other option:checked").inner_text(),
    }
    other = next(name for name in rows if name not in shown and rows[name]["kind"] == "model")
    point = page.locator(f'#plane .candidate[data-name="{other}"]')
    point.dispatch_event("mouseenter")
    point.dispatch_event("mousemove", {"clientX": 300, "clientY": 300})
    assert page.locator("#plane .interval.hovered").get_attribute("data-of") == other
    low, high = rows[other]["test"]["interval"]["risk"]
    assert f"risk {low:.4f} to {high:.4f}" in opened.text("#tip")
    point.dispatch_event("mouseleave")
    assert crosses.count() == len(shown)
    # The cross of a point goes from the lower to the upper end of its intervals, through the point.
    box = page.locator(f'#plane .interval[data-of="{next(iter(shown))}"]').bounding_box()
    spot = page.locator(f'#plane .candidate[data-name="{next(iter(shown))}"]').bounding_box()
    assert box["x"] <= spot["x"] + spot["width"] / 2 <= box["x"] + box["width"]
    assert box["y"] <= spot["y"] + spot["height"] / 2 <= box["y"] + box["height"]
    assert "95 % intervals of a point’s gain and risk" in opened.text("main")
    assert opened.quiet()


def test_an_older_result_has_no_crosses(swept: sf.TradeOffs, open_file: Any, tmp_path: Path) -> None:
    data = json.loads(swept.to_json())
    for row in data["rows"]:
        del row["valid"]["interval"], row["test"]["interval"]
    sf.TradeOffs.from_dict(data).write(tmp_path / "old.html")
    opened = open_file(tmp_path / "old.html")
    assert opened.page.locator("#plane .interval").count() == 0
    assert "interval" not in opened.text("main")
    assert opened.quiet()


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
    assert heads == ["query", first, "u_risk α=5", "difference"]
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
    swept.write(tmp_path / "t.html")
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
    for column in range(1, page.locator("#head button").count()):  # the first has names
        for direction in ("descending", "ascending"):
            page.locator("#head button").nth(column).click()
            opened.settle()
            assert page.locator("#head th[aria-sort]").get_attribute("aria-sort") == direction
            values = [cells[column - 1].replace("−", "-") for cells in table(page).values()]
            numbers = [float(value) for value in values if value != "–"]
            assert numbers == sorted(numbers, reverse=direction == "descending")
            assert all(value == "–" for value in values[len(numbers) :])  # what has no value comes last
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


def test_it_opens_at_the_recommended_model_against_gain_alone(gaining: sf.TradeOffs, recommending: Any) -> None:
    page, choice = recommending.page, gaining.to_dict()["recommendation"]
    assert recommending.text("#headline") == recommendation(gaining.to_dict()).headline
    assert choice["rule"] in recommending.text(".lead")
    sides = [page.locator(f"#{side} option:checked").inner_text() for side in ("one", "other")]
    assert sides[0] == "gain"
    assert choice["choice"] == "take"
    assert sides[1] == choice["name"] != "gain"
    assert page.locator("#plane circle.ring").count() == 1
    assert page.locator("#body tr", has=page.locator(".tag", has_text="recommended")).locator(
        "button"
    ).all_inner_texts() == [choice["name"]]
    assert recommending.quiet()


def test_nothing_is_recommended_where_nothing_gains(swept: sf.TradeOffs, opened: Any) -> None:
    assert swept.to_dict()["recommendation"]["choice"] == "keep"
    assert opened.text("#headline") == "Keep today: no model gains on validation queries"
    assert opened.text("#chip") == "Keep"
    assert opened.page.locator("#plane circle.ring").count() == 0
    assert opened.quiet()


@pytest.mark.parametrize("width", [400, 1280])
def test_points_have_labels_that_do_not_overlap(
    gaining: sf.TradeOffs, open_file: Any, tmp_path: Path, width: int
) -> None:
    gaining.write(tmp_path / "t.html")
    page = open_file(tmp_path / "t.html", viewport={"width": width, "height": 900}).page
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("#plane text.at")].map((text) => {
          const box = text.getBoundingClientRect();
          return [text.textContent, box.left, box.right, box.top + 3, box.bottom - 3];
        })"""
    )
    name = gaining.to_dict()["recommendation"]["name"]
    assert model_name(name) in [box[0] for box in boxes]
    assert len(boxes) >= 3
    for number, (one, left, right, top, bottom) in enumerate(boxes):
        assert right <= width
        for other, start, end, high, low in boxes[:number]:
            assert right <= start or end <= left or bottom <= high or low <= top, (one, other)


def test_each_question_has_its_chart(swept: sf.TradeOffs, opened: Any) -> None:
    page, answers = opened.page, swept.to_dict()["answers"]
    assert len(answers) == 4
    for number, answer in enumerate(answers):
        figure = page.locator("figure", has=page.locator(f"#answer-{number}"))
        assert answer["question"] in figure.inner_text()
        assert answer["answer"] in figure.inner_text()
        assert figure.locator(".chip").inner_text().lower() == answer["holds"]
        assert figure.locator("circle.spot").count() >= 4
    page.locator("#answer-1 circle.spot").last.dispatch_event("mousemove", {"clientX": 300, "clientY": 300})
    trees = [row["convergence"]["trees"] for row in swept.rows if row["name"] == "geo_risk α=5"]
    assert f"{trees[0]:.1f}" in opened.text("#tip")
    assert opened.quiet()


def test_a_link_keeps_what_is_compared(swept: sf.TradeOffs, opened: Any) -> None:
    page = opened.page
    page.select_option("#one", label="today")
    page.select_option("#other", label="geo_risk α=5")
    page.select_option("#part", "valid")
    opened.until("() => location.hash.includes('part=valid')")
    address = page.evaluate("() => location.hash")
    page.goto("about:blank")
    opened.go(address)
    sides = [page.locator(f"#{side} option:checked").inner_text() for side in ("one", "other")]
    assert (sides, page.locator("#part").input_value()) == (["today", "geo_risk α=5"], "valid")
    page.goto("about:blank")
    opened.go("#one=999&other=-1&part=odd&alpha=x")  # an address of another page
    assert page.locator("#one option:checked").inner_text() == "gain"
    assert page.locator("#part").input_value() == "test"


def test_an_answer_need_not_have_a_chart(swept: sf.TradeOffs, open_file: Any, tmp_path: Path) -> None:
    data = json.loads(swept.to_json())
    data["answers"] = [{key: answer[key] for key in ("question", "answer")} for answer in data["answers"]]
    sf.TradeOffs.from_dict(data).write(tmp_path / "t.html")
    opened = open_file(tmp_path / "t.html")
    assert opened.text("#headline") == recommendation(swept.to_dict()).headline
    assert data["answers"][0]["answer"] in opened.text("main")
    assert opened.page.locator("#answer-0").count() == 0
    assert opened.quiet()
