"""`RiskLoss`: the objectives of `Ranker` as a loss for networks, over padded lists of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.arguments import finite_number
from surefoot.arrays import LARGEST_LABEL_POWER
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.objectives import OBJECTIVE_KINDS, Objective
from surefoot.learn.options import MEASURE, OBJECTIVE, RULE
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.list_measures import ListMeasure, RankedLists, SwapChanges, SwapValues, later_ranks
from surefoot.neural.sums import QuerySums, ReduceTensor, local_sums

ARRIVAL_BASELINE = "arrival"
SUM_KINDS = ("batch", "running")
_MOST_PAIRS_AT_ONCE = 1 << 24  # pairs that are looked at in one go where a measure has no cut-off


class RiskLoss(torch.nn.Module):  # type: ignore[misc]
    """A loss whose gradients are the λ of LambdaMART under a risk-sensitive objective (docs/neural.md).

        loss = (1/c) Σ_q Σ_d g_d·s_d,   g_d = Σ over pairs of d of ∓σ·ρ·|Δ|, held constant

    Its value means nothing; its gradient does. Log `values(…)`, M(q) of each list, in its place.

    Parameters
    ----------
    objective : str
        "gain", "u_risk", "saro", "faro" or "geo_risk", as `Ranker` has them.
    alpha : float, optional
        Each loss against the baseline counts 1 + α times; objectives that weigh risk need it.
    measure : str
        nDCG (exponential or linear gains), AP, RR or ERR, with a cut-off or without. With a cut-off k a list of L
        documents has k × L pairs, without one L × L, of which a block is looked at at a time.
    rule : {"exact", "eq9"}
        Wang's exact Δ, or Dinçer 2016's Eq. 9.
    sigma : float
        Steepness of the pairs' sigmoid.
    normalize : bool
        Divide each list's λ by t = Σ|λ| and multiply them by log2(1 + t). Then lists count more alike, and α less.
    sums : {"batch", "running"}
        Where saro, faro and geo_risk take their sums over all queries from: the batch, or the last epoch. For the
        latter call `next_epoch()` after each epoch.
    reduce : callable, optional
        Adds a tensor of sums up over all processes, where several train one model: `all_reduce` of
        `surefoot.neural.sums`.

    Examples
    --------
    >>> import torch
    >>> from surefoot.neural import RiskLoss
    >>> loss = RiskLoss("u_risk", alpha=5, measure="nDCG@10")
    >>> scores = torch.tensor([[0.2, 0.1, 0.4], [0.3, 0.1, 0.0]], requires_grad=True)
    >>> labels = torch.tensor([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> mask = torch.tensor([[True, True, True], [True, True, False]])
    >>> loss(scores, labels, "arrival", mask).backward()
    >>> scores.grad.sign()
    tensor([[-1.,  1., -1.],
            [ 1., -1.,  0.]])
    """

    def __init__(
        self,
        objective: str = OBJECTIVE,
        alpha: float | None = None,
        measure: str = MEASURE,
        *,
        rule: str = RULE,
        sigma: float = 1.0,
        normalize: bool = False,
        sums: str = "batch",
        reduce: ReduceTensor | None = None,
    ) -> None:
        super().__init__()
        self.objective = Objective(objective, 0.0 if alpha is None else alpha, rule)
        if not self.objective.has_pairs:
            with_pairs = [name for name, kind in OBJECTIVE_KINDS.items() if kind.switch is not None]
            raise ArgumentError(f"objective {objective!r} has no pairs; those that have are: {', '.join(with_pairs)}")
        if alpha is None and self.objective.needs_baseline:
            raise ArgumentError(f"objective {objective!r} needs alpha: each loss counts 1 + α times, such as alpha=5")
        if sums not in SUM_KINDS:
            raise ArgumentError(f"sums is {shortened(sums)}; it must be {' or '.join(map(repr, SUM_KINDS))}")
        number = finite_number(sigma)
        if number is None or not 1e-6 <= number <= 1e6:
            raise ArgumentError(f"sigma is {shortened(sigma)}; it must be a number from 1e-06 to 1e+06")
        self.measure = ListMeasure(measure)
        self.sigma = number
        self.normalize = bool(normalize)
        self.reduce = local_sums if reduce is None else reduce
        self.sums = QuerySums(running=sums == "running", reduce=self.reduce)

    def forward(self, scores: Tensor, labels: Tensor, baseline: Any = None, mask: Tensor | None = None) -> Tensor:
        """The loss of scores (lists, documents), or of several models' (models, lists, documents), which add up.

        `labels` and `mask` are (lists, documents); `mask` is False for padding, whose scores and labels do not matter.
        `baseline` is what is shipped today: its document scores (lists, documents), its M(q) (lists,), "arrival" for
        the order in which the documents come, or a list of such, which are compared with as in `Ranker`: all but
        geo_risk take their mean. A list without a document counts for nothing.
        """
        mask = self._check(scores, labels, mask)
        with torch.autocast(scores.device.type, enabled=False):
            # Padding gets 0: its score may be anything, and 0·∞ is not a number. Pairs have at least 32 bits.
            pair_dtype = torch.float64 if scores.dtype == torch.float64 else torch.float32
            kept = scores.masked_fill(~mask, 0).to(pair_dtype)
            with torch.no_grad():
                gradient = self._gradient(kept.detach(), labels, baseline, mask)
            return (gradient * kept).sum()

    def values(self, scores: Tensor, labels: Tensor, mask: Tensor | None = None) -> Tensor:
        """M(q) of each list, ranked by these scores; equal ones stay in the list's order."""
        mask = self._check(scores, labels, mask)
        with torch.no_grad(), torch.autocast(scores.device.type, enabled=False):
            gains, ideal = self._gains(labels, mask)
            return self._rank(scores.detach(), gains, ~mask, ideal).values

    def next_epoch(self) -> None:
        """Tell that an epoch has ended: sums that run on are from now on those of its queries."""
        self.sums.next_epoch()

    def load_sums(self, sums: dict[str, Tensor]) -> None:
        """Go on from sums that `state_dict` gave, of as many models as there were then."""
        own = self.state_dict()
        if sums.keys() != own.keys():
            raise ValueError("the sums are those of another loss")
        for name, value in sums.items():
            if value.ndim != 2 or value.shape[1] != own[name].shape[1] or not bool(torch.isfinite(value).all()):
                raise ValueError(f"{name} is no row of {own[name].shape[1]} finite sums for each model")
            setattr(self.sums, name.removeprefix("sums."), value)

    def _gradient(self, scores: Tensor, labels: Tensor, baseline: Any, mask: Tensor) -> Tensor:
        """g of each document, divided by the number of lists."""
        models = scores if scores.ndim == 3 else scores[None]
        padding = ~mask
        gains, ideal = self._gains(labels, mask)
        lists = self._rank(models, gains, padding, ideal)
        counted = mask.any(-1)
        baselines = self._baselines(baseline, gains, padding, ideal)
        swaps = SwapValues(self.objective, lists.values, baselines, counted, self.sums, scores.dtype)
        ranked = self._lambdas(lists, swaps, models, mask.sum(-1))
        if self.normalize:
            total = ranked.abs().sum(-1, keepdim=True)
            ranked = ranked * (torch.log2(1 + total) / total.masked_fill(total == 0, 1))
        gradient = torch.zeros_like(ranked).scatter(-1, lists.order, ranked)
        return gradient.reshape(scores.shape) / self._divisor(counted).to(scores.dtype)

    def _divisor(self, counted: Tensor) -> Tensor:
        """The number of lists; of several processes the mean, since frameworks take the mean of their gradients."""
        lists = counted.sum()
        if self.reduce is not local_sums:
            lists, machines = self.reduce(torch.stack([lists, torch.ones_like(lists)]))
            lists = lists / machines
        return lists.clamp(min=1)

    def _lambdas(self, lists: RankedLists, swaps: SwapValues, scores: Tensor, lengths: Tensor) -> Tensor:
        """g at each rank: the documents down to the cut-off, a block at a time, with all that come after them."""
        changes = SwapChanges(self.measure, lists, swaps.dtype)
        ranked = torch.gather(scores, -1, lists.order)
        documents = scores.shape[-1]
        depth = min(self.measure.depth(documents), max(documents - 1, 0))
        # Padding has the last ranks; its scores are 0 and its pairs count for nothing.
        inside = self.measure.weights.ranks(documents, scores) < lengths[:, None]
        gradient = torch.zeros_like(ranked)
        block = max(1, _MOST_PAIRS_AT_ONCE // max(1, scores.numel()))
        for first in range(0, depth, block):
            last = min(first + block, depth)
            whole = last - first == depth
            later = (
                self.measure.weights.later(documents, depth, scores)
                if whole
                else later_ranks(documents, first, last, scores)
            )
            gaps = changes.gains[..., first:last, None] - changes.gains[..., None, :]
            gaps = torch.where(inside[:, None] & later, gaps, 0)
            sign = torch.sign(gaps).to(ranked.dtype)
            apart = sign * (ranked[..., None, :] - ranked[..., first:last, None])
            weight = swaps.of_changes(changes.change(first, last, gaps)).to(ranked.dtype)
            if self.sigma != 1:
                apart, weight = self.sigma * apart, self.sigma * weight
            pairs = torch.sigmoid(apart) * sign * weight
            gradient += pairs.sum(-2)
            gradient[..., first:last] -= pairs.sum(-1)
        return gradient

    def _gains(self, labels: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        gains = self.measure.gains(labels.to(_list_dtype(labels)), mask)
        return gains, self.measure.ideal(gains)

    def _rank(self, scores: Tensor, gains: Tensor, padding: Tensor, ideal: Tensor) -> RankedLists:
        return self.measure.rank(scores.masked_fill(padding, -torch.inf), gains.expand(scores.shape), ideal)

    def _baselines(self, baseline: Any, gains: Tensor, padding: Tensor, ideal: Tensor) -> Tensor:
        """M(q) of each baseline: (baselines, 1, lists)."""
        several = isinstance(baseline, Sequence) and not isinstance(baseline, str)
        given = list(baseline) if several else [] if baseline is None else [baseline]
        if not given:
            if self.objective.needs_baseline:
                raise ArgumentError(f"objective {self.objective.name!r} compares with a baseline; give one")
            return ideal[None, None]  # which nothing is compared with
        values = []
        for each in given:
            if isinstance(each, str):
                if each != ARRIVAL_BASELINE:
                    raise ArgumentError(f"baseline is {shortened(each)}; it must be {ARRIVAL_BASELINE!r}, or a tensor")
                values.append(self._rank(torch.zeros_like(gains), gains, padding, ideal).values)
                continue
            if not torch.is_tensor(each):
                raise ArgumentError(
                    f"a baseline is a {type(each).__name__}; it must be {ARRIVAL_BASELINE!r}, or a tensor"
                )
            if each.shape == ideal.shape:
                if _may_look(each):
                    _refuse(each, ~((each >= 0) & (each <= 1)), "M(q) of the baseline", "numbers from 0 to 1")
                values.append(each.detach().to(gains))
            elif each.shape == gains.shape:
                if _may_look(each):
                    _refuse(each, each.isnan() & ~padding, "a score of the baseline", "numbers")
                values.append(self._rank(each.detach(), gains, padding, ideal).values)
            else:
                raise ArgumentError(
                    f"a baseline has the shape {tuple(each.shape)}; it must be {tuple(gains.shape)}, scores of "
                    f"documents, or {tuple(ideal.shape)}, M(q) of lists"
                )
        return torch.stack(values)[:, None] if len(values) > 1 else values[0][None, None]

    def _check(self, scores: Tensor, labels: Tensor, mask: Tensor | None) -> Tensor:
        """The mask, if shapes go together and, on the CPU, values are such; elsewhere a look would wait."""
        for name, given in (("scores", scores), ("labels", labels), ("the mask", mask)):
            if not torch.is_tensor(given) and not (given is None and name == "the mask"):
                raise ArgumentError(f"{name}: found a {type(given).__name__}; give a tensor")
        mask = torch.ones_like(labels, dtype=torch.bool) if mask is None else mask
        if scores.ndim not in (2, 3) or scores.shape[-2:] != labels.shape or mask.shape != labels.shape:
            raise ArgumentError(
                f"scores have the shape {tuple(scores.shape)}, labels {tuple(labels.shape)}, the mask "
                f"{tuple(mask.shape)}; all are (lists, documents), and scores may be (models, lists, documents)"
            )
        if mask.dtype != torch.bool:
            raise ArgumentError(f"the mask has the type {mask.dtype}; it must be torch.bool, True where a document is")
        if _may_look(labels):
            self.check_labels(torch.where(mask, labels, 0))
            _refuse(scores, scores.isnan() & mask, "a score", "numbers; look for NaN in the features")
        return mask

    def check_labels(self, labels: Tensor) -> None:
        """Refuse labels that have no gain under the measure."""
        family, settings = self.measure.family, self.measure.measure.settings
        most = settings["max_rel"] if family == "ERR" else float("inf")
        if settings.get("dcg") == "exp-log2":
            most = LARGEST_LABEL_POWER
        wrong = ~((labels >= 0) & (labels <= most) & torch.isfinite(labels))
        if wrong.any():
            allowed = "are 0 or more, and finite" if most == float("inf") else f"go from 0 to {most:g}"
            raise ArgumentError(
                f"a label is {float(labels[wrong][0]):g}; under {self.measure.measure} labels {allowed}"
            )


def _may_look(values: Tensor) -> bool:
    """Whether values can be looked at: a graphics card would have to be waited for."""
    return values.device.type == "cpu" and not torch.compiler.is_compiling()


def _refuse(values: Tensor, wrong: Tensor, what: str, expected: str) -> None:
    if wrong.any():
        raise ArgumentError(f"{what} is {float(values.detach()[wrong][0]):g}; it must be {expected}")


def _list_dtype(tensor: Tensor) -> Any:
    """Numbers of lists are kept in float64, where the device has it."""
    return torch.float32 if tensor.device.type == "mps" else torch.float64
