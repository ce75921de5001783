"""Every chart of every page with values that are all one, single, nearly one, huge or next to nothing: it is drawn."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser.test_personal import result as personal_result  # noqa: F401
from tests.browser.test_sweep import swept as swept_result  # noqa: F401

import surefoot as sf
from surefoot.personal.study import Personalization
from surefoot.report.line_chart import ChartLine, line_chart

pytestmark = pytest.mark.heavy  # hundreds of pages in a browser; test_use.py has the light ones

BASE = np.random.default_rng(0).random((3, 40))
SCORES: dict[str, np.ndarray] = {
    "equal to the baseline": np.stack([BASE[0], BASE[0]]),
    "all one": np.full((3, 40), 0.25),
    "all nothing": np.zeros((3, 40)),
    "a single query": BASE[:, :1],
    "a single system": BASE[:1],
    "nearly one": 0.5 + 1e-16 * np.round(10 * BASE),
    "a tiny range": 0.5 + 1e-12 * BASE,
    "next to nothing": 1e-300 * BASE,
    "huge": 1e99 * BASE,
    "of both signs and huge": 1e99 * (BASE - 0.5),
    "one far from the others": np.where(np.arange(40) == 7, 1e90, BASE),
}
NOT_DRAWN = """() => [...document.querySelectorAll("svg *")].flatMap((one) => [...one.attributes]
  .filter(({ name }) => !["class", "data-name", "aria-label"].includes(name))
  .filter(({ value }) => /NaN|Infinity|undefined/.test(value))
  .map(({ name, value }) => `${one.tagName} ${name}=${value}`)).slice(0, 5)"""
TICKS = "() => Math.max(0, ...[...document.querySelectorAll('svg')].map((one) => one.querySelectorAll('.tick').length))"


def drawn(opened: Any) -> bool:
    """Whether every mark has a place, and no more ticks than can be read."""
    assert opened.page.evaluate(NOT_DRAWN) == []
    assert opened.page.evaluate(TICKS) <= 60
    return opened.quiet()


@pytest.mark.parametrize("kind", SCORES)
def test_an_assessment(show: Any, kind: str) -> None:
    values = SCORES[kind]
    names = ["today", "new", "old"][: len(values)]
    scores = sf.Scores(values, names, [f"q{i}" for i in range(values.shape[1])])
    opened = show(sf.assess(scores, "today", [0, 5]))
    assert drawn(opened)
    for fragment in ("#alpha=20&system=today", f"#alpha=0&baseline=mean&system={names[-1]}", "#alpha=1000000"):
        opened.page.evaluate("(hash) => { location.hash = hash; }", fragment)
        opened.settle()
        assert drawn(opened)


def test_runs_that_are_the_same(show: Any) -> None:
    made = sf.demo.runs(queries=20)
    same = made.runs[0].renamed("same")
    assert drawn(show(sf.assess(sf.score(made.qrels, [made.runs[0], same], "nDCG@10"), "today")))


CHANGES: dict[str, Callable[[float], float]] = {
    "all nothing": lambda _: 0.0,
    "all one": lambda _: 0.25,
    "nearly one": lambda value: 0.25 + 1e-17 * value,
    "next to nothing": lambda value: 1e-300 * value,
    "huge": lambda value: 1e90 * value,
    "below 0": lambda value: -abs(value),
}
FIGURES = {
    "gain", "risk", "reward", "share_reranked", "share_of_gain", "share_of_risk", "tau", "mean", "per_query", "curves",
}  # fmt: skip


AT_LEAST_0 = {"risk", "reward", "share_reranked"}  # below that they are refused


def _at_least_0(change: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: abs(change(value))


def changed(data: Any, change: Callable[[float], float], inside: bool = False) -> Any:
    """The same plain data with its figures changed, wherever they stand."""
    if isinstance(data, dict):
        return {
            key: changed(value, _at_least_0(change) if key in AT_LEAST_0 else change, inside or key in FIGURES)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [changed(value, change, inside) for value in data]
    return change(data) if inside and isinstance(data, float) else data


@pytest.mark.parametrize("kind", CHANGES)
def test_a_sweep(open_file: Any, swept_result: sf.TradeOffs, tmp_path: Path, kind: str) -> None:  # noqa: F811
    data = changed(json.loads(swept_result.to_json()), CHANGES[kind])
    sf.TradeOffs.from_dict(data).write(tmp_path / "t.html")
    opened = open_file(tmp_path / "t.html")
    assert drawn(opened)
    opened.page.select_option("#part", "valid")
    opened.settle()
    assert drawn(opened)


@pytest.mark.parametrize("kind", ["all nothing", "all one", "nearly one", "below 0"])
def test_a_personalization(open_file: Any, personal_result: Personalization, tmp_path: Path, kind: str) -> None:  # noqa: F811
    data = changed(json.loads(personal_result.to_json()), CHANGES[kind])
    Personalization.from_dict(data).write(tmp_path / "p.html")
    assert drawn(open_file(tmp_path / "p.html"))


@pytest.mark.parametrize(
    "values", [[0.0] * 5, [0.25] * 5, [0.25 + 1e-17 * i for i in range(5)], [1e-300 * i for i in range(5)],
               [1e90 * i for i in range(5)], [-1e300, 0.0, 1e300, 1.0, 2.0], [0.5]],
)  # fmt: skip
def test_a_line_chart(values: list[float]) -> None:
    for x in (list(range(len(values))), [1.0] * len(values), [1e-9 * i for i in range(len(values))]):
        for from_zero in (False, True):
            text = str(
                line_chart(x, [ChartLine("a", values)], label="l", x_label="x", y_label="y", from_zero=from_zero)
            )
            assert not any(word in text for word in ("nan", "inf"))
            assert text.count("<text") < 60


def test_a_decision() -> None:
    for loss in (0.0, 1.0, 1e-12):
        scores = sf.Scores([np.ones(60), np.full(60, 1 - loss)], ["today", "new"], [f"q{i}" for i in range(60)], "AP")
        decision = sf.gate(scores, baseline="today", policy={"risk": 1e-9, "gain": -1 + 1e-9, "share_hurt": 0.999})
        assert not re.search(r"""="-?(nan|inf)""", decision.to_html())
        assert all(math.isfinite(one["bound"]) for one in decision.conditions)
