"""The greatest loss that any judgments could show, against all judgments of short lists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import MeasureError
from surefoot.measures.worst_case import worst_case_loss

DOCUMENTS = ["a", "b", "c", "d", "e", "f"]
MEASURES = ["nDCG@3", "nDCG", "nDCG(dcg='exp-log2')@2", "RR@2", "RR", "P@3", "P@1", "RR(rel=2)@3"]
lists = st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=5, unique=True)


def greatest_loss(run: list[str], baseline: list[str], measure: str, grades: tuple[int, ...]) -> float:
    """The slow way: every assignment of grades is a query of its own."""
    every = [dict(zip(DOCUMENTS, each, strict=True)) for each in itertools.product(grades, repeat=len(DOCUMENTS))]
    qrels = {f"q{number}": one for number, one in enumerate(every) if any(one.values())}
    runs = {"new": dict.fromkeys(qrels, run), "old": dict.fromkeys(qrels, baseline)}
    scores = sf.score(qrels, runs, measure)
    return float((scores["old"] - scores["new"]).max())


@settings(max_examples=25, deadline=None)
@given(lists, lists, st.sampled_from(MEASURES))
def test_no_binary_judgments_lose_more_and_some_lose_as_much(run: list[str], baseline: list[str], measure: str) -> None:
    if "rel=2" in measure:
        expected = greatest_loss(run, baseline, measure, (0, 2))
    else:
        expected = greatest_loss(run, baseline, measure, (0, 1))
    bound = worst_case_loss({"q": run}, {"q": baseline}, measure)
    np.testing.assert_allclose(bound, [max(0.0, expected)], atol=1e-12)


@settings(max_examples=12, deadline=None)
@given(lists, lists, st.sampled_from(MEASURES))
def test_graded_judgments_lose_no_more(run: list[str], baseline: list[str], measure: str) -> None:
    bound = worst_case_loss({"q": run}, {"q": baseline}, measure)
    assert greatest_loss(run, baseline, measure, (0, 1, 3)) <= bound[0] + 1e-12


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(lists, lists), min_size=1, max_size=4), st.sampled_from([*MEASURES, "ERR@2", "AP"]))
def test_queries_do_not_mix(pairs: list[tuple[list[str], list[str]]], measure: str) -> None:
    run = {f"q{number}": pair[0] for number, pair in enumerate(pairs)}
    baseline = {f"q{number}": pair[1] for number, pair in enumerate(reversed(list(pairs)))}
    together = worst_case_loss(run, dict(reversed(baseline.items())), measure, queries=list(run))
    alone = [worst_case_loss({q: run[q]}, {q: baseline[q]}, measure)[0] for q in run]
    np.testing.assert_allclose(together, alone, atol=1e-15)


@pytest.mark.parametrize("measure", ["ERR@2", "AP@2", "RBP@2", "R@2", "Success@2"])
def test_other_measures_may_lose_all_where_lists_differ_down_to_the_cutoff(measure: str) -> None:
    today = {"same": ["a", "b", "c"], "moved": ["a", "b", "c"], "below": ["a", "b", "c"], "short": ["a"], "gone": ["a"]}
    new = {"same": ["a", "b", "c"], "moved": ["b", "a", "c"], "below": ["a", "b", "d"], "short": ["a", "b"]}
    np.testing.assert_array_equal(worst_case_loss(new, today, measure), [0, 1, 0, 1, 1])


@pytest.mark.parametrize("measure", ["AP", "Bpref", "Rprec", "IPrec@1", "IPrec@0"])
def test_measures_of_whole_lists_see_every_rank(measure: str) -> None:
    assert worst_case_loss({"q": ["a", "b", "c"]}, {"q": ["a", "c", "b"]}, measure).tolist() == [1]


def test_measures_of_scores_may_lose_where_no_document_moves() -> None:
    assert worst_case_loss({"q": {"a": 9.0}}, {"q": {"a": 1.0}}, "SoftNDCG@5").tolist() == [1]


def test_queries_that_one_side_lacks() -> None:
    bounds = worst_case_loss({"new": ["a"]}, {"old": ["a", "b"]}, "nDCG@2", queries=["new", "old", "neither"])
    assert bounds.tolist() == [0, 1, 0]


def test_a_measure_without_bounds_is_refused() -> None:
    with pytest.raises(MeasureError, match=r"DCG@10 has no maximum.*such as nDCG@10"):
        worst_case_loss({"q": ["a"]}, {"q": ["b"]}, "DCG@10")
