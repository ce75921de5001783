"""What the charts draw is what Python computes, read back from their lines, bars and axes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.report.assessment import Assessment

pytestmark = pytest.mark.heavy  # hundreds of pages in a browser; test_use.py has the light ones

CLOSE = 0.2  # pixels; lines are drawn to a tenth of one


class Axis:
    """Where a value stands in a chart, by two of the ticks of an axis."""

    def __init__(self, ticks: list[list[Any]]) -> None:
        (first, at), *_, (last, end) = sorted((float(text.replace("−", "-")), at) for text, at in ticks)
        self._zero, self._unit = at - first * (end - at) / (last - first), (end - at) / (last - first)

    def at(self, values: Any) -> Any:
        return self._zero + self._unit * np.asarray(values)


def axes(opened: Any, chart: str) -> tuple[Axis, Axis | None]:
    """The axis up, and the one across where it has ticks."""
    ticks = opened.page.evaluate(
        """(chart) => [...document.querySelectorAll(`#${chart} text.tick`)].map((one) => [
          one.getAttribute("text-anchor"), one.textContent, Number(one.getAttribute("x")), one.getAttribute("y") - 4,
        ])""",
        chart,
    )
    up = [[text, y] for anchor, text, _, y in ticks if anchor == "end"]
    across = [[text, x] for anchor, text, x, _ in ticks if anchor == "middle"]
    return Axis(up), Axis(across) if across else None


def points(opened: Any, selector: str) -> np.ndarray:
    """The corners of a line, in pixels."""
    path = opened.page.locator(selector).get_attribute("d")
    return np.array([[float(x), float(y)] for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)])


def test_curves_over_alpha(show: Any, demo: Assessment) -> None:
    scores, alphas = demo.scores, np.linspace(0, 20, 61)
    geo = np.array([sf.geo_risk(scores.values, alpha) for alpha in alphas])
    expected = [
        ("t-risk", "chosen", [sf.t_test(scores["bold"], scores["today"], alpha).t_robust for alpha in alphas]),
        ("geo-risk", "chosen", geo[:, scores._row("bold")]),
        ("geo-risk", "reference", geo[:, scores._row("today")]),
    ]
    opened = show(demo, "#system=bold")
    for chart, kind, values in expected:
        up, across = axes(opened, chart)
        drawn = points(opened, f"#{chart} path.curve.{kind}")
        np.testing.assert_allclose(drawn[:, 0], across.at(alphas), atol=CLOSE, err_msg=chart)
        np.testing.assert_allclose(drawn[:, 1], up.at(values), atol=CLOSE, err_msg=chart)
    up, _ = axes(opened, "t-risk")
    band = opened.page.locator("#t-risk rect.band")
    top, height = (float(band.get_attribute(name)) for name in ("y", "height"))
    critical = demo.to_dict()["critical_value"]
    assert [top, top + height] == pytest.approx(up.at([critical, -critical]), abs=CLOSE)


def test_break_even_in_the_plane(show: Any, demo: Assessment) -> None:
    opened = show(demo)
    for alpha in (0, 1, 5):
        opened.page.fill("#alpha-number", str(alpha))
        opened.settle()
        up, across = axes(opened, "plane")
        (x0, y0), (x1, y1) = points(opened, "#plane path.limit")
        assert [x0, y0] == pytest.approx([across.at(0), up.at(0)], abs=CLOSE)
        risk = (x1 - x0) / (across.at(1) - across.at(0))
        assert risk > 0
        assert y1 == pytest.approx(up.at((1 + alpha) * risk), abs=1)  # a tenth of a pixel across is more than that up


@pytest.fixture(scope="module")
def outliers() -> Assessment:
    """Most of sixty queries gain a little; two lose what is only much beside that, and one gains much."""
    base = np.linspace(0.4, 0.6, 60)
    change = np.random.default_rng(0).normal(0.1, 0.03, 60)
    change[[3, 30, 50]] = -0.12, -0.1, 0.4
    return sf.assess(sf.Scores([base, base + change], ["today", "new"], range(60)), "today", [0, 5])


@pytest.mark.parametrize("alpha", [0, 10])
def test_the_number_of_queries_significantly_hurt(show: Any, outliers: Assessment, alpha: float) -> None:
    opened = show(outliers, f"#alpha={alpha}")
    ends = {}
    for at in (0, 5, 10, 15):
        tested = sf.risk.query_scores(outliers.scores["new"], outliers.scores["today"], at)
        ends[at] = int((tested.t_j < -tested.critical).sum()), int((tested.t_j > tested.critical).sum())
    hurt, helped = ends[alpha]
    assert (hurt, helped) == (2, 1 if alpha == 0 else 0)
    assert opened.page.locator("#differences text.said.hurt").text_content() == f"▼ {hurt} significantly hurt"
    assert opened.page.locator("#differences text.said.helped").count() == helped
    label = opened.page.locator("#differences svg").get_attribute("aria-label")
    assert label.endswith(f"{hurt} significantly hurt, {helped} significantly helped.")
    assert opened.page.locator("#multiples .panel p").all_text_contents() == [
        f"α = {at} {low} hurt, {high} helped" for at, (low, high) in ends.items()
    ]


def test_bins_of_the_histogram(show: Any) -> None:
    # A bin holds its far end, so that 0.1 is in the first and nothing but a tie is at 0.
    change = [-0.7, -0.25, -0.1, -0.05, -1e-12, 0, 0, 1e-12, 0.1, 0.100001, 0.2, 0.3]
    scores = sf.Scores([np.zeros(12), change], ["today", "new"], range(12))
    opened = show(sf.assess(scores, "today"))
    bars = opened.page.evaluate(
        """() => [...document.querySelectorAll("#histogram rect.bar")].map((bar) => {
          bar.dispatchEvent(new MouseEvent("mousemove", { clientX: 9, clientY: 9 }));
          return [...document.querySelectorAll("#tip div")].map((line) => line.textContent);
        })"""
    )
    assert [[words.replace("−", "-"), number] for words, number in bars] == [
        ["-0.70 to -0.60", "1 query"],
        ["-0.30 to -0.20", "1 query"],
        ["-0.10 to 0.00", "3 queries"],
        ["no change", "2 queries"],
        ["0.00 to +0.10", "2 queries"],
        ["+0.10 to +0.20", "2 queries"],
        ["+0.20 to +0.30", "1 query"],
    ]
    up, _ = axes(opened, "histogram")
    tops = opened.page.evaluate(
        "[...document.querySelectorAll('#histogram rect.bar')].map((bar) => bar.y.baseVal.value)"
    )
    assert tops == pytest.approx(up.at([1, 1, 3, 2, 2, 2, 1]), abs=CLOSE)


def test_profiles_go_from_easy_to_hard(show: Any, demo: Assessment) -> None:
    opened = show(demo, "#system=bold")
    mean = demo.scores.values.mean(axis=0)
    order = np.argsort(-mean, kind="stable")
    up, _ = axes(opened, "profiles")
    for kind, values in [("chosen", demo.scores["bold"]), ("reference", demo.scores["today"]), ("other", mean)]:
        drawn = points(opened, f"#profiles path.curve.{kind}")
        np.testing.assert_allclose(drawn[:, 1], up.at(values[order]), atol=CLOSE, err_msg=kind)
        assert (np.diff(drawn[:, 0]) > 0).all()
