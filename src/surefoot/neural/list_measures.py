"""A measure on padded lists of documents: M(q), ΔM when two documents of a list change places, and |Δ|.

Lists are the last axis but one, documents the last. A list is ranked by scores, descending; equal scores stay in the
list's order, and padding comes last. A rank counts from 0 here. On a graphics card a step waits for the number of
operations, not for their size, so what depends on lists' length alone is computed once. What is computed for lists has
as many bits as the device has; what is computed for pairs of documents, those of the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from surefoot.errors import ArgumentError
from surefoot.learn.objectives import Objective
from surefoot.measures.notation import Measure
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.sums import QuerySums

SUPPORTED_FAMILIES = ("nDCG", "AP", "RR", "ERR")
_SMALL_STEP = 0.1  # of Φ's argument, up to which five terms of Taylor are exact in float32


class RankedLists(NamedTuple):
    """Lists in ranked order: `order` says which document is at each rank, `gains` what the measure sees of it.

    `values` are M(q) and `ideal` the ideal DCG, or the number of relevant documents; 0 and 1 where there are none.
    """

    order: Tensor
    gains: Tensor
    values: Tensor
    ideal: Tensor


class ListMeasure:
    """nDCG, AP, RR or ERR, with a cut-off or without, on padded lists."""

    def __init__(self, measure: Measure | str) -> None:
        self.measure = Measure.parse(measure)
        self.family = self.measure.family
        if self.family not in SUPPORTED_FAMILIES:
            raise ArgumentError(f"{self.measure} cannot be optimised; {', '.join(SUPPORTED_FAMILIES)} can")
        self.cutoff = None if self.measure.cutoff is None else int(self.measure.cutoff)
        self.weights = _ByLength()

    def depth(self, documents: int) -> int:
        """How many ranks count in lists of so many documents."""
        return documents if self.cutoff is None else min(self.cutoff, documents)

    def gains(self, labels: Tensor, mask: Tensor) -> Tensor:
        """The gain of nDCG, the stopping chance of ERR, 1 or 0 for AP and RR; 0 for padding."""
        return self._worth(labels.masked_fill(~mask, 0))

    def ideal(self, gains: Tensor) -> Tensor:
        """The ideal DCG, or the number of relevant documents; 1 where there are none, so that one can divide by it."""
        if self.family in ("RR", "ERR"):
            return gains.new_ones(gains.shape[:-1])
        if self.family == "AP":
            return gains.sum(-1).clamp(min=1)
        best = torch.topk(gains, self.depth(gains.shape[-1])).values
        total = (best * self.weights.discounts(best.shape[-1], best.shape[-1], best)).sum(-1)
        return total.masked_fill(total == 0, 1)

    def rank(self, scores: Tensor, gains: Tensor, ideal: Tensor) -> RankedLists:
        """The lists ranked by scores, −∞ for padding, whose gains and ideal values are known."""
        order = torch.sort(scores, dim=-1, descending=True, stable=True).indices
        ranked = torch.gather(gains, -1, order)
        return RankedLists(order, ranked, self._values(ranked, ideal), ideal)

    def _worth(self, labels: Tensor) -> Tensor:
        settings = self.measure.settings
        if self.family == "ERR":
            return (torch.exp2(labels) - 1) / 2.0 ** settings["max_rel"]
        if self.family == "nDCG":
            return labels if settings["dcg"] == "log2" else torch.exp2(labels) - 1
        return (labels >= settings["rel"]).to(labels.dtype)

    def _values(self, gains: Tensor, ideal: Tensor) -> Tensor:
        depth = self.depth(gains.shape[-1])
        top = gains[..., :depth]
        if self.family == "nDCG":
            return (top * self.weights.discounts(depth, depth, top)).sum(-1) / ideal
        reciprocals = self.weights.reciprocals(depth, top)
        if self.family == "AP":
            return (top * top.cumsum(-1) * reciprocals).sum(-1) / ideal
        if self.family == "RR":
            return (top * reciprocals).amax(-1) if depth else top.sum(-1)
        return (_reach(top) * top * reciprocals).sum(-1)


class SwapChanges:
    """ΔM of swaps in ranked lists: of the documents at some ranks with all that come after them."""

    def __init__(self, measure: ListMeasure, lists: RankedLists, dtype: Any) -> None:
        self.family = measure.family
        gains = lists.gains
        documents, depth = gains.shape[-1], measure.depth(gains.shape[-1])
        self.inside = measure.weights.ranks(documents, gains) < depth
        divisor = lists.ideal[..., None]
        self.parts: tuple[Tensor, ...]
        if self.family == "nDCG":
            self.gains = (gains / divisor).to(dtype)
            self.parts = (measure.weights.discounts(documents, depth, self.gains),)
            return
        self.gains = gains.to(dtype)
        reciprocals = measure.weights.reciprocals(documents, gains)
        counted = torch.where(self.inside, gains, 0)
        if self.family == "AP":
            # The precision at each rank, and Σ 1/r of the relevant documents above and at it.
            precision = gains.cumsum(-1) * reciprocals / divisor
            sums = (counted * reciprocals).cumsum(-1) / divisor
            self.parts = (precision.to(dtype), sums.to(dtype), (reciprocals / divisor).to(dtype))
        elif self.family == "RR":
            ranks = torch.where(gains > 0, measure.weights.ranks(documents, gains), documents)
            worth = torch.where(self.inside, reciprocals, 0)
            self.parts = (ranks.amin(-1), _second(ranks), worth.to(dtype))
        else:
            reach = _reach(gains)
            self.parts = ((reach * reciprocals).to(dtype), (reach * counted * reciprocals).cumsum(-1).to(dtype))

    def change(self, first: int, last: int, gaps: Tensor) -> Tensor:
        """ΔM of swaps of ranks first … last − 1 (rows) with every rank (columns); meant where the column is later.

        `gaps` are the rows' gains less the columns'.
        """
        upper, lower = self.gains[..., first:last, None], self.gains[..., None, :]
        if self.family == "nDCG":
            (discounts,) = self.parts
            return gaps * (discounts - discounts[first:last, None])
        if self.family == "AP":
            precision, sums, reciprocals = self.parts
            change = _between(sums, first, last) - torch.where(self.inside, precision, 0)[..., None, :]
            here = precision[..., first:last, None]
            rise = here + reciprocals[..., first:last, None] + change
            return torch.where(gaps > 0, -(change + here), rise)
        if self.family == "RR":
            old, second, worth = self.parts
            ranks = torch.arange(self.gains.shape[-1], device=self.gains.device)
            above, before = ranks[first:last, None], old[..., None, None]
            falls = torch.where(above == before, torch.minimum(ranks, second[..., None, None]), before)
            new = torch.where(gaps > 0, falls, torch.minimum(above, before))
            return _at(worth, new) - _at(worth, before)
        # ERR: what is between is reached with chance 1 − b where it was 1 − a; what comes after, as before.
        chance, sums = self.parts
        ratio = (1 - lower) / (1 - upper)
        change = _between(sums, first, last) * (ratio - 1) - chance[..., first:last, None] * gaps
        return change + torch.where(self.inside, chance, 0)[..., None, :] * (upper * ratio - lower)


class _ByLength:
    """What depends on the length of lists alone, computed once for each length, device and type of numbers."""

    def __init__(self) -> None:
        self._known: dict[Any, Tensor] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Nothing: what is known can be computed again."""
        return {"_known": {}}

    def discounts(self, documents: int, depth: int, like: Tensor) -> Tensor:
        """1/log2(1 + r) of each rank down to a depth, 0 below it."""

        def compute() -> Tensor:
            numbers = _numbers(documents, like)
            return torch.where(numbers <= depth, 1 / torch.log2(1 + numbers), 0)

        return self._recall(("discounts", documents, depth), like, compute)

    def reciprocals(self, documents: int, like: Tensor) -> Tensor:
        """1/r of each rank."""
        return self._recall(("reciprocals", documents, documents), like, lambda: 1 / _numbers(documents, like))

    def ranks(self, documents: int, like: Tensor) -> Tensor:
        """The ranks."""
        return self._recall(("ranks", documents, documents), like, lambda: torch.arange(documents, device=like.device))

    def later(self, documents: int, depth: int, like: Tensor) -> Tensor:
        """Whether a rank (columns) comes after one down to the depth (rows)."""
        return self._recall(("later", documents, depth), like, lambda: later_ranks(documents, 0, depth, like))

    def _recall(self, key: tuple[str, int, int], like: Tensor, compute: Callable[[], Tensor]) -> Tensor:
        if torch.compiler.is_compiling():  # which makes constants of them by itself
            return compute()
        full_key = (*key, like.device, like.dtype)
        if full_key not in self._known:
            if len(self._known) > 200:  # of lists of ever new lengths
                self._known.clear()
            self._known[full_key] = compute()
        return self._known[full_key]


