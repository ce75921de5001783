"""Measures against slow, obvious re-implementations on random lists with ties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measures.slow_ranking import ranked

import surefoot as sf
from surefoot.errors import MeasureError

# Drawn runs may hold no judged document.
pytestmark = pytest.mark.filterwarnings("ignore:run .* none of its")


def slow_err(documents, grades, k, max_rel=4):
    value, reach = 0.0, 1.0
    for r, d in enumerate(documents[:k], start=1):
        stop = (2 ** max(grades.get(d, 0), 0) - 1) / 2**max_rel
        value += reach * stop / r
        reach *= 1 - stop
    return value


def slow_ndcg(documents, grades, k, gain):
    def dcg(values):
        return sum(gain(max(g, 0)) / math.log2(1 + r) for r, g in enumerate(values[:k], start=1))

    ideal = dcg(sorted(grades.values(), reverse=True))
    return dcg([grades.get(d, 0) for d in documents]) / ideal if ideal else 0.0


def slow_rbp(documents, grades, k, p):
    return (1 - p) * sum(p ** (r - 1) for r, d in enumerate(documents[:k], start=1) if grades.get(d, 0) >= 1)


def slow_judged(documents, grades, k):
    shown = documents[:k]
    return sum(d in grades for d in shown) / len(shown) if shown else 0.0


def slow_ap(documents, grades, k, rel):
    total = sum(g >= rel for g in grades.values())
    relevant = value = 0.0
    for r, d in enumerate(documents[:k], start=1):
        if grades.get(d, -9) >= rel:
            relevant += 1
            value += relevant / r
    return value / total if total else 0.0


SLOW = {
    "ERR@5": lambda d, g: slow_err(d, g, 5),
    "ERR": lambda d, g: slow_err(d, g, None),
    "ERR(max_rel=3)@20": lambda d, g: slow_err(d, g, 20, 3),
    "nDCG@5": lambda d, g: slow_ndcg(d, g, 5, float),
    "nDCG(dcg='exp-log2')@10": lambda d, g: slow_ndcg(d, g, 10, lambda x: 2**x - 1),
    "RBP(p=0.8)": lambda d, g: slow_rbp(d, g, None, 0.8),
    "RBP(p=0.5)@3": lambda d, g: slow_rbp(d, g, 3, 0.5),
    "Judged@4": lambda d, g: slow_judged(d, g, 4),
    "Judged": lambda d, g: slow_judged(d, g, None),
    "AP(rel=2)@6": lambda d, g: slow_ap(d, g, 6, 2),
    "P(rel=2)@3": lambda d, g: sum(g.get(x, 0) >= 2 for x in d[:3]) / 3,
    "RR(rel=3)": lambda d, g: next((1 / r for r, x in enumerate(d, 1) if g.get(x, 0) >= 3), 0.0),
}
documents = st.text("abcdefgh", min_size=1, max_size=2)


qrels_of = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), st.dictionaries(documents, st.integers(-2, 3), min_size=1)
)
run_of = st.dictionaries(st.sampled_from(["q1", "q2", "q4"]), st.dictionaries(documents, st.integers(0, 3), min_size=1))


@given(qrels_of, run_of)
def test_against_slow_loops(qrels, run) -> None:
    if not set(qrels) & set(run):
        return
    for measure, scores in zip(SLOW, sf.score(qrels, sf.read_run(run, name="x"), SLOW), strict=True):
        for query, value in zip(scores.queries, scores.values[0], strict=True):
            shown = ranked(run.get(query, {}))
            assert value == pytest.approx(SLOW[measure](shown, qrels[query]), abs=1e-12), (measure, query)


def test_an_ideal_ranking_scores_exactly_one() -> None:
    data = sf.demo.runs(queries=20)
    ideal = {q: {d: g + i * 1e-9 for i, (d, g) in enumerate(docs.items())} for q, docs in data.qrels.to_dict().items()}
    for measure in ("nDCG", "nDCG@10", "nDCG(dcg='exp-log2')@10", "AP", "Rprec", "R"):
        assert np.all(sf.score(data.qrels, sf.read_run(ideal), measure).values == 1.0)


def test_a_grade_above_the_scale_is_told() -> None:
    with pytest.raises(MeasureError, match=r"contains a grade of 5, but ERR has max_rel=4; write ERR\(max_rel=5\)"):
        sf.score({"q": {"d": 5}}, sf.read_run({"q": {"d": 1.0}}), "ERR@20")


def test_dcg_is_not_normalised() -> None:
    scores = sf.score({"q": {"d": 3, "e": 1}}, sf.read_run({"q": {"d": 1.0}}), "DCG(dcg='exp-log2')@10")
    assert scores.values[0, 0] == 7.0


@pytest.mark.parametrize(
    ("measure", "grade", "message"),
    [
        ("nDCG(dcg='exp-log2')@10", 2000, "a gain of 2 to the power of 2000, the largest grade"),
        ("DCG@10", 1e300, r"a gain of 1e\+300, the largest grade"),
        ("ERR@10", 2000, "contains a grade of 2000"),
    ],
)
def test_grades_beyond_reckoning_are_refused(measure: str, grade: float, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        sf.score({"q": {"d": grade}}, [sf.read_run({"q": {"d": 1.0}})], measure)
