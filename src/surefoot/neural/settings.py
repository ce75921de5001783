"""NeuralRanker's parameters, checked; they are kept as given until `fit`, as scikit-learn's conventions ask for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from surefoot.arguments import LARGEST_COUNT, finite_number, integer
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.criteria import Criterion
from surefoot.learn.settings import check_seed
from surefoot.measures.notation import Measure
from surefoot.neural.libraries import torch
from surefoot.neural.loss import RiskLoss
from surefoot.neural.network import HEADS
from surefoot.neural.training import OptimizerSettings

if TYPE_CHECKING:
    from surefoot.neural.ranker import NeuralRanker

_WIDEST, _DEEPEST = 16384, 64
_DEVICE_KINDS = ("cpu", "cuda", "mps", "xpu")  # for others PyTorch may load a module of that name


@dataclass(frozen=True)
class NetworkSettings:
    """A neural ranker's parameters, checked."""

    loss: RiskLoss
    measure: Measure
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
        checkpoint = ranker.checkpoint
        if checkpoint is not None and (not isinstance(checkpoint, str | os.PathLike) or not str(checkpoint)):
            raise ArgumentError(f"checkpoint is {shortened(checkpoint)}; it must name a file")
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
            measure=Measure.parse(ranker.measure),
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
            checkpoint=checkpoint,
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
