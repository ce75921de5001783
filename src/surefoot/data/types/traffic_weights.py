"""The weights of a score matrix's queries, by traffic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from surefoot.arrays import Floats, Ints
from surefoot.data.reading.traffic import QueryWeights, effective_queries


@dataclass(frozen=True)
class TrafficWeights:
    """How often each query is asked; `left_out` queries are not asked, and `share` of all traffic goes to the rest.

    Weights that are all equal change no figure: `relative` is None then.
    """

    weights: Floats
    left_out: int
    share: float
    equal: bool

    @classmethod
    def of(cls, given: QueryWeights, left_out: int | None = None) -> TrafficWeights:
        """The weighting of the queries that are asked; `left_out` where some were left out before."""
        return cls(given.weights, given.left_out if left_out is None else left_out, given.share, given.equal)

    def only(self, columns: Ints | list[int]) -> TrafficWeights:
        """The weighting of some of the queries: of a segment, in which weights that happen to be equal count as any."""
        return replace(self, weights=self.weights[columns])

    @cached_property
    def relative(self) -> Floats | None:
        """w̃ = w/w̄, or None where all weights are equal."""
        return None if self.equal else self.weights / self.weights.mean()

    @property
    def effective(self) -> float:
        """c_eff: as many queries of equal weight tell as much."""
        return effective_queries(self.weights)
