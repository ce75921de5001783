"""The table of objectives, which the documentation has; and `regression`, whose order has the greatest expectation."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import ROOT
from tests.learn import test_criteria, test_lambdas

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.learn import kernel
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.measured_queries import MeasuredQueries
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
    assert name in {objective.name for objective in test_criteria.OBJECTIVES}


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


LINEAR, EXPONENTIAL = "nDCG@10", "nDCG(dcg='exp-log2')@2"


def regression(measure: str, labels, lengths) -> Lambdas:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Lambdas(
        Objective("regression"), MeasuredQueries(measure, np.asarray(labels), offsets, np.arange(len(labels)))
    )


def slow_shares(measure: str, labels, lengths) -> list[float]:
    """Each document alone at the first rank of its query, less the mean of that."""
    shares: list[float] = []
    for own in np.split(np.asarray(labels, dtype=float), np.cumsum(lengths)[:-1]):
        names = [f"d{i}" for i in range(len(own))]
        qrels = {"q": dict(zip(names, own, strict=True))}
        alone = [
            float(sf.score(qrels, sf.read_run({"q": {name: 1.0}}, name="x"), measure).values[0, 0]) for name in names
        ]
        shares += [value - sum(alone) / len(alone) for value in alone]
    return shares


@pytest.mark.parametrize("measure", [LINEAR, EXPONENTIAL])
def test_gradients_are_what_is_left_to_explain(measure: str) -> None:
    labels, lengths = [3.0, 0, 1, 0, 0, 2, 2], [3, 1, 3]
    result = regression(measure, labels, lengths)
    scores = np.linspace(-1, 1, 7)
    gradient, hessian = result(scores)
    counts = np.array([1, 1, 1, 0, 1, 1, 1])  # a query without anything relevant says nothing
    np.testing.assert_allclose(gradient, (scores - slow_shares(measure, labels, lengths)) * counts, atol=1e-6)
    np.testing.assert_array_equal(hessian, counts)
    np.testing.assert_array_equal(result.values, MeasuredQueries(
        measure, np.array(labels), np.array([0, 3, 4, 7]), np.arange(7)
    ).values(scores))  # fmt: skip


@given(st.integers(0, 2**32 - 1), st.sampled_from([LINEAR, EXPONENTIAL, "nDCG@1", "nDCG"]))
def test_no_order_has_a_greater_expected_ndcg(seed: int, measure: str) -> None:
    """Of a list whose labels are drawn again and again: its documents' mean shares order it best."""
    rng = np.random.default_rng(seed)
    size, draws = 4, 5
    labels = rng.integers(0, 3, draws * size).astype(float)
    drawn = regression(measure, labels, [size] * draws)
    shares = -drawn(np.zeros(len(labels)))[0].reshape(draws, size).mean(axis=0)

    def expected(scores) -> float:
        return float(drawn.measured.values(np.tile(np.asarray(scores, dtype=float), draws)).mean())

    best = max(expected(order) for order in permutations(range(size)))
    assert expected(shares) == pytest.approx(best, abs=1e-6)


def test_it_learns_and_is_kept(tmp_path) -> None:
    data = sf.demo.letor(queries=60, documents=20, seed=1)
    ranker = sf.Ranker("regression", n_estimators=40, num_leaves=8, min_data_in_leaf=5).fit(data)
    values = ranker.history_["train"]["effectiveness"]
    assert values[-1] > values[0] + 0.05
    ranker.save(tmp_path / "model")
    again = sf.Ranker.load(tmp_path / "model")
    assert again.objective == "regression"
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))


def test_labels_that_are_all_alike() -> None:
    data = sf.RankingData(np.arange(12.0).reshape(6, 2), np.array([1.0, 1, 1, 0, 0, 0]), group=[3, 3])
    with pytest.raises(ArgumentError, match="nothing to learn"):
        sf.Ranker("regression", n_estimators=2).fit(data)


@pytest.mark.parametrize("measure", ["AP", "RR", "ERR@10"])
def test_other_measures_have_no_gains(measure: str) -> None:
    data = sf.demo.letor(queries=5, documents=5, seed=1)
    with pytest.raises(ArgumentError, match="needs the gains of nDCG"):
        sf.Ranker("regression", measure=measure).fit(data)


def test_sweeps_trade_gain_against_risk(tmp_path) -> None:
    with pytest.raises(ArgumentError, match="unknown objective 'regression'"):
        sf.sweep(sf.demo.letor(queries=5, documents=5, seed=1), tmp_path / "s", objectives=["regression"])


def test_it_has_no_switch_of_the_kernel() -> None:
    with pytest.raises(ArgumentError, match="regression does not compare pairs of documents"):
        _ = Objective("regression").kernel_switch()


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 3.0]))
def test_errors_that_do_harm_weigh_more(seed: int, alpha: float) -> None:
    """Against a loop over documents: which way did the model move each of them?"""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, 4)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    labels = rng.integers(0, 3, offsets[-1]).astype(float)
    measured = MeasuredQueries(LINEAR, labels, offsets, np.arange(len(labels)))
    baselines = rng.integers(0, 4, (2, len(labels))).astype(float)
    scores = rng.normal(size=len(labels))

    def ranks(values) -> list[int]:
        result = []
        for first, last in pairwise(offsets):
            order = sorted(range(first, last), key=lambda row: (-values[row], row))
            result += [order.index(row) for row in range(first, last)]
        return result

    places = np.mean([ranks(each) for each in baselines], axis=0)
    np.testing.assert_array_equal(measured.places(scores), ranks(scores))
    values = np.stack([measured.values(each) for each in baselines])
    plain = Lambdas(Objective("regression"), measured)
    weighted = Lambdas(Objective("regression", alpha), measured, values, places=places)
    (gradient, hessian), (heavier, weights) = plain(scores), weighted(scores)
    shares = slow_shares(LINEAR, labels, lengths)
    for row, rank in enumerate(ranks(scores)):
        lowered = shares[row] > 1e-12 and rank > places[row]
        lifted = shares[row] < -1e-12 and rank < places[row]
        factor = 1 + alpha if lowered or lifted else 1
        assert heavier[row] == pytest.approx(factor * gradient[row], rel=1e-6, abs=1e-7)
        assert weights[row] == factor * hessian[row]


def test_alpha_lowers_the_risk_of_regression_and_needs_a_baseline() -> None:
    train, test = (sf.demo.letor(queries=200, documents=15, features=8, seed=seed) for seed in (1, 2))
    small = {"n_estimators": 30, "num_leaves": 8, "num_threads": 1}
    plain, careful = (sf.Ranker("regression", alpha, **small).fit(train, valid=test) for alpha in (None, 3))
    assert careful.history_["valid"]["risk"][-1] < plain.history_["valid"]["risk"][-1]
    zero = sf.Ranker("regression", 0, **small).fit(train)
    np.testing.assert_array_equal(zero.predict(test), plain.predict(test))
    with pytest.raises(ArgumentError, match="objective 'regression' compares with a baseline; give one"):
        sf.Ranker("regression", 3, **small).fit(train.with_baselines_only([]))
