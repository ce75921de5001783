"""The kernel: rankings, effectiveness, gradients and hessians of every objective, one query after the other.

For documents a, b of a query with label a > label b, ρ = 1/(1 + exp(σ(s_a − s_b))) and Δ the change of what is
optimised when the two swap places:

    gradient −σ·ρ·|Δ| for a, +σ·ρ·|Δ| for b;  hessian σ²·ρ·(1 − ρ)·|Δ| for both

(Burges, MSR-TR-2010-82). Sums are kept in float32, in the order of LightGBM's own lambdarank and with its table
for ρ, so that at α = 0, with every rank looked at (`delta_cutoff=None`), the same trees grow.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefoot.runtime import compiled

# Measures.
NDCG, AP, RR, ERR = 0, 1, 2, 3
# What becomes of ΔM.
GAIN, U_RISK, U_RISK_EQ9, WEIGHTED, GEO_RISK = 0, 1, 2, 3, 4


class Totals(NamedTuple):
    """What GeoRisk must know of all queries, on whatever machines they are (Dinçer et al., SIGIR 2016)."""

    effectiveness: float  # S, the sum of the model's M(q)
    mean_deviation: float  # Z/c, with deviations below 0 weighted 1 + α
    geo_risk: float  # √(S/c · Φ(Z/c))
    queries: float  # c
    per_query: float  # 1/c
    phi: float  # Φ(Z/c)
    density: float  # of the normal distribution at Z/c


TABLE_SIZE = 1 << 20  # LightGBM's number of bins for ρ


def sigmoid_table(sigma: float) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], float, float]:
    """ρ over the score differences that matter, the lowest of them, and bins a unit."""
    low, high = -50.0 / sigma / 2, 50.0 / sigma / 2
    factor = TABLE_SIZE / (high - low)
    differences = np.arange(TABLE_SIZE) / factor + low
    return 1.0 / (1.0 + np.exp(differences * sigma)), low, factor


@compiled
def rank_queries(first, last, offsets, tie_order, label_order, depth, scores, order):  # type: ignore[no-untyped-def]
    """Write the rows of queries first … last − 1 in ranked order: scores descending, ties as in `tie_order`.

    Of a query with many more than `depth` rows only so many are ranked; the others follow as in `label_order`.
    """
    longest = 1
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    keys, chosen = np.empty(longest), np.zeros(longest, np.bool_)
    for q in range(first, last):
        start, end = offsets[q], offsets[q + 1]
        n = end - start
        if depth * 4 < n:
            _select(start, end, tie_order, label_order, depth, scores, order, keys, chosen)
            continue
        sorted_already = True
        for i in range(start, end):
            order[i] = tie_order[i]
            if i > start and scores[tie_order[i]] > scores[tie_order[i - 1]]:
                sorted_already = False
        if sorted_already:
            continue
        for i in range(n):
            keys[i] = -scores[tie_order[start + i]]
        ranked = np.argsort(keys[:n], kind="mergesort")
        for i in range(n):
            order[start + i] = tie_order[start + ranked[i]]


@compiled
def _select(  # type: ignore[no-untyped-def]
    start, end, tie_order, label_order, depth, scores, order, best, chosen
):
    """Rank the best `depth` of the rows start … end − 1 by insertion."""
    for i in range(start, end):
        row = tie_order[i]
        score = scores[row]
        slot = min(i - start, depth)
        if slot == depth:
            if score <= best[depth - 1]:
                continue
            slot -= 1
        while slot > 0 and best[slot - 1] < score:
            best[slot] = best[slot - 1]
            order[start + slot] = order[start + slot - 1]
            slot -= 1
        best[slot] = score
        order[start + slot] = row
    for i in range(start, start + depth):
        chosen[order[i] - start] = True
    below = start + depth
    for i in range(start, end):
        row = label_order[i]
        if chosen[row - start]:
            chosen[row - start] = False
        else:
            order[below] = row
            below += 1


@compiled
def measure_queries(  # type: ignore[no-untyped-def]
    first, last, offsets, order, gains, ideal, discounts, measure, cutoff, values
):
    """M(q) of queries first … last − 1 in their current order, 0 where nothing is relevant.

    `gains` are what the measure sees of a label: the gain of NDCG, the stopping chance of ERR, 1 or 0 for AP and RR;
    `ideal` is the ideal DCG, or the number of relevant documents.
    """
    for q in range(first, last):
        start = offsets[q]
        n = offsets[q + 1] - start
        k = min(n, cutoff)
        value = 0.0
        if ideal[q] > 0:
            if measure == NDCG:
                for r in range(k):
                    value += gains[order[start + r]] * discounts[r]
                value /= ideal[q]
            elif measure == AP:
                relevant = 0
                for r in range(k):
                    if gains[order[start + r]] > 0:
                        relevant += 1
                        value += relevant / (r + 1)
                value /= ideal[q]
            elif measure == RR:
                for r in range(k):
                    if gains[order[start + r]] > 0:
                        value = 1.0 / (r + 1)
                        break
            else:
                reach = 1.0
                for r in range(k):
                    stop = gains[order[start + r]]
                    value += reach * stop / (r + 1)
                    reach *= 1 - stop
        values[q] = value


@compiled
def _weigh(x, alpha):  # type: ignore[no-untyped-def]
    """f_α(x)."""
    return x if x > 0 else (1 + alpha) * x


@compiled
def _normal_cdf(x):  # type: ignore[no-untyped-def]
    """Φ(x)."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@compiled