def _numbers(documents: int, like: Tensor) -> Tensor:
    return torch.arange(1, documents + 1, device=like.device, dtype=like.dtype)


def later_ranks(documents: int, first: int, last: int, like: Tensor) -> Tensor:
    """Whether a rank (columns) comes after one of a block (rows)."""
    ranks = torch.arange(documents, device=like.device)
    return ranks > ranks[first:last, None]


def _reach(gains: Tensor) -> Tensor:
    """The chance that a reader of ERR gets to each rank."""
    passed = torch.cumprod(1 - gains, -1)
    return torch.cat([torch.ones_like(passed[..., :1]), passed[..., :-1]], -1)


def _between(sums: Tensor, first: int, last: int) -> Tensor:
    """What is summed between two ranks, without them, from sums up to and with each rank."""
    before = torch.cat([torch.zeros_like(sums[..., :1]), sums[..., :-1]], -1)
    return before[..., None, :] - sums[..., first:last, None]


def _second(ranks: Tensor) -> Tensor:
    """The second lowest of ranks that differ but for the last, which stands for none."""
    lowest = ranks.amin(-1, keepdim=True)
    return torch.where(ranks == lowest, ranks.shape[-1], ranks).amin(-1)


def _at(worth: Tensor, ranks: Tensor) -> Tensor:
    """What the first relevant document is worth at each rank, 0 where there is none."""
    return torch.cat([worth, worth.new_zeros(1)])[ranks]


