"""What must be known of all queries before any pair is seen, as sums: of the batch, of the last epoch, of all machines.

`saro` and `faro` need s_x, from c, Σx and Σx²; `geo_risk` c, S and N, and then Z, which needs the expectations. Each
model of a batch of models has sums of its own, in the first axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from surefoot.neural.libraries import Tensor, torch

_SUMS_KEPT = 5  # c and two sums, and then c and Z
ReduceTensor: TypeAlias = Callable[[Tensor], Tensor]  # every machine calls it at the same points


def local_sums(sums: Tensor) -> Tensor:
    """The sums of one machine, where it is the only one."""
    return sums


def all_reduce(sums: Tensor) -> Tensor:
    """The sums of all processes of `torch.distributed`'s default group."""
    total = sums.clone()
    torch.distributed.all_reduce(total)
    return total


class QuerySums(torch.nn.Module):  # type: ignore[misc]
    """Sums over the queries of the batch or, where they run on, of the last epoch.

    Until the first epoch ends, sums that run on are those of its queries so far.
    """

    this_epoch: Tensor
    last_epoch: Tensor

    def __init__(self, *, running: bool = False, reduce: ReduceTensor = local_sums) -> None:
        super().__init__()
        self.running = running
        self._reduce = reduce
        if running:
            self.register_buffer("this_epoch", torch.zeros(1, _SUMS_KEPT))
            self.register_buffer("last_epoch", torch.zeros(1, _SUMS_KEPT))

    def next_epoch(self) -> None:
        """Start to add up anew; what was added up since the last call is used from now on."""
        if self.running:
            self.last_epoch, self.this_epoch = self.this_epoch, torch.zeros_like(self.this_epoch)

    def deviation(self, x: Tensor, counted: Tensor) -> Tensor:
        """s_x, the sample deviation of x; 0 where all are equal."""
        queries, total, squares = self._sums(0, x, torch.square(x), counted=counted)
        spread = squares - total**2 / queries.clamp(min=1)
        apart = (queries > 1) & (spread > 1e-12 * squares)
        return torch.where(apart, spread / (queries - 1).clamp(min=1), 0).sqrt()

    def totals(
        self, values: Tensor, baselines: Tensor, alpha: float, counted: Tensor
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """GeoRisk's e of each query's model, and c, S/c, Z/c, Φ(Z/c) and the density there."""
        column = baselines.sum(0) + values
        queries, model, everything = self._sums(0, values, column, counted=counted)
        expected = (
            torch.where(everything > 0, model / torch.where(everything > 0, everything, 1), 0)[..., None] * column
        )
        z = (values - expected) * torch.where(expected > 0, expected, 1).rsqrt() * (expected > 0)
        _, weighted = self._sums(3, torch.minimum(z, (1 + alpha) * z), counted=counted)
        queries = queries.clamp(min=1)
        deviation = weighted / queries
        density = torch.exp(-torch.square(deviation) / 2) / math.sqrt(2 * math.pi)
        return expected, (queries, model / queries, deviation, torch.special.ndtr(deviation), density)

    def _sums(self, first_number: int, *columns: Tensor, counted: Tensor) -> tuple[Tensor, ...]:
        """The number of queries that count, and the sums of columns over them, which `first_number` counts on from."""
        parts = [counted.to(columns[0].dtype).expand_as(columns[0]).sum(-1)]
        parts += [torch.where(counted, column, 0).sum(-1) for column in columns]
        sums = self._reduce(torch.stack(parts, -1))
        return tuple((self._run_on(sums, first_number) if self.running else sums).unbind(-1))

    def _run_on(self, sums: Tensor, first_number: int) -> Tensor:
        """Add a batch's sums to the epoch's, and give the sums to use."""
        if self.this_epoch.shape[0] != sums.shape[0] or self.this_epoch.dtype != sums.dtype:
            self.this_epoch = sums.new_zeros(sums.shape[0], _SUMS_KEPT)
            self.last_epoch = sums.new_zeros(sums.shape[0], _SUMS_KEPT)
        columns = slice(first_number, first_number + sums.shape[-1])
        if self.training:
            self.this_epoch[:, columns] += sums
        last = self.last_epoch[:, columns]
        so_far = self.this_epoch[:, columns] if self.training else sums
        return torch.where(last[:, :1] > 0, last, so_far)
