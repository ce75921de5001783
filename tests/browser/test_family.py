"""What all pages promise: they fit a screen and a phone, clip nothing, and their headline is the decision of the JSON.

`SAMPLES` has a maker for each kind of page, with usual and with hostile names: it writes the page to a path, and gives
the words of the decision, taken from the result's JSON, that the headline must hold.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser import samples_of_decisions
from tests.choose.gaining import gaining_sweep
from tests.personal.small import small_study

import surefoot as sf
from surefoot.choose.recommendation import recommend as sweep_recommendation
from surefoot.personal.recommendation import recommend as study_recommendation
from surefoot.report.provenance import Link, Provenance, SourceFile

pytestmark = pytest.mark.heavy  # hundreds of pages in a browser; test_use.py has the light ones

LONG = "a-very-long-name-of-a-system-" * 4 + "v2"
HOSTILE = "<img src=x onerror=alert(1)>"
PROVENANCE = Provenance(
    "Spring release",
    "surefoot evaluate " + "x" * 200,
    [SourceFile("qrels.txt", "ab" * 32)],
    [Link("page", "page.html")],
)


def evaluate(path: Path) -> str:
    """Twelve systems on 200 queries: one of them is better."""
    made = sf.demo.runs()
    assessment = sf.assess(sf.score(made.qrels, made.runs, "nDCG@10"), baseline="today", alphas=[1], depth=10)
    assessment.write(path, provenance=PROVENANCE)
    data = assessment.to_dict()
    better = [row for row in data["systems"] if row["alpha"]["1"]["outcome"] == "better"]
    return f"{max(better, key=lambda row: row['alpha']['1']['u_risk'])['system']} gains "


def evaluate_long_names(path: Path) -> str:
    """Long and hostile names, few queries: nothing is better, with a caution."""
    rng = np.random.default_rng(0)
    queries = [f"a query with many words that goes on and on, number {i}" for i in range(30)]
    scores = sf.Scores(rng.random((4, 30)), [HOSTILE, LONG, "x" * 150, "short"], queries, "nDCG@10")
    kinds = {"a column of segments " * 4: dict.fromkeys(queries[:20], "segment " * 12)}
    assessment = sf.assess(scores, HOSTILE, segments=kinds)
    assessment.write(path, texts=dict.fromkeys(queries, "words " * 40), provenance=PROVENANCE)
    assert not any(row["alpha"]["1"]["outcome"] == "better" for row in assessment.to_dict()["systems"])
    return f"No system is better than {HOSTILE} at "


def trade_offs(path: Path) -> str:
    """A sweep in which one model is recommended."""
    result = gaining_sweep()
    result.write(path, provenance=PROVENANCE)
    choice = result.to_dict()["recommendation"]
    assert choice["choice"] == "take"
    return f"Take {choice['name'].replace('=', ' = ')}"


def trade_offs_long_names(path: Path) -> str:
    """Long names of candidates and queries, a hostile baseline, and nothing that gains."""
    data = json.loads(gaining_sweep().to_json())
    data["baselines"][0]["name"] = HOSTILE
    data["names"] = [f"{LONG} {number}" for number in range(len(data["names"]))]
    data["answers"][0]["answer"] = f"{HOSTILE} {LONG}"
    for row in data["rows"]:
        row["name"], row["objective"] = f"{LONG}{row['name']}", f"{LONG}{row['objective']}"
        row["valid"]["gain"] = -0.25
    data["recommendation"] = sweep_recommendation(data)
    sf.TradeOffs.from_dict(data).write(path, provenance=PROVENANCE)
    return f"Keep {HOSTILE}: "


def personalize(path: Path) -> str:
    """A study in which one model is recommended."""
    result = small_study()
    result.write(path, provenance=PROVENANCE)
    choice = result.to_dict()["recommendation"]
    verb = {"take": "Take", "unclear": "We cannot tell yet:", "keep": "Keep the shown order:"}[choice["choice"]]
    return f"{verb} {choice['label'][0].lower()}{choice['label'][1:]}"


def personalize_long_names(path: Path) -> str:
    """Long and hostile names of sessions, queries, documents, methods and segments."""
    data = json.loads(small_study().to_json())
    for row in data["chosen"]:
        row["label"] += f" {LONG}"
        row["segments"] = {
            LONG: {HOSTILE: {"share_reranked": 0.25, "gain": 0.0123}, LONG: {"share_reranked": 1, "gain": -0.5}}
        }
    for session in data["sessions"]:
        session["session"] = LONG
        for shown in session["lists"]:
            shown["query"], shown["documents"] = HOSTILE, [f"{LONG}{document}" for document in shown["documents"]]
            shown["orders"] = {f"{label} {LONG}": order for label, order in shown["orders"].items()}
    data["recommendation"] = study_recommendation(data)
    result = sf.Personalization.from_dict(data)
    result.write(path, provenance=PROVENANCE)
    return LONG


SAMPLES: dict[str, Callable[[Path], str]] = {
    "decision": partial(samples_of_decisions.decision, provenance=PROVENANCE),
    "decision, long names": partial(samples_of_decisions.undecided, provenance=PROVENANCE),
    "decision with an automatic judge": partial(samples_of_decisions.decision_with_judge, provenance=PROVENANCE),
    "agreement": partial(samples_of_decisions.agreement, provenance=PROVENANCE),
    "agreement, long names": partial(samples_of_decisions.agreement_long_names, provenance=PROVENANCE),
    "history": partial(samples_of_decisions.history, provenance=PROVENANCE),
    "history, long names": partial(samples_of_decisions.history_long_names, provenance=PROVENANCE),
    "certificate": partial(samples_of_decisions.certificate, provenance=PROVENANCE),
    "certificate, long names": partial(samples_of_decisions.refused_certificate, provenance=PROVENANCE),
    "stability": partial(samples_of_decisions.stability, provenance=PROVENANCE),
    "stability, long names": partial(samples_of_decisions.stability_long_names, provenance=PROVENANCE),
    "evaluate": evaluate,
    "evaluate, long names": evaluate_long_names,
    "trade-offs": trade_offs,
    "trade-offs, long names": trade_offs_long_names,
    "personalize": personalize,
    "personalize, long names": personalize_long_names,
}

# Elements that hide a part of themselves, but for those that only screen readers and keyboards meet.
CLIPPED = """() => [...document.querySelectorAll("body *")].filter((one) => {
  const { overflowX, textOverflow } = getComputedStyle(one);
  return (overflowX === "hidden" || overflowX === "clip" || textOverflow === "ellipsis") &&
    one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && !one.closest(".hidden, svg, select");
}).map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 60)}`)"""
# Charts that must be moved to be seen.
SCROLLED_CHARTS = """() => [...document.querySelectorAll(".chart")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent.slice(0, 60))"""
# Texts that are drawn smaller than 11 px; what a chart scales down counts as it is seen.
SMALL = """() => {
  const small = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !parent.getClientRects().length) continue;
    if (parent.closest("script, style, noscript, title, .hidden")) continue;
    const scale = parent.getScreenCTM?.()?.a ?? 1, size = parseFloat(getComputedStyle(parent).fontSize) * scale;
    if (size < 10.95) small.push(`${size.toFixed(1)} px: ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return small;
}"""

# Figures whose sign stands at the end of a line, or begins one, as in "α" and "= 5".
BROKEN = """() => {
  const broken = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest("svg, code, option")) continue;
    for (const { index } of node.data.matchAll(/ (?=[%=≤≥] ?)|(?<=[=≤≥]) (?=\\d)/gu)) {
      const [before, after] = [index - 1, index + 1].map((at) => {
        const range = document.createRange();
        range.setStart(node, Math.max(0, at));
        range.setEnd(node, Math.max(0, at) + 1);
        return range.getBoundingClientRect();
      });
      if (index > 0 && after.top > before.bottom) broken.push(node.data.slice(Math.max(0, index - 20), index + 10));
    }
  }
  return broken;
}"""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, str]]:
    """Make a page when it is first needed; its path, and the words of its decision."""
    folder = tmp_path_factory.mktemp("pages")
    made: dict[str, tuple[Path, str]] = {}

    def sample(kind: str) -> tuple[Path, str]:
        if kind not in made:
            path = folder / f"{len(made)}.html"
            made[kind] = (path, SAMPLES[kind](path))
        return made[kind]

    return sample


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("kind", list(SAMPLES))
def test_a_page_fits_and_decides(samples: Any, open_file: Any, kind: str, width: int) -> None:
    path, decision = samples(kind)
    opened = open_file(path, viewport={"width": width, "height": 900})
    for scheme in ("light", "dark"):
        opened.page.emulate_media(color_scheme=scheme)
        opened.settle()
        assert decision in opened.text("#headline")
        assert opened.text("#chip")
        assert 4 <= opened.page.locator(".tiles > div").count() <= 6
        assert opened.page.evaluate("document.documentElement.scrollWidth") == width
        assert opened.page.evaluate(CLIPPED) == []
        assert opened.page.evaluate(SCROLLED_CHARTS) == []
        assert opened.page.evaluate(SMALL) == []
        assert opened.page.evaluate(BROKEN) == []
    assert opened.text("#named") == "Spring release"
    foot = opened.text("#made")
    for words in ("UTC", "surefoot evaluate xxx", "qrels.txt abababababab", "page", f"surefoot {sf.__version__}"):
        assert words in foot
    assert opened.quiet()


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if "," not in kind])
def test_the_look_can_be_turned_and_printed(samples: Any, open_file: Any, kind: str) -> None:
    opened = open_file(samples(kind)[0], color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = opened.page.evaluate(ground)
    opened.page.click("#theme")
    assert opened.page.evaluate(ground) != light
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate(ground) == "rgb(255, 255, 255)"
    assert opened.page.locator(".tools").first.is_hidden()
    assert opened.quiet()


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if "," not in kind])
def test_every_table_and_chart_can_be_taken_away(samples: Any, open_file: Any, kind: str) -> None:
    opened = open_file(samples(kind)[0])
    page = opened.page

    def downloaded(button: Any) -> bytes:
        with page.expect_download() as waited:
            button.click()
        return waited.value.path().read_bytes()

    tables = page.locator("table.data:visible").count()
    assert tables == page.locator("main table:visible").count()
    buttons = page.get_by_role("button", name="CSV").filter(visible=True)
    assert buttons.count() == tables
    for button in buttons.all():
        lines = list(csv.reader(io.StringIO(downloaded(button).decode())))
        assert len(lines) > 1
        assert len({len(line) for line in lines}) == 1
    charts = page.locator("figure:visible").filter(has=page.locator("svg")).count()
    vectors = page.get_by_role("button", name="SVG", exact=False).filter(visible=True)
    assert vectors.count() >= charts
    if charts:
        picture = downloaded(vectors.first).decode()
        assert picture.startswith("<svg")
        assert "var(" not in picture
        assert "class=" not in picture
        pixels = downloaded(page.get_by_role("button", name="PNG").filter(visible=True).first)
        assert pixels.startswith(b"\x89PNG")
        assert len(pixels) > 2000
    assert opened.quiet()


def test_markdown_is_copied_or_shown(samples: Any, open_file: Any) -> None:
    opened = open_file(samples("evaluate, long names")[0], permissions=["clipboard-read", "clipboard-write"])
    opened.page.get_by_label("Copy Systems as Markdown").click()
    opened.until("[...document.querySelectorAll('.tools button')].some((one) => one.textContent === 'copied')")
    text = opened.page.evaluate("navigator.clipboard.readText()")
    heads, rule, *rows = text.splitlines()
    assert heads.startswith("| system | mean |")
    assert set(rule) <= set("|-:")
    assert len(rows) == 4
    assert any(r"\<img src=x onerror=alert(1)\>" in row for row in rows)
    opened.page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error());"
        " document.execCommand = () => false; }"
    )
    opened.page.get_by_label("Copy Segments as Markdown").click()
    assert opened.page.locator(".copied textarea").input_value().startswith("| segment |")
    opened.page.get_by_role("button", name="Close").filter(visible=True).click()
    assert opened.page.locator(".copied").count() == 0


def test_a_table_sorts_by_its_headings_and_the_link_keeps_it(samples: Any, open_file: Any) -> None:
    opened = open_file(samples("evaluate")[0])
    page = opened.page
    heading = page.locator("#queries th", has_text="T_J")

    def column() -> list[float]:
        cells = page.locator("#queries-body tr td:nth-child(6)").all_inner_texts()
        return [float(cell.replace("−", "-")) for cell in cells]

    given = column()
    heading.locator("button").click()
    opened.settle()
    assert (heading.get_attribute("aria-sort"), column()) == ("descending", sorted(column(), reverse=True))
    opened.until("location.hash.includes('sort.queries=-5')")
    opened.go("#" + page.url.partition("#")[2])
    page.reload()
    page.wait_for_selector("html.ready", state="attached")
    assert column() == sorted(column(), reverse=True)
    page.keyboard.press("Tab")
    heading.locator("button").focus()
    page.keyboard.press("Enter")
    opened.settle()
    assert (heading.get_attribute("aria-sort"), column()) == ("ascending", sorted(column()))
    page.keyboard.press("Enter")
    opened.settle()
    assert (heading.get_attribute("aria-sort"), column()) == (None, given)
    assert opened.quiet()