class SwapValues:
    """|Δ| for ΔM, from what is known of each list before any pair is seen.

    `values` are M(q) of the lists (models, lists), `baselines` those of the baselines (baselines, 1, lists); `counted`
    marks the lists that count. `dtype` is that of the ΔM that it takes.

    Of each list it keeps `before`, δ or for GeoRisk M − e; `weighed`, f_α of it, or of z; and `scale`, 1/√e. All have
    two axes of size 1 at the end, for the pairs.
    """

    def __init__(
        self, objective: Objective, values: Tensor, baselines: Tensor, counted: Tensor, sums: QuerySums, dtype: Any
    ) -> None:
        kind = objective.kind
        self.switch = (objective.rule == "eq9" and kind.eq9_switch) or str(kind.switch)
        # Eq. 9 jumps, so rounding must not decide the side that a swap ends on.
        self.dtype = values.dtype if self.switch == "U_RISK_EQ9" else dtype
        self.alpha: Any = objective.alpha
        if self.switch == "GAIN":
            return
        before = values - (baselines[0] if len(baselines) == 1 else baselines.mean(0))
        if kind.alpha_per_query:
            alpha = torch.full_like(before, objective.alpha)
            s_x = sums.deviation(weigh(before, alpha), counted)[..., None]
            per_query = objective.alpha * torch.special.ndtr(-before / torch.where(s_x > 0, s_x, 1))
            alpha = torch.where(s_x > 0, per_query, objective.alpha / 2)
            self.alpha = self._for_pairs(alpha)
            weighed = weigh(before, alpha)
        elif kind.needs_totals:
            expected, totals = sums.totals(values, baselines, objective.alpha, counted)
            before = values - expected
            scale = torch.where(expected > 0, expected, 1).rsqrt() * (expected > 0)
            weighed = weigh(before * scale, objective.alpha)
            self.scale = self._for_pairs(scale)
            self.totals = tuple(total[..., None, None, None].to(self.dtype) for total in totals)
        else:
            weighed = weigh(before, objective.alpha)
        self.before, self.weighed = self._for_pairs(before), self._for_pairs(weighed)

    def _for_pairs(self, values: Tensor) -> Tensor:
        return values[..., None, None].to(self.dtype)

    def of_changes(self, change: Tensor) -> Tensor:
        """|Δ| of each ΔM."""
        if self.switch == "GAIN":
            return change.abs()
        if self.switch == "WEIGHTED":
            return (1 + self.alpha) * change.abs()
        if self.switch == "U_RISK":
            return (weigh(self.before + change, self.alpha) - self.weighed).abs()
        if self.switch == "U_RISK_EQ9":
            near = -1e-12 if change.dtype == torch.float64 else -1e-6
            return torch.where(self.before + change >= near, change, (1 + self.alpha) * change).abs()
        return self._geo_risk(change).abs()

    def _geo_risk(self, change: Tensor) -> Tensor:
        """c·(√((S + ΔM)/c · Φ(Z'/c)) − GeoRisk), as a quotient in which nothing cancels."""
        queries, mean, deviation, phi, density = self.totals
        step = (weigh((self.before + change) * self.scale, self.alpha) - self.weighed) / queries
        phi_change = torch.special.ndtr(deviation + step) - phi
        if change.dtype != torch.float64:
            phi_change = torch.where(step.abs() > _SMALL_STEP, phi_change, density * _taylor(deviation, step))
        mean_change = torch.maximum(change / queries, -mean)
        before = mean * phi
        rise = mean_change * (phi + phi_change) + mean * phi_change
        roots = (before + rise).clamp(min=0).sqrt() + before.sqrt()
        return queries * rise / torch.where(roots > 0, roots, 1)


def weigh(differences: Tensor, alpha: Tensor | float) -> Tensor:
    """f_α(x): x where it is positive, (1 + α)·x elsewhere; as α ≥ 0, the lesser of the two."""
    return torch.minimum(differences, (1 + alpha) * differences)


def _taylor(x: Tensor, h: Tensor) -> Tensor:
    """(Φ(x + h) − Φ(x)) over the density at x, for small h: Σ (−1)^n·He_n(x)·h^(n+1)/(n+1)!, five terms."""
    square = x * x
    hermite = [1.0, x, square - 1, x * (square - 3), (square - 6) * square + 3]
    total = hermite[4] * h / 5
    for order in (3, 2, 1, 0):
        total = h / (order + 1) * (hermite[order] - total)
    return total
