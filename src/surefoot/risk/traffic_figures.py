"""What traffic adds to an assessment: shares of it that are helped and hurt, and queries asked often and rarely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Floats
from surefoot.risk.assessment_data import EachOnce, TrafficData, TrafficShares
from surefoot.risk.tradeoff import which_lose_over_20
from surefoot.risk.vectors import blocks

if TYPE_CHECKING:
    from surefoot.data.types.traffic_weights import TrafficWeights

# The most frequent queries that together have half of the traffic, those with the next 30 %, and the rest.
TRAFFIC_SEGMENTS = {"head": 0.5, "torso": 0.8, "tail": 1.0}


def traffic_data(weighting: TrafficWeights) -> TrafficData:
    """The block `traffic` of an assessment's plain data."""
    return {
        "queries": len(weighting.weights),
        "effective_queries": weighting.effective,
        "largest_share": float(weighting.weights.max() / weighting.weights.sum()),
        "left_out": weighting.left_out,
        "traffic_share": weighting.share,
        "equal": weighting.equal,
    }


def traffic_shares(
    scores: Floats, baselines: Mapping[str, Floats], differences: Mapping[str, Floats], weights: Floats
) -> tuple[TrafficShares, EachOnce]:
    """The part of the traffic that a system helps and hurts, by relative weights, and its figures without them."""
    each = [_shares(differences[name], base, weights) for name, base in baselines.items()]
    wins, losses, ties, over_20, reward, risk = np.mean(each, axis=0).tolist()
    mean = float(np.asarray(scores).mean())
    return (
        {"wins": wins, "losses": losses, "ties": ties, "loss_over_20": over_20},
        {"gain": reward - risk, "mean": mean, "reward": reward, "risk": risk},
    )


def _shares(difference: Floats, baseline: Floats, weights: Floats) -> list[float]:
    sums = np.zeros(6)
    for part, base, w in zip(blocks(difference), blocks(baseline), blocks(weights), strict=True):
        sums += (
            (w * (part > 0)).sum(), (w * (part < 0)).sum(), (w * (part == 0)).sum(),
            (w * which_lose_over_20(part, base)).sum(),
            np.maximum(part, 0).sum(), -np.minimum(part, 0).sum(),
        )  # fmt: skip
    means = sums / len(weights)
    return [*np.minimum(means[:4], 1.0).tolist(), *means[4:].tolist()]  # a share is not above 1, whatever rounding says


def traffic_segments(queries: Sequence[str], weights: Floats) -> dict[str, str]:
    """Which queries are asked often, sometimes and rarely: head, torso and tail, with 50, 30 and 20 % of the traffic.

    Queries go from the most to the least frequent, equal ones by their id. Each belongs to the segment in which its
    traffic begins, so the head is never empty.

    >>> traffic_segments(["a", "b", "c", "d"], np.array([10.0, 50.0, 20.0, 20.0]))
    {'b': 'head', 'c': 'torso', 'd': 'torso', 'a': 'tail'}
    """
    order = sorted(range(len(queries)), key=lambda at: (-weights[at], queries[at]))
    sorted_weights = weights[order]
    before = (np.cumsum(sorted_weights) - sorted_weights) / sorted_weights.sum()
    # Rounding must not move a query that begins right at a border.
    number = np.searchsorted(np.array(list(TRAFFIC_SEGMENTS.values())[:-1]) - 1e-12, before, side="right")
    names = list(TRAFFIC_SEGMENTS)
    return {queries[at]: names[segment] for at, segment in zip(order, number.tolist(), strict=True)}
