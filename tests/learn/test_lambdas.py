"""The kernel against a slow reference that literally swaps two documents and measures again."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr

import surefoot as sf
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.objectives import Objective

MEASURES = [
    "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')", "nDCG@3", "AP", "AP(rel=2)@4", "RR", "RR@3", "ERR@5", "ERR",
    "nDCG@10",
]  # fmt: skip
OBJECTIVES = [
    Objective("gain"), Objective("u_risk", 5), Objective("u_risk", 5, rule="eq9"), Objective("saro", 5),
    Objective("faro", 5),
    Objective("geo_risk", 5), Objective("saro", 3, rule="eq9"), Objective("geo_risk", 0),
]  # fmt: skip


def f(x: float, alpha: float) -> float:
    return x if x > 0 else (1 + alpha) * x


def measured(measure: str, labels, order) -> float:
    """M of one list through the evaluation code."""
    return measured_in_order(measure, tuple(labels[order].tolist()))


@cache  # every objective swaps the documents of the same lists
def measured_in_order(measure: str, labels: tuple[float, ...]) -> float:
    """M of a list with these labels from its top down: documents named so that ids do not matter."""
    names = [f"d{i}" for i in range(len(labels))]
    run = {"q": {name: float(-place) for place, name in enumerate(names)}}
    qrels = {"q": dict(zip(names, labels, strict=True))}
    return float(sf.score(qrels, sf.read_run(run, name="x"), measure).values[0, 0])


def light_gbm_rho(difference: float, sigma: float = 1.0) -> float:
    """ρ as LightGBM rounds it: the left end of one of 2^20 bins between ∓25/σ."""
    width = 50 / sigma / 2**20
    bin_ = min(max(math.floor((difference + 25 / sigma) / width), 0), 2**20 - 1)
    return 1 / (1 + math.exp(sigma * (bin_ * width - 25 / sigma)))


def random_queries(seed: int, count: int = 5, longest: int = 8):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, count)
    labels = rng.integers(0, 4, lengths.sum()).astype(float)
    scores = rng.integers(0, 4, lengths.sum()) / 2.0  # ties
    return np.concatenate([[0], np.cumsum(lengths)]), labels, scores, rng


def slow(objective: Objective, measure: str, offsets, labels, scores, baselines, sigmoid=light_gbm_rho):
    """Gradients by swapping, with everything computed from the definitions."""
    queries = len(offsets) - 1
    orders = [offsets[q] + np.argsort(-scores[offsets[q] : offsets[q + 1]], kind="stable") for q in range(queries)]
    M = np.array([
        measured(measure, labels[offsets[q] : offsets[q + 1]], orders[q] - offsets[q]) for q in range(queries)
    ])  # fmt: skip
    delta = M - baselines.mean(axis=0)
    x = np.array([f(d, objective.alpha) for d in delta])
    s_x = x.std(ddof=1)
    alphas = np.full(queries, objective.alpha)
    if objective.name in ("saro", "faro"):
        alphas = objective.alpha * (1 - ndtr(delta / s_x)) if s_x > 1e-9 else alphas / 2
    T = baselines.sum(axis=0) + M
    e = M.sum() * T / T.sum() if T.sum() else np.zeros(queries)
    z = np.array([(M[q] - e[q]) / math.sqrt(e[q]) if e[q] > 0 else 0.0 for q in range(queries)])
    Z = sum(f(value, objective.alpha) for value in z)
    geo = math.sqrt(M.mean() * ndtr(Z / queries))
    gradient, hessian, changes = np.zeros(len(labels)), np.zeros(len(labels)), []
    for q in range(queries):
        order, own = orders[q], labels[offsets[q] : offsets[q + 1]]
        for i in range(len(order)):
            for j in range(i + 1, len(order)):
                if labels[order[i]] == labels[order[j]]:
                    continue
                swapped = order.copy()
                swapped[[i, j]] = swapped[[j, i]]
                change = measured(measure, own, swapped - offsets[q]) - M[q]
                if objective.name == "gain":
                    D = change
                elif objective.name == "faro":
                    D = (1 + alphas[q]) * change
                elif objective.name in ("u_risk", "saro") and objective.rule == "exact":
                    D = f(delta[q] + change, alphas[q]) - f(delta[q], alphas[q])
                elif objective.name in ("u_risk", "saro"):
                    D = change if delta[q] + change >= -1e-12 else (1 + alphas[q]) * change
                else:
                    moved = Z
                    if e[q] > 0:
                        after = (M[q] + change - e[q]) / math.sqrt(e[q])
                        moved = Z - f(z[q], objective.alpha) + f(after, objective.alpha)
                    D = queries * (math.sqrt((M.sum() + change) / queries * ndtr(moved / queries)) - geo)
                changes.append((change, D))
                high, low = (order[i], order[j]) if labels[order[i]] > labels[order[j]] else (order[j], order[i])
                rho = sigmoid(scores[high] - scores[low])
                gradient[high] -= rho * abs(D)
                gradient[low] += rho * abs(D)
                hessian[high] += rho * (1 - rho) * abs(D)
                hessian[low] += rho * (1 - rho) * abs(D)
    return gradient, hessian, M, changes


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: f"{o.name}-{o.alpha:g}-{o.rule}")
def test_against_swapping(objective: Objective, measure: str) -> None:
    for seed in range(3):
        check_against_swapping(objective, measure, *random_queries(seed))


@pytest.mark.parametrize("measure", ["nDCG(dcg='exp-log2')@3", "AP@3", "RR@2", "ERR@3"])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: f"{o.name}-{o.alpha:g}-{o.rule}")
def test_long_lists_against_swapping(objective: Objective, measure: str) -> None:
    """Far longer than the cut-off, so that only the first ranks are sorted."""
    check_against_swapping(objective, measure, *random_queries(0, count=2, longest=20))


def test_ranks_are_sorted_down_to_the_cutoff() -> None:
    offsets, labels, scores, rng = random_queries(1, count=300, longest=60)
    query = np.repeat(np.arange(300), np.diff(offsets))
    tie_order = np.lexsort((rng.random(len(labels)), query))
    tie_rank = np.argsort(tie_order)
    expected = np.lexsort((tie_rank, -scores, query))
    target = MeasuredQueries("nDCG@5", labels, offsets, tie_order)
    assert np.array_equal(target.rank(scores, fully=True), expected)
    order = target.rank(scores)
    top = np.arange(len(labels)) - offsets[query] < 5
    assert np.array_equal(order[top], expected[top])
    assert np.array_equal(np.sort(order), np.arange(len(labels)))
    assert np.array_equal(query[order], query)


def check_against_swapping(objective: Objective, measure: str, offsets, labels, scores, rng) -> None:
    baselines = rng.random((3, len(offsets) - 1)).round(1)
    target = MeasuredQueries(measure, labels, offsets, np.arange(len(labels)), threads=2)
    lambdas = Lambdas(objective, target, baselines)
    gradient, hessian = lambdas(scores)
    expected_gradient, expected_hessian, M, changes = slow(objective, measure, offsets, labels, scores, baselines)
    np.testing.assert_allclose(lambdas.values, M, atol=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, atol=1e-6 * max(1, np.abs(expected_gradient).max()))
    np.testing.assert_allclose(hessian, expected_hessian, atol=1e-6 * max(1, np.abs(expected_hessian).max()))
    for change, D in changes:
        assert change * D >= -1e-12, "an improving swap must not lower the objective"


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize(("name", "plain"), [("saro", "u_risk"), ("faro", None)])
def test_where_all_differences_are_equal_half_of_alpha_counts(name: str, plain: str | None, copies: int) -> None:
    """s_x = 0 leaves nothing to divide by; one query has no s_x at all."""
    labels, scores = np.tile([0.0, 2.0, 1.0, 0.0, 3.0], copies), np.tile([0.5, 0.1, 0.9, 0.3, 0.2], copies)
    target = MeasuredQueries("nDCG@5", labels, np.arange(0, 5 * copies + 1, 5), np.arange(5 * copies), threads=1)
    for baseline in (0.1, 0.3, 0.9):  # sums of three such x leave other roundings
        baselines = np.full((1, copies), baseline)
        result = Lambdas(Objective(name, 4), target, baselines)(scores)
        if plain is not None:
            expected = Lambdas(Objective(plain, 2), target, baselines)(scores)
        else:
            expected = tuple(3 * each for each in Lambdas(Objective("gain"), target, baselines)(scores))
        for one, other in zip(result, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("estimate", ["each", "first"])
def test_s_x_is_estimated_in_each_iteration_or_after_the_first_tree(estimate: str) -> None:
    """FARO's gradients are those of gain, 1 + α·(1 − Φ(δ/s_x)) times: which s_x it is shows."""
    offsets, labels, first, rng = random_queries(3, count=30)
    target = MeasuredQueries("nDCG@5", labels, offsets, np.arange(len(labels)), threads=1)
    baselines = rng.random((2, 30))
    faro, gain = Lambdas(Objective("faro", 5, estimate=estimate), target, baselines), Lambdas(Objective(), target)
    faro.peek(first)  # does not count as an iteration
    s_x = 0.0
    for iteration, scores in enumerate((np.zeros(len(labels)), first, -first, rng.random(len(labels)))):
        result, plain = faro(scores)[0], gain(scores)[0]
        delta = target.values(scores) - baselines.mean(axis=0)
        if estimate == "each" or iteration <= 1:
            s_x = float(np.where(delta > 0, delta, 6 * delta).std(ddof=1))
        factor = 1 + 5 * (1 - ndtr(delta / s_x))
        np.testing.assert_allclose(result, np.repeat(factor, np.diff(offsets)) * plain, rtol=1e-4, atol=1e-6)
