"""The network of `NeuralRanker`: several models of one shape side by side, each with parameters of its own.

Features come as they are: the network takes sign(x)·ln(1 + 10|x|) of them and standardises that by the training data.
A missing feature, NaN, becomes 0 there, the training data's mean. Then hidden layers with ReLU and dropout, where
wanted layers of self-attention over the documents of a list before them, and a score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import ArgumentError, shortened
from surefoot.neural.libraries import Tensor, torch

HEADS = 4
_MOST_PARAMETERS = 1 << 26  # of all models together: 256 MB
_CONSTANT_SPREAD = 1e-6  # a feature whose transformed values deviate less is constant


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
