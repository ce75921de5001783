"""`NeuralRanker`'s parameters, checked, and the training of several networks at once: epochs, and the best of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from surefoot.arguments import LARGEST_COUNT, finite_number, integer
from surefoot.arrays import Floats
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.criteria import Criterion
from surefoot.learn.settings import check_checkpoint, check_seed
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.loss import RiskLoss
from surefoot.neural.network import HEADS, Network, QueryLists

if TYPE_CHECKING:
    from surefoot.neural.ranker import NeuralRanker

EpochCriterion: TypeAlias = Callable[
    [Floats], float
]  # of a model's M(q) on the validation data; the greater the better
AfterEpoch: TypeAlias = Callable[[int, Floats | None], None]
_WIDEST, _DEEPEST = 16384, 64
_DEVICE_KINDS = ("cpu", "cuda", "mps", "xpu")  # for others PyTorch may load a module of that name


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
        models = self.network.shape.models
        self.best = BestEpochs([0] * models, [None] * models, _copy(self.network))
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


@dataclass(frozen=True)
class NetworkSettings:
    """A neural ranker's parameters, checked."""

    loss: RiskLoss
    criterion: Criterion
    hidden: tuple[int, ...]
    dropout: float
    attention: int
    longest: int
    models: int
    optimizer_settings: OptimizerSettings
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: int
    seed: int
    device: Any

    @classmethod
    def from_ranker(cls, ranker: NeuralRanker) -> Self:
        """Check a ranker's parameters."""
        for name in ("history", "normalize"):
            if not isinstance(getattr(ranker, name), bool):
                raise ArgumentError(f"{name} is {shortened(getattr(ranker, name))}; it must be True or False")
        rounds = ranker.early_stopping_rounds
        attention = integer("attention", ranker.attention, 0, _DEEPEST)
        hidden = _hidden(ranker.hidden)
        if attention and hidden[0] % HEADS:
            raise ArgumentError(
                f"the first hidden layer has {hidden[0]} units; with attention it must be a multiple of {HEADS}"
            )
        return cls(
            loss=RiskLoss(
                ranker.objective, ranker.alpha, ranker.measure, rule=ranker.rule, sigma=ranker.sigma,
                normalize=ranker.normalize, sums=ranker.sums,
            ),
            criterion=Criterion.parse(ranker.stop_on),
            hidden=hidden,
            dropout=_number("dropout", ranker.dropout, 0, 0.95),
            attention=attention,
            longest=integer("longest", ranker.longest, 1, LARGEST_COUNT),
            models=integer("n_models", ranker.n_models, 1, 1000),
            optimizer_settings=OptimizerSettings(
                epochs=integer("epochs", ranker.epochs, 1, LARGEST_COUNT),
                patience=None if rounds is None else integer("early_stopping_rounds", rounds, 1, LARGEST_COUNT),
                learning_rate=_number("learning_rate", ranker.learning_rate, 1e-9, 10),
                weight_decay=_number("weight_decay", ranker.weight_decay, 0, 10),
                batch_size=integer("batch_size", ranker.batch_size, 1, LARGEST_COUNT),
            ),
            checkpoint=check_checkpoint(ranker.checkpoint),
            checkpoint_every=integer("checkpoint_every", ranker.checkpoint_every, 1, LARGEST_COUNT),
            seed=check_seed(ranker.random_state),
            device=_device(ranker.device),
        )  # fmt: skip


def _hidden(value: Any) -> tuple[int, ...]:
    layers = list(value) if isinstance(value, list | tuple) else [value]
    if not 1 <= len(layers) <= _DEEPEST:
        raise ArgumentError(
            f"hidden is {shortened(value)}; give the units of 1 to {_DEEPEST} layers, such as (128, 128)"
        )
    return tuple(integer("hidden", units, 1, _WIDEST) for units in layers)


def _number(name: str, value: Any, low: float, high: float) -> float:
    number = finite_number(value)
    if number is None or not low <= number <= high:
        raise ArgumentError(f"{name} is {shortened(value)}; it must be a number from {low:g} to {high:g}")
    return number


def _device(name: Any) -> Any:
    """A device of PyTorch's; "auto" is the first graphics card, or the CPU where there is none."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        if not isinstance(name, int) and str(name).partition(":")[0] not in _DEVICE_KINDS:
            raise TypeError(f"the kinds are {', '.join(_DEVICE_KINDS)}")
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, TypeError, ValueError, OverflowError, AssertionError) as error:
        message = str(error).splitlines()[0] if str(error) else "it does not exist"
        raise ArgumentError(
            f"device is {shortened(name)}, which cannot be used here ({message[:200]}); give auto, cpu, or a graphics "
            "card that this machine and this build of PyTorch have"
        ) from error
    return device
