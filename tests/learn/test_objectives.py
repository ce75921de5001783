"""The table of objectives: every row is complete, and the documentation has it."""

from __future__ import annotations

import pytest
from tests.conftest import ROOT
from tests.learn import test_lambdas, test_reduce

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.learn import kernel
from surefoot.learn.objectives import OBJECTIVE_KINDS, RULES, Objective

LEARN = (ROOT / "docs" / "learn.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", OBJECTIVE_KINDS.values(), ids=OBJECTIVE_KINDS)
def test_a_row_is_complete(kind) -> None:
    for switch in (kind.switch, kind.eq9_switch):
        assert switch is None or isinstance(getattr(kernel, switch), int)
    assert kind.needs_baseline or not (kind.alpha_per_query or kind.needs_totals)
    assert f"| `{kind.name}` | {kind.delta} | {kind.paper} |" in LEARN


@pytest.mark.parametrize("name", [name for name, kind in OBJECTIVE_KINDS.items() if kind.switch])
def test_the_shared_tests_try_it(name: str) -> None:
    """Gradients against slow ones, consistency, and sums over machines."""
    assert name in {objective.name for objective in test_lambdas.OBJECTIVES}
    assert name in {objective.name for objective in test_reduce.OBJECTIVES}


@pytest.mark.parametrize("rule", RULES)
def test_switches_of_the_kernel(rule: str) -> None:
    result = {name: Objective(name, 1, rule).kernel_switch() for name, kind in OBJECTIVE_KINDS.items() if kind.switch}
    by_rule = kernel.U_RISK if rule == "exact" else kernel.U_RISK_EQ9
    assert result == {
        "gain": kernel.GAIN,
        "u_risk": by_rule,
        "saro": by_rule,
        "faro": kernel.WEIGHTED,
        "geo_risk": kernel.GEO_RISK,
    }


def test_an_objective_is_for_some_measures() -> None:
    with pytest.raises(ArgumentError, match="'regression' needs the gains of nDCG, and AP has no gains"):
        sf.Ranker("regression", measure="AP").fit(sf.demo.letor(queries=5, documents=4, features=2, seed=1))
