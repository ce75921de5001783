"""Pictures of the page for the documentation, from the demo's data: `make screenshots`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import surefoot as sf

CHROMIUM = os.environ.get("SUREFOOT_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
IMAGES = Path(__file__).parent / "images"
STATE = "#alpha=5&baseline=today&system=bold"


def main() -> None:
    """Write page-light.png, page-dark.png, page-phone.png, page-query.png, trade-offs.png and personalize.png."""
    made = sf.demo.runs()
    assessment = sf.assess(sf.score(made.qrels, made.runs, "nDCG@10"), baseline="today", alphas=[0, 5], depth=10)
    hurt = assessment.per_query().filter(system="bold").sort("difference", "query")["query"][0]
    wide, phone = {"width": 1280, "height": 1640}, {"width": 390, "height": 1200}
    pictures = [
        ("page-light", STATE, {"color_scheme": "light", "viewport": wide}),
        ("page-dark", STATE, {"color_scheme": "dark", "viewport": wide}),
        ("page-phone", STATE, {"color_scheme": "light", "viewport": phone}),
        ("page-query", f"{STATE}&query={hurt}", {"color_scheme": "light", "viewport": {"width": 1280, "height": 940}}),
    ]
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path, swept, learned = (Path(folder) / f"{name}.html" for name in ("report", "trade-offs", "personalize"))
        assessment.write(path)
        trade_offs(Path(folder) / "sweep").to_html(swept)
        personalized(Path(folder)).to_html(learned)
        pages = {"trade-offs": swept, "personalize": learned}
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        pictures.append(("trade-offs", "", {"color_scheme": "light", "viewport": {"width": 1280, "height": 1180}}))
        pictures.append(("personalize", "", {"color_scheme": "light", "viewport": {"width": 1280, "height": 1930}}))
        for name, state, options in pictures:
            page = browser.new_page(**options)
            page.goto(pages.get(name, path).as_uri() + state)
            page.wait_for_selector("html.ready", state="attached")
            page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")
            page.close()
            print(f"{name}.png: {(IMAGES / f'{name}.png').stat().st_size / 1000:.0f} KB")
        browser.close()


def trade_offs(folder: Path) -> sf.TradeOffs:
    """A sweep on generated data."""
    data = sf.demo.letor(queries=400, documents=40, features=20, seed=1)
    grid = {"num_leaves": 8, "n_estimators": 60, "min_data_in_leaf": 30}
    return sf.sweep(data, folder, objectives=["u_risk", "saro", "faro"], seeds=[0, 1], grid=grid, selective="mean:1")


def personalized(folder: Path) -> sf.Personalization:
    """Re-rankers learned from a generated log."""
    sf.demo.clicks(folder / "clicks.log", users=4000, seed=1, layout="yandex2014")
    return sf.personalize(folder / "clicks.log", folder / "study")


if __name__ == "__main__":
    main()