def _prefixes(n, gain, measure, cutoff, counts, sums, reach, first_two):  # type: ignore[no-untyped-def]
    """What `_swap_change` needs to know of the current order, up to and including each rank (from 0).

    AP: `counts` relevant documents and `sums` of 1/r over them. ERR: `sums` is its value so far and `reach` the chance
    of getting to a rank. RR: `first_two` are the first two relevant ranks. Sums stop at the cut-off.
    """
    first_two[0] = first_two[1] = n
    relevant, total, chance = 0.0, 0.0, 1.0
    for r in range(n):
        if measure == ERR:
            reach[r] = chance
            if r < cutoff:
                total += chance * gain[r] / (r + 1)
            chance *= 1 - gain[r]
        elif gain[r] > 0:
            relevant += 1
            if r < cutoff:
                total += 1.0 / (r + 1)
            if relevant == 1:
                first_two[0] = r
            elif relevant == 2:
                first_two[1] = r
        counts[r] = relevant
        sums[r] = total


@compiled
def _swap_change(i, j, a, b, measure, cutoff, ideal, counts, sums, reach, first_two):  # type: ignore[no-untyped-def]
    """ΔM of AP, RR or ERR when the documents at ranks i < j (from 0), that count a and b, change places."""
    if i >= cutoff:
        return 0.0
    between = sums[j - 1] - sums[i]
    if measure == AP:
        at_j = counts[j] / (j + 1) if j < cutoff else 0.0
        if a > b:
            return (at_j - counts[i] / (i + 1) - between) / ideal
        return ((counts[i] + 1) / (i + 1) - at_j + between) / ideal
    if measure == RR:
        old = first_two[0]
        new = min(i, old) if a < b else (min(j, first_two[1]) if i == old else old)
        return (1.0 / (new + 1) if new < cutoff else 0.0) - (1.0 / (old + 1) if old < cutoff else 0.0)
    # ERR: what stands between is reached with chance 1 − b where it was 1 − a; what comes after, as before.
    change = reach[i] * (b - a) / (i + 1) + between * ((1 - b) / (1 - a) - 1)
    if j < cutoff:
        change += reach[j] / (j + 1) * (a * (1 - b) / (1 - a) - b)
    return change


@compiled
def _cdf_near(x, step, phi, density):  # type: ignore[no-untyped-def]
    """Φ(x + step), given Φ and its density at x: by Taylor where a step is small, as among many queries all are."""
    if abs(step) > 0.003:
        return _normal_cdf(x + step)
    return phi + density * step * (1 - x * step / 2 + (x * x - 1) * step * step / 6)


@compiled
def _query_state(kind, difference, alpha, value, e):  # type: ignore[no-untyped-def]
    """What `_objective_change` needs to know of a query: `before`, `weighed` and `scale`."""
    if kind != GEO_RISK:
        return difference, _weigh(difference, alpha), 0.0
    scale = 1.0 / math.sqrt(e) if e > 0 else 0.0
    return value - e, _weigh((value - e) * scale, alpha), scale


@compiled
def _objective_change(kind, change, alpha, before, weighed, scale, totals):  # type: ignore[no-untyped-def]
    """Δ of the objective for a ΔM, with what is the same for all pairs of a query computed before.

    `before` is δ, or for GeoRisk M − e; `weighed` is f_α of it, or of z; `scale` is 1/√e, 0 where nothing is expected.
    """
    if kind == GAIN:
        return change
    if kind == WEIGHTED:
        return (1 + alpha) * change
    if kind == U_RISK:
        return _weigh(before + change, alpha) - weighed
    if kind == U_RISK_EQ9:
        # The rule jumps where a swap ends at the baseline's very score; rounding must not decide which side that is.
        return change if before + change >= -1e-12 else (1 + alpha) * change
    # GeoRisk with e held: c·(√((S + ΔM)/c · Φ(Z'/c)) − GeoRisk).
    effectiveness, mean_deviation, geo_risk, queries, per_query, phi, density = totals  # by name it takes twice as long
    moved = (_weigh((before + change) * scale, alpha) - weighed) * per_query
    mean = max(effectiveness + change, 0.0) * per_query
    return queries * (math.sqrt(mean * _cdf_near(mean_deviation, moved, phi, density)) - geo_risk)


