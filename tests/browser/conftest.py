"""A browser for the page: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.report.assessment import Assessment

CHROMIUM = Path(os.environ.get("SUREFOOT_CHROMIUM", "/usr/bin/chromium"))
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if not CHROMIUM.exists():
        absent = f"no browser at {CHROMIUM}; apt-get install chromium, or set SUREFOOT_CHROMIUM"
        # A contributor may lack one; a build that lets the page go untried must not pass.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(absent)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield running
        running.close()


class Opened:
    """A page in the browser, with everything it did that a quiet page does not do."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address
        self.console: list[str] = []
        self.dialogs: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self.requests.append(request.url))

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def go(self, fragment: str = "") -> Opened:
        self.page.goto(self.address + fragment)
        self.page.wait_for_selector("html.ready", state="attached")
        return self

    def settle(self) -> None:
        """Wait until what was asked for has been drawn."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def until(self, expression: str, argument: Any = None) -> None:
        """Wait for a condition; the page's policy forbids Playwright's own polling, which evaluates strings."""
        for _ in range(200):
            if self.page.evaluate(expression, argument):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never came true: {expression}")

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def in_words(self) -> str:
        """What the page says of the system that is shown, and the caution above it: as Assessment.outcome has it."""
        caution = self.page.locator("#caution")
        return self.text("#effect") + (f" {caution.inner_text()}" if caution.is_visible() else "")

    def first_column(self) -> list[str]:
        return self.page.locator("#systems-body th button").all_inner_texts()

    def quiet(self) -> bool:
        """Whether nothing was logged, asked or loaded but the file itself."""
        others = [url for url in self.requests if not url.startswith((self.address, "data:", "blob:"))]
        assert (self.console, self.dialogs, others) == ([], [], [])
        return True


@pytest.fixture
def open_file(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open a page; keyword arguments go to the browser's context."""
    contexts = []

    def opened(path: Path, fragment: str = "", **options: Any) -> Opened:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(10_000)
        contexts.append(context)
        return Opened(context.new_page(), path.as_uri()).go(fragment)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def show(open_file: Callable[..., Opened], tmp_path: Path) -> Callable[..., Opened]:
    """Open an assessment's page; keyword arguments go to the page if it knows them, else to the browser's context."""

    def opened(assessment: Assessment, fragment: str = "", **options: Any) -> Opened:
        path = tmp_path / "report.html"
        known = ("texts", "documents", "title", "system")
        page_options = {key: options.pop(key) for key in known if key in options}
        if "bold" in assessment.scores.systems:  # of the demo's systems the one with most to see
            page_options.setdefault("system", "bold")
        assessment.write(path, **page_options)
        return open_file(path, fragment, **options)

    return opened


@pytest.fixture(scope="session")
def demo() -> Assessment:
    """A dozen systems with runs and judgments."""
    made = sf.demo.runs(queries=60)
    return sf.assess(sf.score(made.qrels, made.runs, "nDCG@10"), baseline="today", alphas=[0, 5], depth=10)


@pytest.fixture(scope="session")
def trec_2012(data: Path) -> sf.Scores:
    return sf.read_scores(data / "trec-web-2012" / "err20.csv", "ERR@20")
