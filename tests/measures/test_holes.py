"""Holes that an automatic judge fills: which, how many on each system, told with and without, and never decided on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.measures.scoring import count_holes, fill_holes

IDS = [f"q{number}" for number in range(30)]
PEOPLE = {query: {"a": 1, "b": 0} for query in IDS}
AUTO = {query: {"a": 0, "c": 1, "d": 0, "z": 1} for query in IDS} | {"other": {"a": 1}}
RUNS = {"today": {query: ["a", "b", "d"] for query in IDS}, "new": {query: ["a", "c", "e"] for query in IDS}}


def test_only_what_a_run_shows_and_nobody_judged_is_filled() -> None:
    runs = [sf.read_run(run, name) for name, run in RUNS.items()]
    people, auto = sf.read_qrels(PEOPLE), sf.read_qrels(AUTO)
    filled = fill_holes(people, auto, runs)
    assert filled.to_dict()["q3"] == {"a": 1, "c": 1, "b": 0, "d": 0}  # neither z, nor another grade for a
    assert set(filled.queries) == set(IDS)
    assert filled.origin is not None
    assert filled.origin.made_by == "people and machine"
    asked = np.ones(len(people.queries), dtype=bool)
    holes, fills = count_holes(people, filled, runs, 2, asked)
    assert (holes, fills) == ({"today": 0, "new": 30}, {"today": 0, "new": 30})
    assert count_holes(people, filled, runs, None, asked) == (
        {"today": 30, "new": 60},
        {"today": 30, "new": 30},
    )


def test_scores_have_both() -> None:
    plain = sf.score(PEOPLE, RUNS, "P@2")
    scores = sf.score(PEOPLE, RUNS, "P@2", automatic=AUTO)
    assert scores.filled is not None
    np.testing.assert_array_equal(scores.filled.without, plain.values)
    assert scores["new"].tolist() == [1.0] * 30
    assert plain["new"].tolist() == [0.5] * 30
    several = sf.score(PEOPLE, RUNS, ["P@2", "AP"], automatic=AUTO)
    assert [each.filled is not None for each in several] == [True, True]


def test_the_assessment_tells() -> None:
    judge = {query: {"c": int(number % 3 > 0), "d": 0} for number, query in enumerate(IDS)}
    assessment = sf.assess(sf.score(PEOPLE, RUNS, "P@2", automatic=judge), "today")
    data = assessment.to_dict()
    today, new = data["automatic"]["systems"]
    assert (new["holes"], new["judged"], new["mean_without"], new["mean_with"]) == (30, 30, 0.5, pytest.approx(5 / 6))
    assert (today["judged"], today["mean_with"]) == (0, today["mean_without"])
    assert data["automatic"]["favours"] == ["new"]
    check_data(data, "assessment")
    text = str(assessment).replace("\n", " ")
    assert "new 0.8333 with, 0.5000 without" in text
    assert "may favour it" in text
    assert "may favour it" in assessment.to_html()
    assert sf.Assessment.from_dict(json.loads(assessment.to_json(per_query=True))).to_dict() == data


def test_nothing_is_decided_on_it(tmp_path: Path) -> None:
    filled = sf.score(PEOPLE, RUNS, "P@2", automatic=AUTO)
    with pytest.raises(ArgumentError, match="holes were filled by an automatic judge cannot decide"):
        sf.gate(filled, baseline="today", policy={"risk": 0.1})
    sf.read_qrels(AUTO).write(tmp_path / "auto.qrels")
    text = (tmp_path / "auto.qrels").read_text().replace(" 0 ", " automatic ")
    (tmp_path / "auto.qrels").write_text(text)
    machine = sf.score(tmp_path / "auto.qrels", RUNS, "P@2")
    with pytest.raises(DataError, match="a machine made these judgments"):
        sf.gate(machine, baseline="today", policy={"risk": 0.1})
    guard = sf.RiskGuard(RUNS["new"], baseline=RUNS["today"], measure="P@2")
    with pytest.raises(DataError, match="a machine made these judgments"):
        guard.fit_scorer(tmp_path / "auto.qrels")
    with pytest.raises(DataError, match="a machine made some of these judgments"):
        guard.calibrate(filled.qrels)
    assert "A machine made all judgments" in str(sf.assess(machine, "today"))


def test_other_ids_are_refused() -> None:
    with pytest.raises(DataError, match="no query in common"):
        sf.score(PEOPLE, RUNS, "P@2", automatic={"x": {"a": 1}})
