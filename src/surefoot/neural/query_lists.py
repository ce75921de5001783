"""The documents of a set of queries on a device, in batches of padded lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.loss import RiskLoss
from surefoot.neural.network import Network

_MOST_PADDED_DOCUMENTS = 1 << 18  # of a batch that is only scored


@dataclass(frozen=True)
class ListBatch:
    """Padded lists: the documents' rows, their places in the lists laid end to end, and the lists' mask and labels."""

    rows: Tensor
    flat_positions: Tensor
    mask: Tensor
    labels: Tensor
    queries: Ints

    def padded(self, scores: Tensor) -> Tensor:
        """Scores (models, documents) as (models, lists, documents), 0 for padding."""
        flat = scores.new_zeros(scores.shape[0], self.mask.numel()).index_copy(1, self.flat_positions, scores)
        return flat.reshape(scores.shape[0], *self.mask.shape)


class QueryLists:
    """Features and labels of documents, whose queries have the rows `offsets[i]:offsets[i + 1]`.

    The rows of a query are in the order that the tie rule gives equal scores.
    """

    def __init__(self, X: Any, labels: Any, offsets: Ints, device: Any = "cpu") -> None:
        self.device = torch.device(device)
        self.X = torch.as_tensor(X, dtype=torch.float32).to(self.device)
        self.labels = torch.as_tensor(labels, dtype=torch.float64).to(self.device, torch.float32)
        self.offsets = offsets

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def batch(self, queries: Ints) -> ListBatch:
        """These queries' lists."""
        lengths = np.diff(self.offsets)[queries]
        width = int(lengths.max(initial=0))
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        rows = torch.from_numpy(np.repeat(self.offsets[queries], lengths) + within).to(self.device)
        flat_positions = torch.from_numpy(np.repeat(np.arange(len(queries)) * width, lengths) + within).to(self.device)
        mask = torch.from_numpy(np.arange(width) < lengths[:, None]).to(self.device)
        labels = (
            self.labels.new_zeros(mask.numel()).index_copy(0, flat_positions, self.labels[rows]).reshape(mask.shape)
        )
        return ListBatch(rows, flat_positions, mask, labels, queries)

    def score(self, network: Network, batch: ListBatch, generator: Any = None) -> Tensor:
        """Each model's scores of a batch, padded."""
        X = self.X[batch.rows]
        if not network.shape.attention:
            return batch.padded(network(X, generator=generator))
        lists = X.new_zeros(batch.mask.numel(), X.shape[-1]).index_copy(0, batch.flat_positions, X)
        return network(lists.reshape(*batch.mask.shape, -1), batch.mask, generator)

    def values(self, network: Network, loss: RiskLoss) -> Floats:
        """M(q) of each model, and last that of the mean of their scores: (models + 1, queries)."""
        values = np.zeros((network.shape.models + 1, self.n_queries))
        with torch.no_grad():
            for batch in self._in_turn:
                scores = self.score(network, batch)
                both = torch.cat([scores, scores.mean(0, keepdim=True)])
                values[:, batch.queries] = loss.values(both, batch.labels, batch.mask).cpu().numpy()
        return values

    def measure_scores(self, scores: Any, loss: RiskLoss) -> Floats:
        """M(q) of each row of document scores: (rows, queries)."""
        given = torch.as_tensor(np.asarray(scores)).to(self.device)
        values = np.zeros((len(given), self.n_queries))
        for batch in self._in_turn:
            ranked = loss.values(batch.padded(given[:, batch.rows]), batch.labels, batch.mask)
            values[:, batch.queries] = ranked.cpu().numpy()
        return values

    def predict(self, network: Network) -> Floats:
        """The mean of the models' scores of each document."""
        scores = np.zeros(len(self.X))
        with torch.no_grad():
            for batch in self._in_turn:
                mean = self.score(network, batch).mean(0).reshape(-1)[batch.flat_positions]
                scores[batch.rows.cpu().numpy()] = mean.double().cpu().numpy()
        return scores

    @cached_property
    def _in_turn(self) -> list[ListBatch]:
        """All queries, the short lists first, so that little is padding."""
        return [self.batch(part) for part in self._parts()]

    def _parts(self) -> Iterator[Ints]:
        lengths = np.diff(self.offsets)
        order = np.argsort(lengths, kind="stable")
        start = 0
        for place in range(1, len(order) + 1):
            if place == len(order) or (place + 1 - start) * lengths[order[place]] > _MOST_PADDED_DOCUMENTS:
                yield order[start:place]
                start = place
