"""Queries on which nothing can be lost dilute risk: left out of plain samples, and told everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.decide.guard.guarded import parts, ranker

import surefoot as sf
from surefoot.errors import ArgumentError, DataError


def diluted(queries: int = 1000, answered: int = 200, risk: float = 0.05, no_relevant: int = 0) -> sf.Scores:
    """Of all queries a few are answered, of which some lose half."""
    lose = round(2 * risk * answered)
    qrels = {f"q{i}": {"a": int(i >= no_relevant), "b": 0} for i in range(queries)}
    today = {f"q{i}": {"a": 2.0} for i in range(answered)}
    new = {query: {"b": 2.0, "a": 1.0} if i >= answered - lose else {"a": 1.0} for i, query in enumerate(today)}
    return sf.score(qrels, {"today": today, "new": new}, "AP")


def test_unanswered_queries_do_not_ship_a_candidate() -> None:
    scores = diluted()
    decision = sf.gate(scores, baseline="today", policy={"risk": 0.02})
    assert decision.decision != "ship"
    data = decision.to_dict()
    assert (data["queries"], data["missing"]) == (200, {"today": 0, "new": 0})
    assert data["unanswered"] == {
        "treatment": "leave-out", "left_out": 800, "no_answer": 800, "no_relevant": 0, "both_zero": 0
    }  # fmt: skip
    assert decision.conditions[0]["observed"] == pytest.approx(0.05)
    for said in (decision.to_text(width=1000), decision.to_markdown(), decision.to_html(), decision.to_junit()):
        assert "800 judged queries (800 that neither system answers) cannot lose anything" in said
    counted = sf.gate(scores, baseline="today", policy={"risk": 0.02}, unanswered="count")
    assert counted.decision == "ship"
    assert counted.to_dict()["queries"] == 1000
    assert "They count, and make the risk look smaller" in counted.to_text(width=1000)


def test_queries_without_a_relevant_document_are_left_out() -> None:
    data = sf.gate(diluted(300, 300, 0.1, 100), baseline="today", policy={"risk": 0.02}).to_dict()
    assert data["queries"] == 200
    assert data["unanswered"]["no_relevant"] == 100
    assert len(data["per_query"]["query"]) == 200
    with pytest.raises(DataError, match="no judged query can lose anything"):
        sf.gate(diluted(30, 10, 0.0, 10), baseline="today", policy={"risk": 0.02})


@pytest.mark.parametrize(("measure", "left"), [("AP", 3), ("AP(rel=2)", 2), ("Judged@5", 4)])
def test_relevant_is_what_the_measure_takes_for_it(measure: str, left: int) -> None:
    qrels = {f"q{grade}": {"a": grade} for grade in range(4)}
    run = {query: {"a": 1.0} for query in qrels}
    data = sf.gate(
        sf.score(qrels, {"today": run, "new": run}, measure), baseline="today", policy={"risk": 0.5}
    ).to_dict()
    assert data["queries"] == left


def test_in_a_matrix_nothing_is_left_out_but_told() -> None:
    scores = diluted()
    plain = sf.Scores(scores.values, scores.systems, scores.queries, "AP")
    decision = sf.gate(plain, baseline="today", policy={"risk": 0.02})
    assert decision.to_dict()["queries"] == 1000
    assert decision.to_dict()["unanswered"]["both_zero"] == 800
    assert "Both systems score 0 on 800 queries" in decision.to_text(width=1000)


def test_with_strata_nothing_is_left_out_but_told() -> None:
    strata = {f"q{i}": "head" if i < 200 else "tail" for i in range(1000)}
    decision = sf.gate(
        diluted(), baseline="today", policy={"risk": 0.02}, sample=sf.Strata(strata, {"head": 0.2, "tail": 0.8})
    )
    data = decision.to_dict()
    assert data["queries"] == 1000
    assert data["unanswered"] == {
        "treatment": "count", "left_out": 0, "no_answer": 800, "no_relevant": 0, "both_zero": 0
    }  # fmt: skip


def test_of_drawn_queries_nothing_is_left_out_but_told() -> None:
    scores = diluted(300, 300, 0.5, 200)
    runs = {run.name: run for run in scores.runs}
    draws = sf.judge_next([runs["today"], runs["new"]], baseline=runs["today"].name, measure="AP", n=60, seed=0)
    data = sf.gate(scores, baseline="today", policy={"risk": 0.5}, sample=draws).to_dict()
    assert data["queries"] == 60
    told = data["unanswered"]
    assert told["no_relevant"] == sum(int(query[1:]) < 200 for query in draws.queries) > 0
    assert (told["treatment"], told["left_out"]) == ("count", 0)


def test_looks_add_up_and_another_rule_is_another_question(tmp_path: Path) -> None:
    scores = diluted(300, 300, 0.1, 100)
    runs, qrels = scores.runs, scores.qrels
    assert qrels is not None

    def look(end: int, **options: Any) -> dict[str, Any]:
        judged = {f"q{i}": qrels.to_dict()[f"q{i}"] for i in range(end)}
        given = {"baseline": "today", "policy": {"risk": 0.5}, "record": tmp_path / "r.json"} | options
        return sf.gate(sf.score(judged, runs, "AP"), **given).to_dict()

    look(120)
    data = look(200)
    assert (data["queries"], data["unanswered"]["no_relevant"]) == (100, 100)
    assert look(250, unanswered="count")["record"]["number"] == 2


def test_a_guard_leaves_them_out_too() -> None:
    judged = parts()["judged"]
    empty = int((np.maximum.reduceat(judged.y, judged.offsets[:-1]) <= 0).sum())
    assert empty == 11
    for prove in (lambda c: c.calibrate(judged), lambda c: c.update(judged)):
        c = sf.RiskGuard(ranker(), baseline="bm25", risk=0.05).fit_scorer(parts()["valid"])
        certificate = prove(c).certificate_
        assert certificate["queries"] == 500 - empty
        assert certificate["unanswered"] == {
            "treatment": "leave-out", "left_out": empty, "no_answer": 0, "no_relevant": empty, "both_zero": 0
        }  # fmt: skip
        assert "11 judged queries (11 without a relevant document) cannot lose anything" in certificate.to_text()
    counted = sf.RiskGuard(ranker(), baseline="bm25", risk=0.05, unanswered="count").fit_scorer(parts()["valid"])
    assert counted.calibrate(judged).certificate_["queries"] == 500
    with pytest.raises(ArgumentError, match="it must be leave-out or count"):
        sf.RiskGuard(ranker(), baseline="bm25", unanswered="no")


def test_a_guard_of_runs_tells_of_queries_that_neither_answers() -> None:
    scores = diluted(60, 40, 0.5)
    runs = {run.name: run for run in scores.runs}
    c = sf.RiskGuard(
        runs["new"], baseline=runs["today"], measure="AP", scorer=lambda lists: np.ones(len(lists.queries))
    )
    certificate = c.calibrate(scores.qrels).certificate_
    assert (certificate["queries"], certificate["unanswered"]["no_answer"]) == (40, 20)
