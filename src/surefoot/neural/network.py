"""The network of `NeuralRanker`, several models of one shape side by side, and the lists of documents that it scores.

Features come as they are: the network takes sign(x)·ln(1 + 10|x|) of them and standardises that by the training data.
A missing feature, NaN, becomes 0 there, the training data's mean. Then hidden layers with ReLU and dropout, where
wanted layers of self-attention over the documents of a list before them, and a score.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.errors import ArgumentError, shortened
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.loss import RiskLoss

HEADS = 4
_MOST_PARAMETERS = 1 << 26  # of all models together: 256 MB
_CONSTANT_SPREAD = 1e-6  # a feature whose transformed values deviate less is constant
_MOST_PADDED_DOCUMENTS = 1 << 18  # of a batch that is only scored


@dataclass(frozen=True)
class NetworkShape:
    """What decides the names and sizes of a network's parameters."""

    features: int
    hidden: tuple[int, ...] = (128, 128)
    attention: int = 0  # layers of self-attention
    models: int = 1

    def __post_init__(self) -> None:
        """Refuse what would take more memory than any ranking needs, before it is taken."""
        if self.parameters > _MOST_PARAMETERS:
            raise ArgumentError(
                f"the network has {self.parameters:,} parameters (features: {self.features:,}, hidden: "
                f"{shortened(self.hidden)}, models: {self.models:,}); at most {_MOST_PARAMETERS:,} are possible"
            )

    @property
    def parameters(self) -> int:
        """How many numbers the network consists of."""
        return sum(map(math.prod, tensor_shapes(self).values()))


class Network(torch.nn.Module):  # type: ignore[misc]
    """Scores of documents by each of several models; every parameter's first axis is the models'."""

    def __init__(self, shape: NetworkShape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.register_buffer("center", torch.zeros(shape.features))
        self.register_buffer("scale", torch.ones(shape.features))
        for name, size in parameter_shapes(shape).items():
            self.register_parameter(name, torch.nn.Parameter(torch.zeros(size)))

    def set_random(self, seed: int) -> None:
        """Random weights, each model's from a seed of its own: uniform in ±1/√inputs, as `torch.nn.Linear` has it."""
        for model in range(self.shape.models):
            generator = torch.Generator().manual_seed(int(np.random.SeedSequence([seed, model]).generate_state(1)[0]))
            inputs = 1
            for name, parameter in self.named_parameters():
                kind = name.rpartition("_")[2]
                values = parameter.data[model]
                if kind == "norm":
                    values.fill_(1.0)
                    continue
                if kind == "weight":
                    inputs = values.shape[0]
                bound = 1 / math.sqrt(inputs)
                drawn = torch.rand(values.shape, generator=generator) * 2 - 1
                values.copy_(drawn.to(values.device) * bound)

    def fit_standardisation(self, X: np.ndarray[Any, Any]) -> None:
        """Standardise by these documents; a feature that is constant, or missing everywhere, has no effect."""
        values = _transform(torch.tensor(X)).double()
        known = ~torch.isnan(values)
        count = known.sum(0).clamp(min=1)
        center = torch.where(known, values, 0).sum(0) / count
        spread = (torch.where(known, torch.square(values - center), 0).sum(0) / count).sqrt()
        self.center.copy_(center)
        self.scale.copy_(torch.where(spread > _CONSTANT_SPREAD, 1 / spread.clamp(min=_CONSTANT_SPREAD), 0))

    def forward(self, X: Tensor, mask: Tensor | None = None, generator: Any = None) -> Tensor:
        """(models, …) scores of documents (…, features); with attention (lists, documents, features) and their mask.

        In training, `generator` draws what is dropped.
        """
        x = self.standardise(X)[None]
        parts = dict(self.named_parameters())
        if self.shape.attention:
            x = _linear(x, parts, "input")
            for layer in range(self.shape.attention):
                x = x + self._dropped(_attend(x, parts, f"attention{layer}", mask), generator)
        for layer in range(len(self.shape.hidden)):
            x = self._dropped(torch.relu(_linear(x, parts, f"hidden{layer}")), generator)
        return _linear(x, parts, "score").squeeze(-1)

    def standardise(self, X: Tensor) -> Tensor:
        """Features as the first layer takes them."""
        return torch.nan_to_num((_transform(X) - self.center) * self.scale, nan=0.0)

    def _dropped(self, x: Tensor, generator: Any) -> Tensor:
        if not self.training or not self.dropout:
            return x
        kept = torch.rand(x.shape, generator=generator, device=x.device) >= self.dropout
        return x * kept / (1 - self.dropout)


def tensor_shapes(shape: NetworkShape) -> dict[str, tuple[int, ...]]:
    """The size of everything that is saved of a network, by name."""
    return dict.fromkeys(("center", "scale"), (shape.features,)) | parameter_shapes(shape)


def parameter_shapes(shape: NetworkShape) -> dict[str, tuple[int, ...]]:
    """The size of each parameter, by name, in the order in which they are used."""
    sizes: dict[str, tuple[int, ...]] = {}

    def linear(name: str, inputs: int, outputs: int) -> None:
        sizes[f"{name}_weight"], sizes[f"{name}_bias"] = (inputs, outputs), (outputs,)

    width = shape.features
    if shape.attention:
        linear("input", width, shape.hidden[0])
        width = shape.hidden[0]
        for layer in range(shape.attention):
            sizes[f"attention{layer}_norm"] = (width,)
            linear(f"attention{layer}_heads", width, 3 * width)
            linear(f"attention{layer}_output", width, width)
    for layer, outputs in enumerate(shape.hidden):
        linear(f"hidden{layer}", width, outputs)
        width = outputs
    sizes["score_weight"] = (width, 1)  # and no bias, which orders nothing
    return {name: (shape.models, *size) for name, size in sizes.items()}


def _transform(X: Tensor) -> Tensor:
    """sign(x)·ln(1 + 10|x|): long tails become short, and 0 stays 0."""
    return torch.sign(X) * torch.log1p(10 * X.abs())


def _linear(x: Tensor, parts: dict[str, Tensor], name: str) -> Tensor:
    """x·W + b, with each model's own W and, where there is one, b."""
    weight, bias = parts[f"{name}_weight"], parts.get(f"{name}_bias")
    product = torch.matmul(x.reshape(x.shape[0], -1, x.shape[-1]), weight)
    product = product if bias is None else product + bias[:, None]
    return product.reshape(weight.shape[0], *x.shape[1:-1], weight.shape[-1])


def _attend(x: Tensor, parts: dict[str, Tensor], name: str, mask: Tensor | None) -> Tensor:
    """Self-attention over the documents of each list, none of them padding."""
    models, lists, documents, width = x.shape
    normal = torch.nn.functional.layer_norm(x, (width,)) * parts[f"{name}_norm"][:, None, None]
    heads = _linear(normal, parts, f"{name}_heads").reshape(models * lists, documents, 3, HEADS, width // HEADS)
    query, key, value = heads.permute(2, 0, 3, 1, 4)
    seen = None
    if mask is not None:
        # A list without documents looks at its padding: what comes of it counts for nothing, but is a number.
        seen = (
            (mask | ~mask.any(-1, keepdim=True))[None].expand(models, -1, -1).reshape(models * lists, 1, 1, documents)
        )
    found = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
    return _linear(found.transpose(1, 2).reshape(models, lists, documents, width), parts, f"{name}_output")


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
