"""What notebooks show of data, assessments and decisions."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.report.notebooks import HOSTILE, SHOWN, checked, told

import surefoot as sf


@pytest.fixture(scope="module")
def made() -> Any:
    return sf.demo.runs(queries=60)


@pytest.fixture(scope="module")
def scores(made: Any) -> sf.Scores:
    return sf.score(made.qrels, made.runs, "nDCG@10")


def hostile_data() -> dict[str, Any]:
    run = sf.read_run({HOSTILE: {HOSTILE: 1.0, "d": -0.5}}, name=HOSTILE)
    qrels = sf.read_qrels({HOSTILE: {HOSTILE: 1, "d": 0}}).renamed(HOSTILE)
    values = np.linspace(0, 1, 60)
    matrix = sf.Scores(
        [values, values[::-1]], [HOSTILE, "b"], [HOSTILE, *map(str, range(59))], measure=HOSTILE, dropped=2
    )
    data = sf.RankingData(
        pl.DataFrame({HOSTILE: [1.0, None]}), [1, 0], qid=[HOSTILE] * 2, doc_ids=[HOSTILE, "d"],
        baselines={HOSTILE: [1, 2]},
    )  # fmt: skip
    return {
        "run": run,
        "qrels": qrels,
        "scores": matrix,
        "data": data,
        "assessment": sf.assess(matrix, HOSTILE, alphas=[0, 5]),
        "decision": sf.gate(matrix, candidate=HOSTILE, baseline="b", policy={"risk": 0.5}),
    }


@pytest.mark.parametrize("kind", ["run", "qrels", "scores", "data", "assessment", "decision"])
def test_hostile_names_stay_text(kind: str) -> None:
    view = hostile_data()[kind]._repr_html_()
    assert SHOWN in told(view)
    assert "<script" not in view
    assert "<img" not in view
    view.encode()


def test_a_run_and_judgments(made: Any) -> None:
    words = told(made.runs[0]._repr_html_())
    assert words.startswith("Run today Queries 60 Results 3,000 Results of a query 50 query document rank score q01 ")
    assert words.endswith("… 2,990 more")
    grades = np.unique(made.qrels.grades, return_counts=True)
    words = told(made.qrels._repr_html_())
    assert all(f"Grade {grade:g} {count:,}" in words for grade, count in zip(*grades, strict=True))
    uneven = sf.read_run({"a": {"d": 1.0}, "b": {"d": 2.0, "e": -0.5}}, name="r")
    words = told(uneven._repr_html_())
    assert words.endswith("Results of a query 1 to 2 query document rank score a d 1 1 b d 1 2 b e 2 −0.5")
    many = sf.read_qrels({"a": {f"d{i}": i for i in range(6)}})
    assert "Grades 0 to 5" in told(many._repr_html_())


def test_scores_have_the_best_first(scores: sf.Scores) -> None:
    view = scores._repr_html_()
    assert "nDCG@10: 12 systems × 60 queries" in told(view)
    names = [row[0][0].text for row in checked(view).find(".//tbody")]
    assert names == [scores.systems[row] for row in np.argsort(-scores.mean(), kind="stable")]
    many = sf.Scores(np.random.default_rng(0).random((40, 2)), [f"s{i}" for i in range(40)], ["a", "b"])
    assert told(many._repr_html_()).endswith("… 15 more systems")
    assert "2 judged queries that a system lacks are left out" in told(hostile_data()["scores"]._repr_html_())


def test_labelled_documents() -> None:
    data = sf.demo.letor(queries=5, documents=8, features=9, seed=0)
    words = told(data._repr_html_())
    assert "Features 9" in words
    assert "The first 6 of 9 features" in words
    assert "Baselines: bm25." in words
    counts = zip(*np.unique(data.y, return_counts=True), strict=True)
    assert all(f"Label {label:g} {count:,}" in words for label, count in counts)
    bare = sf.RankingData([[1.0], [np.nan]], [1, 0], qid=["a", "a"])
    words = told(bare._repr_html_())
    assert "No baseline yet; with_baseline adds one. Queries 1 Documents 2 Features 1 Label 0 1 Label 1 1" in words
    assert words.endswith("query row label feature 1 a 1 1 1 a 2 0 –")


def test_an_assessment_says_what_was_found_first() -> None:
    made = sf.demo.runs()
    scores = sf.score(made.qrels, made.runs, "nDCG@10")
    for alpha, headline, tone, about in [
        (1, "better than today at α = 1.", "helped", "steady"),
        (5, "No system is better than today at α = 5 by more than chance.", "", "steady"),
    ]:
        a = sf.assess(scores, "today", alphas=[0, alpha])
        root = checked(a._repr_html_())
        (paragraph,) = root.findall("p[@class='headline']")
        assert "".join(paragraph.itertext()).endswith(headline)
        assert paragraph.get("data-tone") == tone
        lead = "".join(root.find("p[@class='lead']").itertext())
        assert lead in a.in_words()
        assert f"Gain of {about} +0.0703" in told(a._repr_html_())
    looks = [row.get("data-look") for row in root.find(".//tbody")]
    assert looks[:5] == ["hurt", None, "hurt", "hurt", "baseline"]


def test_an_assessment_without_candidates_or_tests() -> None:
    assert "There is no system to compare with only." in told(sf.assess({"only": {"q": 0.5}}, "only")._repr_html_())
    one = sf.assess({"a": {"q": 0.5}, "b": {"q": 0.25}}, "a")
    assert "no test says whether that is chance" in told(one._repr_html_())
    values = np.random.default_rng(0).random((3, 50))
    several = sf.assess(sf.Scores(values, ["a", "b", "c"], range(50)), ["a", "b"])
    assert "Queries hurt" in told(several._repr_html_())


def test_decisions_have_a_tone(scores: sf.Scores) -> None:
    tones = set()
    for candidate, policy in [("bold", {"gain": 0}), ("bold", {"risk": 0.001}), ("bold", {"risk": 0.07, "gain": 0})]:
        decision = sf.gate(scores, candidate=candidate, baseline="today", policy=policy)
        root = checked(decision._repr_html_())
        paragraph = root.find("p[@class='headline']")
        tones.add((decision.decision, paragraph.get("data-tone")))
        assert repr(decision) == f"<Decision: {''.join(paragraph.itertext())}>"
        assert len(root.find(".//tbody")) == len(policy)
    assert tones == {("ship", "helped"), ("stop", "hurt"), ("undecided", "")}


def test_long_names_and_much_data_stay_small() -> None:
    names = [f"{number}" + "&" * 5_000 for number in range(60)]
    matrix = sf.Scores(np.random.default_rng(0).random((60, 60)), names, names)
    checked(matrix._repr_html_())
    checked(sf.assess(matrix, names[0], alphas=[0, 1, 5])._repr_html_())
    checked(sf.gate(matrix, candidate=names[1], baseline=names[0], policy={"risk": 0.5})._repr_html_())
    checked(sf.RankingData(pl.DataFrame({name: [1.0] for name in names}), [1], qid=[names[0]])._repr_html_())


def test_the_colours_are_those_of_the_pages() -> None:
    family = files("surefoot.report").joinpath("assets/family.css").read_text()
    pages = re.findall(r"(--[a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", family)
    notebook = files("surefoot.data").joinpath("assets/notebook.css").read_text()
    for theme, part in enumerate(notebook.split("prefers-color-scheme: dark", 1)):
        own = dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", part.split("}")[0]))
        assert len(own) == 9
        assert own.items() <= {name: colours[theme] for name, *colours in pages}.items()
