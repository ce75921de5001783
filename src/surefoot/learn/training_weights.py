"""Sums over the machines of a training, this one alone or several, and weights of queries relative to their mean there.

What must be known of all queries (c, s_x, S, Z, the weights and the criterion of early stopping) is kept as sums, which
are added up over the machines; nothing else of our own crosses the network, so the traffic does not grow with the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.reading.traffic import QueryWeighting
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError

Reduce: TypeAlias = Callable[[Floats], Floats]  # every machine calls it at the same points, and gets the same sums
# Relative weights that differ from 1 by no more are equal but for rounding: then weights change nothing.
_ROUNDING = 1e-12


def local_sums(sums: Floats) -> Floats:
    """The sums of one machine, where it is the only one."""
    return sums


class WeightedSet:
    """One set of queries on this machine among several: w̃ = w / w̄ with the mean over all of them.

    `relative` is None where all queries of the set count the same; it is empty on a machine without such queries.
    """

    def __init__(self, weighting: QueryWeighting | None, sums: Floats) -> None:
        machines, self.queries, self.total = sums.tolist()
        self.weighting = weighting
        self.given = machines > 0
        self.relative: Floats | None = None
        if self.given:
            values = np.zeros(0) if weighting is None else weighting.values
            self.relative = values / (self.total / self.queries)
        self.effective = self.queries

    @staticmethod
    def sums(weighting: QueryWeighting | None) -> list[float]:
        """What is added up over all machines before the weights are known relative to their mean."""
        return [0.0, 0.0, 0.0] if weighting is None else [1.0, len(weighting.values), float(weighting.values.sum())]

    def spread(self) -> list[float]:
        """How many weights differ from the mean, and the sum of their squares; added up over all machines, too."""
        if self.relative is None:
            return [0.0, 0.0]
        return [float((abs(self.relative - 1) > _ROUNDING).sum()), float(self.relative @ self.relative)]

    def set_spread(self, different: float, squares: float) -> None:
        """Drop weights that are all equal; else know as how many queries of equal weight they tell."""
        if not different:
            self.relative = None
        elif self.given:
            self.effective = self.queries**2 / squares

    def summary(self) -> dict[str, Any] | None:
        """What is saved of the weights: queries, effective queries, those left out, and the share of all traffic."""
        if not self.given:
            return None
        left_out, total = (0, None) if self.weighting is None else (len(self.weighting.left_out), self.weighting.total)
        return {
            "queries": int(self.queries), "effective_queries": float(self.effective), "left_out": left_out,
            "traffic_share": 1.0 if total is None else min(1.0, self.total / total),
        }  # fmt: skip


def weighted_sets(weightings: Sequence[QueryWeighting | None], reduce: Reduce = local_sums) -> list[WeightedSet]:
    """Sets of queries with their weights relative to the mean over all machines, which all call this together."""
    sums = reduce(np.array([WeightedSet.sums(each) for each in weightings]).ravel()).reshape(len(weightings), 3)
    sets = [WeightedSet(*each) for each in zip(weightings, sums, strict=True)]
    if any(each.given for each in sets):
        spreads = reduce(np.array([each.spread() for each in sets]).ravel()).reshape(len(sets), 2)
        for each, spread in zip(sets, spreads.tolist(), strict=True):
            each.set_spread(*spread)
    return sets


def relative_or_none(weighting: QueryWeighting | None) -> Floats | None:
    """The relative weights of one set on one machine; None where all queries count the same."""
    return weighted_sets([weighting])[0].relative


def weights_that_count(summary: dict[str, Any] | None) -> dict[str, Any] | None:
    """A summary of weights, None where they changed nothing: all equal, and no query left out."""
    if summary is None or (summary["effective_queries"] == summary["queries"] and not summary["left_out"]):
        return None
    return summary


def refuse_weights(what: str, *sets: RankingData | None) -> None:
    """Refuse data whose queries have weights, for `what` (in the plural) learns from all queries alike."""
    if any(data is not None and data._weighting is not None for data in sets):
        raise ArgumentError(
            f"{what} cannot learn from weights of queries yet; use Ranker, whose trees can, or remove the weights "
            "(data.with_traffic(None))"
        )


def georisk_refusal(what: str) -> ArgumentError:
    """The error where GeoRisk should be optimised, or judged by, with weights."""
    return ArgumentError(
        f"{what} cannot be used with weights of queries: GeoRisk expects scores from sums over queries that all count "
        "the same; use u_risk or t_risk, or leave out the weights"
    )