@compiled
def _rho(apart, table, low, factor):  # type: ignore[no-untyped-def]
    """ρ of a score difference, from the table."""
    slot = (apart - low) * factor
    last = len(table) - 1
    return table[0] if slot <= 0 else table[last] if slot >= last else table[int(slot)]


@compiled
def _group(n, discounted_ranks, label, group_end):  # type: ignore[no-untyped-def]
    """Where the group of each rank ends: documents that, as the later of a pair, all change the measure alike.

    Above the cut-off each is alone; below it, where documents are does not count, so those of one label are a group.
    """
    for r in range(n - 1, -1, -1):
        group_end[r] = group_end[r + 1] if discounted_ranks <= r < n - 1 and label[r] == label[r + 1] else r + 1


@compiled
def _add_pairs(  # type: ignore[no-untyped-def]
    i, first, last, sign, weight, score, sigma, table, table_low, table_factor, gradient, hessian
):
    """Add the pairs of the document at rank i and those at first … last − 1, with |Δ| `weight`; sign 1: i is better."""
    gradient_i, hessian_i = gradient[i], hessian[i]
    for j in range(first, last):
        rho = _rho(sign * (score[i] - score[j]), table, table_low, table_factor)
        pair_gradient = np.float32(sign * sigma * rho * weight)
        pair_hessian = np.float32(sigma * sigma * rho * (1 - rho) * weight)
        gradient_i -= pair_gradient
        hessian_i += pair_hessian
        gradient[j] += pair_gradient
        hessian[j] += pair_hessian
    gradient[i], hessian[i] = gradient_i, hessian_i


@compiled
def lambda_queries(  # type: ignore[no-untyped-def]
    first, last, offsets, order, scores, labels, gains, ideal, discounts, measure, cutoff, all_ranks,
    kind, values, difference, alphas, expected, totals, sigma, table, table_low, table_factor,
    gradient, hessian,
):  # fmt: skip
    """Gradients and hessians of the rows of queries first … last − 1.

    With `all_ranks` every rank has its discount, as LightGBM's lambdarank has it; pairs need one document above the
    cut-off either way.
    """
    longest = 1
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    counts, sums, reach = np.zeros(longest), np.zeros(longest), np.zeros(longest)
    first_two = np.zeros(2, np.int64)
    # A query in ranked order, so that the loop over pairs runs along memory.
    label, gain, score = np.empty(longest), np.empty(longest), np.empty(longest)
    ranked_gradient, ranked_hessian = np.empty(longest, np.float32), np.empty(longest, np.float32)
    group_end = np.empty(longest, np.int64)
    for q in range(first, last):
        start = offsets[q]
        n = offsets[q + 1] - start
        if ideal[q] <= 0:
            gradient[start : start + n] = 0
            hessian[start : start + n] = 0
            continue
        for r in range(n):
            row = order[start + r]
            label[r], gain[r], score[r] = labels[row], gains[row], scores[row]
            ranked_gradient[r] = ranked_hessian[r] = 0
        if measure != NDCG:
            _prefixes(n, gain, measure, cutoff, counts, sums, reach, first_two)
        discounted_ranks = n if all_ranks else min(n, cutoff)
        _group(n, discounted_ranks, label, group_end)
        alpha = alphas[q]
        before, weighed, scale = _query_state(kind, difference[q], alpha, values[q], expected[q])
        for i in range(min(n - 1, cutoff)):
            j = i
            while group_end[j] < n:
                j = group_end[j]
                if label[i] == label[j]:
                    continue
                if measure == NDCG:
                    low = discounts[j] if j < discounted_ranks else 0.0
                    change = (gain[j] - gain[i]) * (discounts[i] - low) / ideal[q]
                elif gain[i] == gain[j]:
                    continue
                else:
                    change = _swap_change(
                        i, j, gain[i], gain[j], measure, cutoff, ideal[q], counts, sums, reach, first_two
                    )
                weight = abs(change)
                if kind != GAIN:
                    weight = abs(_objective_change(kind, change, alpha, before, weighed, scale, totals))
                if weight > 0:
                    sign = 1.0 if label[i] > label[j] else -1.0
                    _add_pairs(
                        i, j, group_end[j], sign, weight, score, sigma, table, table_low, table_factor,
                        ranked_gradient, ranked_hessian,
                    )  # fmt: skip
        for r in range(n):
            gradient[order[start + r]] = ranked_gradient[r]
            hessian[order[start + r]] = ranked_hessian[r]
