"""Gradients by the definitions alone: two documents are really swapped, and the list is measured again."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from surefoot.measures.notation import Measure

PHI = NormalDist().cdf


def f(x: float, alpha: float) -> float:
    return x if x > 0 else (1 + alpha) * x


def measured(measure: Measure, labels: list[float]) -> float:
    """M of a list whose labels are in ranked order."""
    settings, cutoff = measure.settings, int(measure.cutoff or len(labels))
    if measure.family == "nDCG":
        gain = (lambda x: x) if settings["dcg"] == "log2" else (lambda x: 2**x - 1)

        def dcg(values: list[float]) -> float:
            return sum(gain(value) / math.log2(rank + 2) for rank, value in enumerate(values[:cutoff]))

        ideal = dcg(sorted(labels, reverse=True))
        return dcg(labels) / ideal if ideal else 0.0
    if measure.family == "ERR":
        value, reach = 0.0, 1.0
        for rank, label in enumerate(labels[:cutoff]):
            stop = (2**label - 1) / 2 ** settings["max_rel"]
            value += reach * stop / (rank + 1)
            reach *= 1 - stop
        return value
    relevant = [label >= settings["rel"] for label in labels]
    ranks = [rank + 1 for rank, hit in enumerate(relevant[:cutoff]) if hit]
    if measure.family == "RR":
        return 1 / ranks[0] if ranks else 0.0
    return sum((number + 1) / rank for number, rank in enumerate(ranks)) / sum(relevant) if ranks else 0.0


def ranked(scores: np.ndarray) -> np.ndarray:
    return np.argsort(-scores, kind="stable")


def slow_gradients(objective, measure, lists, baselines, sigma=1.0):
    """λ of each list's documents; `lists` are pairs (scores, labels), `baselines` M(q) of each baseline (rows)."""
    measure = Measure.parse(measure)
    alpha, c = objective.alpha, len(lists)
    orders = [ranked(scores) for scores, _ in lists]
    M = np.array([measured(measure, list(labels[o])) for (_, labels), o in zip(lists, orders, strict=True)])
    baselines = np.zeros((1, c)) if baselines is None else np.atleast_2d(baselines)
    delta = M - baselines.mean(0)
    x = np.array([f(each, alpha) for each in delta])
    s_x = float(np.std(x, ddof=1)) if c > 1 else 0.0
    S, column = M.sum(), M + baselines.sum(0)
    e = S * column / column.sum() if column.sum() else np.zeros(c)
    z = np.array(
        [(m - expected) / math.sqrt(expected) if expected > 0 else 0.0 for m, expected in zip(M, e, strict=True)]
    )
    Z = sum(f(each, alpha) for each in z)

    def change_of(q: int, change: float) -> float:
        a = alpha * (1 - PHI(delta[q] / s_x)) if s_x > 1e-7 else alpha / 2
        a = a if objective.name in ("saro", "faro") else alpha
        if objective.name == "gain":
            return change
        if objective.name == "faro":
            return (1 + a) * change
        if objective.name in ("u_risk", "saro"):
            if objective.rule == "eq9":
                return change if delta[q] + change >= -1e-12 else (1 + a) * change
            return f(delta[q] + change, a) - f(delta[q], a)
        after = (M[q] + change - e[q]) / math.sqrt(e[q]) if e[q] > 0 else 0.0
        moved = Z - f(z[q], alpha) + f(after, alpha)
        geo = math.sqrt(S / c * PHI(Z / c))
        return c * (math.sqrt(max(S + change, 0.0) / c * PHI(moved / c)) - geo)

    gradients = []
    for q, ((scores, labels), order) in enumerate(zip(lists, orders, strict=True)):
        gradient = np.zeros(len(scores))
        for i in range(len(order)):
            for j in range(i + 1, len(order)):
                one, other = order[i], order[j]
                if labels[one] == labels[other]:
                    continue
                swapped = list(labels[order])
                swapped[i], swapped[j] = swapped[j], swapped[i]
                change = measured(measure, swapped) - M[q]
                if abs(change) < 1e-14:
                    continue
                better, worse = (one, other) if labels[one] > labels[other] else (other, one)
                rho = 1 / (1 + math.exp(sigma * (scores[better] - scores[worse])))
                weight = sigma * rho * abs(change_of(q, change))
                gradient[better] -= weight
                gradient[worse] += weight
        gradients.append(gradient)
    return gradients, M
