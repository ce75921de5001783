"""A cap on movement and blending, against the rule written out slowly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.data.types.standardised import blend_scores
from surefoot.decide.guard.list_pair import ListPair, Movement
from surefoot.decide.guard.movement_cap import capped_ranks
from surefoot.errors import ArgumentError


def slowly(candidate: list[int], cap: int) -> list[int]:
    """Documents 0, 1, … stand in the baseline's order; `candidate` is the candidate's order of them."""
    waiting, shown = set(candidate), []
    for place in range(len(candidate)):
        late = place - cap
        if late in waiting:
            taken = late
        else:
            taken = next(document for document in candidate if document in waiting and document <= place + cap)
        waiting.remove(taken)
        shown.append(taken)
    return shown


@given(st.lists(st.permutations(range(7)).map(lambda p: p[:7]), min_size=1, max_size=3), st.integers(1, 8))
def test_the_cap_is_the_rule_and_holds(orders: list[list[int]], cap: int) -> None:
    candidate = np.concatenate([np.argsort(order) + 1 for order in orders])
    baseline = np.tile(np.arange(1, 8), len(orders))
    found = capped_ranks(candidate, baseline, np.arange(0, 7 * len(orders) + 1, 7), cap)
    assert np.abs(found - baseline).max() <= cap
    for number, order in enumerate(orders):
        ranks = found[7 * number : 7 * number + 7]
        assert np.argsort(ranks).tolist() == slowly(list(order), cap)
        if cap >= 7:
            assert np.argsort(ranks).tolist() == list(order)


def test_blending_goes_from_one_to_the_other() -> None:
    model, base, lengths = np.array([3.0, 1.0, 2.0, 5.0]), np.array([1.0, 2.0, 3.0, 0.0]), np.array([3, 1])
    z = np.array([1.22474487, -1.22474487, 0.0, 0.0])
    np.testing.assert_allclose(blend_scores(model, base, lengths, 1.0), z)
    np.testing.assert_allclose(blend_scores(model, base, lengths, 0.5)[0], 0.0, atol=1e-12)


def test_runs_of_the_same_documents_can_be_moved_and_others_cannot() -> None:
    today, new = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}
    lists = ListPair.from_runs(sf.read_run(new), sf.read_run(today), Movement(cap=1))
    assert lists.candidate.documents().to_list() == ["b", "a", "c"]
    lists = ListPair.from_runs(sf.read_run(new), sf.read_run(today), Movement(blend=0.1))
    assert lists.candidate.documents().to_list() == ["a", "b", "c"]
    with pytest.raises(ArgumentError, match="do not contain the same documents"):
        ListPair.from_runs(sf.read_run({"q": ["a", "d"]}), sf.read_run(today), Movement(cap=1))
