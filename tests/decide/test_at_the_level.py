"""What gates and guards decide where a p is δ itself, a figure its level, or a score the threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.decide.agreement.test_agreement import IDS, PEOPLE, RUNS
from tests.decide.guard.test_thresholds import calibration

import surefoot as sf
from surefoot.decide.agreement import agreement as agreement_module
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.proof import ConditionEvidence, _Test
from surefoot.decide.gate.looks import proved_conditions
from surefoot.decide.gate.release_policy import LEAST_DELTA, MOST_DELTA, ReleasePolicy
from surefoot.decide.gate.sample_size import _TestGroup
from surefoot.decide.guard.list_pair import GuardedLists
from surefoot.decide.guard.thresholds import passing
from surefoot.risk.bounds import binomial_p

RISK = ConditionRule("risk", 0.02)


def evidence(x: np.ndarray, rule: ConditionRule = RISK) -> ConditionEvidence:
    """Losses of 0 or 1, whose exact p does not depend on δ."""
    return ConditionEvidence(rule, x, 0.0, 1.0, "binomial")


def test_a_p_that_is_delta_proves_that_a_condition_holds() -> None:
    never = evidence(np.zeros(150))
    p = float(binomial_p(0, 150, 0.02))
    assert p == pytest.approx(0.98**150)
    for bounds in (True, False):
        assert proved_conditions([never], p, bounds=bounds)[0] == "ship"
        assert proved_conditions([never], np.nextafter(p, 0), bounds=bounds)[0] == "undecided"
    (condition,) = proved_conditions([never], p)[1]
    assert (condition["p_holds"], condition["bound"]) == (p, 0.02)


def test_a_p_that_is_its_share_of_delta_proves_that_a_condition_fails() -> None:
    always = evidence(np.ones(3), ConditionRule("risk", 0.5))
    p = float(binomial_p(0, 3, 1 - 0.5))
    assert p == 0.125
    other = evidence(np.zeros(1), ConditionRule("risk", 0.5))
    for bounds in (True, False):
        assert proved_conditions([always], p, bounds=bounds)[0] == "stop"
        assert proved_conditions([always, other], 2 * p, bounds=bounds)[0] == "stop"  # δ is shared by two conditions
        assert proved_conditions([always, other], np.nextafter(2 * p, 0), bounds=bounds)[0] == "undecided"
    (condition,) = proved_conditions([always], p)[1]
    assert (condition["p_fails"], condition["bound_fails"]) == (p, 0.5)


def test_bound_and_p_agree_where_the_level_is_the_last_that_is_not_refuted() -> None:
    test = _Test(evidence(np.zeros(150)), False, 0.05)
    assert test.proof(0.05, 0.02, 0.02).agrees
    assert test.proof(0.05, 0.02, 0.03) == (0.05, 0.02, True)
    assert not test.proof(0.05, np.nextafter(0.02, 1), 0.03).agrees


@pytest.mark.parametrize(("name", "mirrored", "agrees"), [("risk", False, True), ("risk", True, False)])
def test_a_figure_that_is_its_level_keeps_to_at_most_and_is_not_above(name: str, mirrored: bool, agrees: bool) -> None:
    """Where m is 1, or rounds to it, the bound is compared with the level itself."""
    level = 0.0 if mirrored else 1.0  # so that m of the side that is tested is 1
    test = _Test(evidence(np.zeros(9), ConditionRule(name, level)), mirrored, 0.05)
    assert test.m == 1
    assert test.proof(0.0, 1.0, 1.0).agrees is agrees
    lower = test.proof(0.0, 0.5, 0.5)  # the figure 0.5: at most 1, and above 0
    assert lower.agrees


def test_so_many_queries_decide_where_p_is_delta() -> None:
    group = _TestGroup("betting", 0, np.zeros((2, 4)), np.array([0.02, 0.1]), 0.05, 0.025)
    held, failed = group.decided(np.array([[0.05, 0.06], [0.05, 0.05], [0.026, 1.0], [0.025, 1.0]]))
    assert held.tolist() == [True, False]
    assert failed.tolist() == [True, False]


def test_a_judge_favours_nobody_where_p_is_the_significance(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = {query: PEOPLE[query] | {RUNS["new"][query][0]: 2} for query in IDS}

    def favours() -> dict[str, Any]:
        found = sf.judge_agreement(PEOPLE, automatic=judge, runs=RUNS, baseline="today", measure="nDCG@4").to_dict()
        return found["comparison"]["favours"]

    p = favours()["p_value"]
    monkeypatch.setattr(agreement_module, "SIGNIFICANCE", p)
    assert favours()["system"] is None
    monkeypatch.setattr(agreement_module, "SIGNIFICANCE", np.nextafter(p, 1))
    assert favours()["system"] == "new"


def test_a_threshold_whose_p_is_delta_passes() -> None:
    assert passing(np.array([0.01, 0.05, np.nextafter(0.05, 1), 0.01]), 0.05) == 2


def test_a_query_at_the_threshold_is_shown_and_counts() -> None:
    served = GuardedLists(("a", "b", "c"), np.array([1.0, 2.0, 3.0]), 2.0, "scorer", None, "new", "today")
    assert served.shown.tolist() == [False, True, True]
    sums = calibration(np.array([1.0, 2.0, 2.0, 3.0]), np.zeros(4)).sums(np.array([1.0, 2.0, 4.0, 8.0]), np.arange(5.0))
    assert sums.tolist() == [15, 15, 14, 8, 0]


@pytest.mark.parametrize("delta", [LEAST_DELTA, MOST_DELTA])
def test_a_delta_at_its_limit_is_taken(delta: float) -> None:
    assert ReleasePolicy.read({"risk": 0.02, "delta": delta}).delta == delta


@pytest.mark.parametrize("policy", [{"risk": 0.0}, {"risk": 1.0}, {"gain": 1.0}, {"gain": -1.0}, {"share_hurt": 1.0}])
def test_a_level_at_its_limit_is_refused(policy: dict[str, float]) -> None:
    with pytest.raises(sf.SurefootError, match="must be above"):
        ReleasePolicy.read(policy)
