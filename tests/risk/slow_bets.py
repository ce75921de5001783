"""The bets by slow loops, as the formulas stand; a judge that always says 0 is none."""

from __future__ import annotations

import math

import numpy as np

from surefoot.risk.control_variate import JudgeMoments

NO_JUDGE = JudgeMoments(0.0, 0.0, 0.0, 0.0)


def slow_weight(h: np.ndarray, a: np.ndarray, judge: JudgeMoments, m: float) -> float:
    """λ after these draws, as the formula stands."""
    if judge.variance == 0:
        return 0.0
    above = 10 * judge.variance + sum((h[j] - m) * (a[j] - judge.mean) for j in range(len(h)))
    below = 20 * judge.variance + sum((a[j] - judge.mean) ** 2 for j in range(len(h)))
    return float(min(max(above / below, 0.0), 1.5))


def slow_aiming(
    h: np.ndarray, a: np.ndarray, judge: JudgeMoments, m: float, target: float, n: int, prior: float
) -> list[float]:
    """The capital of the aiming bet after each draw, as the formula stands."""
    capital, capitals = 1.0, []
    ys: list[float] = []
    mus: list[float] = []
    for i in range(1, len(h) + 1):
        weight = slow_weight(h[: i - 1], a[: i - 1], judge, m)
        v = (prior * m * (1 - m) / 2 + sum((y - mu) ** 2 for y, mu in zip(ys, mus, strict=True))) / (prior + i - 1)
        left = max(0.0, target - math.log(capital))
        cap = 0.99 / (1 - m + weight * (judge.mean - judge.least))
        stake = min(cap, math.sqrt(2 * left / (max(1, n - i + 1) * v)))
        capital *= 1 + stake * (m - h[i - 1] + weight * (a[i - 1] - judge.mean))
        capitals.append(capital)
        ys.append(h[i - 1] - weight * (a[i - 1] - judge.mean))
        mus.append((prior * m + sum(ys)) / (prior + i))
    return capitals


def slow_anytime(h: np.ndarray, a: np.ndarray, judge: JudgeMoments, m: float, delta: float, budget: int) -> list[float]:
    aiming = slow_aiming(h, a, judge, m, math.log(2 / delta), budget, 10)
    fixed = []
    for share in (0.1, 10**-0.75, 10**-0.5, 10**-0.25, 1.0):
        capital, row = 1.0, []
        for i in range(len(h)):
            weight = slow_weight(h[:i], a[:i], judge, m)
            stake = share / (1 - m + weight * (judge.mean - judge.least))
            capital *= max(0.0, 1 + stake * (m - h[i] + weight * (a[i] - judge.mean)))
            row.append(capital)
        fixed.append(row)
    return [0.5 * sum(row[i] for row in fixed) / 5 + 0.5 * aiming[i] for i in range(len(h))]
