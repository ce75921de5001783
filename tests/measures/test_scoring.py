"""From judgments and runs to scores: what is missing, what is not judged, what goes by which name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.measures.scoring import count_holes, fill_holes

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 0}}


def test_missing_queries_count_zero_and_are_counted() -> None:
    run = sf.read_run({"q2": {"d2": 1.0}, "q9": {"d2": 1.0}}, name="new")
    scores = sf.score(QRELS, [run], "RR")
    np.testing.assert_array_equal(scores.values, [[0, 1, 0]])
    assert scores.missing == {"new": 2}
    assert scores.no_relevant == 1
    assert scores.tie_rule == "document id descending"


def test_queries_that_any_run_lacks_are_dropped() -> None:
    runs = {"a": {"q1": {"d1": 1.0}, "q2": {"x": 1.0}}, "b": {"q1": {"x": 1.0}, "q2": {"d2": 1.0}, "q3": {"d3": 1.0}}}
    for order in (runs, dict(reversed(runs.items()))):
        scores = sf.score(QRELS, order, "RR", missing="drop")
        assert scores.queries == ("q1", "q2")  # found without a judged document is not missing
        assert (scores.missing, scores.dropped, scores.no_relevant) == ({"a": 1, "b": 0}, 1, 0)
        assert (scores["a"].tolist(), scores["b"].tolist()) == ([1, 0], [0, 1])


def test_the_tie_rule_is_true_of_every_run() -> None:
    bare = sf.RankingData(np.ones((2, 1)), [1, 0], group=[2])
    rows = bare.to_run([1.0, 1.0], "rows")
    ids = sf.read_run(rows.to_dict(), name="ids")
    assert sf.score(bare.qrels(), [rows], "RR").tie_rule == "row order"
    assert sf.score(bare.qrels(), [rows, ids], "RR").tie_rule == "document id descending"


def test_one_run_or_several_in_any_form(tmp_path) -> None:
    nested = {"q1": {"d1": 1.0}}
    frame = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": [1.0]})
    sf.read_run(nested).write(tmp_path / "bm25.run")
    one = sf.score(QRELS, nested, "RR")
    assert one.systems == ("run",)
    assert sf.score(QRELS, frame, "RR").systems == ("run",)
    assert sf.score(QRELS, tmp_path / "bm25.run", "RR").systems == ("bm25",)
    several = sf.score(QRELS, {"a": nested, "b": frame, "c": str(tmp_path / "bm25.run")}, "RR")
    assert several.systems == ("a", "b", "c")
    queries = sf.score(
        QRELS, {"query": str(tmp_path / "bm25.run"), "qid": sf.read_run(nested), "query_id": frame}, "RR"
    )
    assert queries.systems == ("query", "qid", "query_id")
    assert np.all(several.values == [1, 0, 0])


def test_several_measures_give_a_list() -> None:
    first, second = sf.score(QRELS, {"q1": {"d1": 1.0}}, ["RR", "P@2"])
    assert (first.measure, second.measure) == ("RR", "P@2")
    np.testing.assert_array_equal(second.values, [[0.5, 0, 0]])


def test_two_systems_of_the_same_name() -> None:
    run = sf.read_run({"q1": {"d1": 1.0}}, name="x")
    with pytest.raises(ArgumentError, match="2 systems are named 'x'"):
        sf.score(QRELS, [run, run], "RR")
    with pytest.raises(ArgumentError, match="no runs were given"):
        sf.score(QRELS, [], "RR")


def test_no_query_in_common() -> None:
    with pytest.raises(DataError, match="run 'x' has no query in common with the judgments: its first query is '7'"):
        sf.score(QRELS, sf.read_run({"7": {"d1": 1.0}}, name="x"), "RR")


def test_a_run_without_a_judged_document_is_warned_of() -> None:
    with pytest.warns(sf.SurefootWarning, match="run 'x': none of its 2 documents is judged; its first") as caught:
        scores = sf.score(QRELS, sf.read_run({"q1": {"d1 ": 1.0, "d2 ": 0.5}}, name="x"), ["RR", "AP"])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not scores[0].values.any()


def test_messages_name_and_quote_little() -> None:
    long = "x" * 1_000_000
    for runs in ([sf.read_run({long: {"d1": 1.0}}, name=long)], [sf.read_run({"q1": {"d1": 1.0}}, name=long)] * 2):
        with pytest.raises(sf.SurefootError) as caught:
            sf.score(QRELS, runs, "RR")
        assert len(str(caught.value)) < 1000


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
    asked[10:] = False
    assert count_holes(people, filled, runs, 2, asked)[0] == {"today": 0, "new": 10}


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
