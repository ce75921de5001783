"""The views of notebooks in a browser: both themes, a phone, and beside each other."""

from __future__ import annotations

from typing import Any

import pytest
from tests.report.test_notebook import hostile_data

PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'


@pytest.mark.parametrize(
    ("scheme", "ink", "ground"),
    [("light", "rgb(22, 32, 44)", "rgb(245, 246, 248)"), ("dark", "rgb(233, 238, 244)", "rgb(15, 20, 26)")],
)
@pytest.mark.parametrize("width", [1200, 390])
def test_all_views(browser: Any, scheme: str, ink: str, ground: str, width: int) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    seen: list[str] = []
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: seen.append(request.url))
    views = [one._repr_html_() for one in hostile_data().values()]
    page.set_content(f"{PAGE}<body><p id=outside>words</p>{''.join(views)}</body>")
    own = "element => [getComputedStyle(element).color, getComputedStyle(element).backgroundColor]"
    for number in range(len(views)):
        assert page.locator(".surefoot").nth(number).evaluate(own) == [ink, ground]
    assert page.locator("#outside").evaluate("element => getComputedStyle(element).fontSize") == "16px"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("img, script").count() == 0
    assert seen == []
    page.close()
