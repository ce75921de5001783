"""The training of several networks at once: epochs of batches, the best epoch of each on validation data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.loss import RiskLoss
from surefoot.neural.network import Network
from surefoot.neural.query_lists import QueryLists

EpochCriterion: TypeAlias = Callable[
    [Floats], float
]  # of a model's M(q) on the validation data; the greater the better
AfterEpoch: TypeAlias = Callable[[int, Floats | None], None]


@dataclass(frozen=True)
class OptimizerSettings:
    """How parameters are changed: AdamW, over batches of queries."""

    epochs: int = 100
    patience: int | None = None
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    batch_size: int = 128


@dataclass
class BestEpochs:
    """Each model's best epoch so far, what it was judged there, and its parameters then."""

    epochs: list[int]
    scores: list[float | None]
    parameters: dict[str, Tensor]

    @classmethod
    def at_start(cls, network: Network) -> BestEpochs:
        """No epoch yet."""
        models = network.shape.models
        return cls([0] * models, [None] * models, _copy(network))


@dataclass
class NetworkTraining:
    """A network, what it learns from and is judged by, and how far it is.

    `baselines` are the M(q) of the training queries' baselines, a row each. What is random in an epoch is drawn from
    the seed and the epoch's number, so that a training that resumes draws as one that was never interrupted.
    """

    network: Network
    loss: RiskLoss
    train: QueryLists
    baselines: Floats | None
    optimizer_settings: OptimizerSettings
    seed: int
    valid: QueryLists | None = None
    criterion: EpochCriterion | None = None
    epoch: int = 0
    best: BestEpochs = field(init=False)
    optimizer: Any = field(init=False)

    def __post_init__(self) -> None:
        """Prepare what changes in training."""
        self.best = BestEpochs.at_start(self.network)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(),
            lr=self.optimizer_settings.learning_rate,
            weight_decay=self.optimizer_settings.weight_decay,
        )
        rows = [] if self.baselines is None else list(self.baselines)
        self._rows = [torch.as_tensor(row).to(self.train.device) for row in rows]

    @property
    def stopped(self) -> bool:
        """Whether it has come to its end."""
        waited = self.epoch - max(self.best.epochs)
        return self.epoch >= self.optimizer_settings.epochs or (
            self.optimizer_settings.patience is not None and waited >= self.optimizer_settings.patience
        )

    def run(self, after_epoch: AfterEpoch | None = None) -> None:
        """Train to the end, and leave each model with its best parameters."""
        while not self.stopped:
            self._train_epoch()
            self.epoch += 1
            values = None
            if self.valid is not None:
                values = self.valid.values(self.network.eval(), self.loss)
                self._keep_best(values)
            if after_epoch is not None:
                after_epoch(self.epoch, values)
        if self.criterion is None or self.valid is None:
            self.best = BestEpochs([self.epoch] * self.network.shape.models, self.best.scores, _copy(self.network))
        self.network.load_state_dict(self.best.parameters)
        self.network.eval()

    def _train_epoch(self) -> None:
        draws = np.random.SeedSequence([self.seed, self.epoch]).generate_state(2)
        order = np.random.default_rng(draws[0]).permutation(self.train.n_queries)
        generator = torch.Generator(self.train.device).manual_seed(int(draws[1]))
        self.network.train()
        self.loss.train()
        for start in range(0, len(order), self.optimizer_settings.batch_size):
            queries = order[start : start + self.optimizer_settings.batch_size]
            batch = self.train.batch(queries)
            self.optimizer.zero_grad(set_to_none=True)
            scores = self.train.score(self.network, batch, generator)
            if scores.device.type == "cpu" and bool((scores.isnan() & batch.mask).any()):  # a card would be waited for
                raise _diverged()
            index = torch.from_numpy(queries).to(self.train.device)
            baseline = [row[index] for row in self._rows]
            self.loss(scores, batch.labels, baseline or None, batch.mask).backward()
            self.optimizer.step()
        self.loss.next_epoch()
        self.loss.eval()
        if not all(bool(torch.isfinite(each).all()) for each in self.network.parameters()):
            raise _diverged()

    def _keep_best(self, values: Floats) -> None:
        if self.criterion is None:
            return
        for model in range(self.network.shape.models):
            score, before = self.criterion(values[model]), self.best.scores[model]
            if before is None or score > before:
                self.best.scores[model], self.best.epochs[model] = score, self.epoch
                for name, parameter in self.network.named_parameters():
                    self.best.parameters[name][model] = parameter.data[model]


def _copy(network: Network) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


def _diverged() -> ArgumentError:
    return ArgumentError("the network's parameters are no longer finite; lower learning_rate")
