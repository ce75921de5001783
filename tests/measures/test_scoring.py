"""From judgments and runs to scores: what is missing, what is not judged, what goes by which name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError, DataError

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
