"""A neural ranker on disk: its parameters as safetensors, and a JSON beside them, which change in one step.

Neither is ever executed: safetensors holds numbers and their names alone. Both are checked when they are read: the JSON
says how many numbers there are, within bounds, and a file that is larger is not read.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import DataError, shortened
from surefoot.learn.checkpoints import CheckpointFile
from surefoot.learn.criteria import check_history, is_number
from surefoot.learn.model_files import DETAILS_FILE_NAME, MODEL_FILE_NAMES
from surefoot.learn.options import NETWORK_ENGINE
from surefoot.learn.saved_ranker import read_model
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.network import Network, NetworkShape, parameter_shapes, tensor_shapes
from surefoot.neural.training import BestEpochs, NetworkTraining
from surefoot.runtime import library

if TYPE_CHECKING:
    from surefoot.neural.ranker import NeuralRanker

_HEADER_BYTES = 256  # that a tensor's name, shape and place take in a file, at most
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # of AdamW, for each parameter


def dump(tensors: dict[str, Tensor]) -> bytes:
    """Tensors as safetensors."""
    content = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    data: bytes = library("safetensors.torch", "neural", "A network").save(content)
    return data


def parse(data: bytes) -> dict[str, Tensor]:
    """The tensors of such bytes; ValueError where they are not that."""
    safetensors = library("safetensors", "neural", "A network")
    try:
        tensors: dict[str, Tensor] = library("safetensors.torch", "neural", "A network").load(data)
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"these are no safetensors ({str(error)[:200]})") from error
    return tensors


def check_tensors(tensors: dict[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """ValueError where tensors do not have these names and shapes, in float32, or are not finite."""
    if other := min(tensors.keys() ^ shapes.keys(), default=None):
        whose = "is missing" if other in shapes else "is none of this network"
        raise ValueError(f"the parameters are those of another network: {shortened(other)} {whose}")
    for name, shape in shapes.items():
        found = tensors[name]
        if (tuple(found.shape), found.dtype) != (shape, torch.float32):
            raise ValueError(
                f"the parameters are those of another network: {name} has the shape {tuple(found.shape)} and the type "
                f"{found.dtype}, and this network's has {shape} and torch.float32"
            )
        if not bool(torch.isfinite(found).all()):
            raise ValueError(f"{name} holds a number that is not finite")


def read_network(ranker: NeuralRanker, home: Path, details: dict[str, Any]) -> None:
    """Give a ranker the network beside its details, if these are of such a network."""
    file, fitted = home / DETAILS_FILE_NAME, details["fitted"]
    try:
        settings = ranker.check_settings()
        shape = NetworkShape(fitted["n_features_in_"], settings.hidden, settings.attention, settings.models)
    except (TypeError, ValueError) as error:
        raise DataError.at(file, None, f"holds parameters that no ranker has ({error})") from error
    if fitted["combination_"] is not None or fitted["query_feature_"] is not None:
        raise DataError.at(file, None, "combines a network with a baseline, which this version cannot do")
    if not _are_epochs(fitted.get("best_iterations_"), settings.models):
        raise DataError.at(file, None, "has another number of epochs than of models")
    name, shapes = MODEL_FILE_NAMES[NETWORK_ENGINE], tensor_shapes(shape)
    most_bytes = 4 * shape.parameters + _HEADER_BYTES * (len(shapes) + 1)
    try:
        tensors = parse(read_model(home, name, details["model"]["sha256"], most_bytes))
        check_tensors(tensors, shapes)
    except ValueError as error:
        raise DataError.at(home / name, None, f"is not this ranker's network ({error})") from error
    ranker.network_ = Network(shape).eval()
    ranker.network_.load_state_dict(tensors)


def _are_epochs(value: Any, models: int) -> bool:
    return isinstance(value, list) and len(value) == models and all(type(each) is int and each >= 1 for each in value)


@dataclass(frozen=True)
class NetworkCheckpoint(CheckpointFile):
    """A file for the state of a network's training."""

    schema = "surefoot/checkpoint/network-1"

    def write(self, training: NetworkTraining, history: dict[str, Any]) -> None:
        """Store where a training is."""
        names = [name for name, _ in training.network.named_parameters()]
        tensors = {f"now.{name}": each for name, each in training.network.state_dict().items()}
        tensors |= {f"best.{name}": each for name, each in training.best.parameters.items()}
        states = training.optimizer.state_dict()["state"]
        tensors |= {f"{each}.{name}": states[n][each] for n, name in enumerate(names) for each in _MOMENTS}
        tensors |= {f"sums.{name}": each for name, each in training.loss.state_dict().items()}
        self.store(
            epoch=training.epoch, best_epochs=training.best.epochs, best_scores=training.best.scores, history=history,
            tensors=base64.b64encode(dump(tensors)).decode(),
        )  # fmt: skip

    def resume(self, training: NetworkTraining) -> dict[str, Any] | None:
        """Bring a training to where it was, and give its history; None where nothing is stored."""
        content = self.stored()
        try:
            return None if content is None else _restore(training, content)
        except (ValueError, LookupError, TypeError, RuntimeError) as error:
            raise self.unreadable(str(error)) from error


def _restore(training: NetworkTraining, content: dict[str, Any]) -> dict[str, Any]:
    history: dict[str, Any] = content["history"]
    epoch, models = content["epoch"], training.network.shape.models
    check_history(history)
    if type(epoch) is not int or not 1 <= epoch <= training.optimizer_settings.epochs:
        raise ValueError("its epoch is no number of one")
    epochs, scores = content["best_epochs"], content["best_scores"]
    if len(epochs) != models or not all(type(each) is int and 0 <= each <= epoch for each in epochs):
        raise ValueError("its best epochs are no numbers of epochs")
    if len(scores) != models or not all(each is None or is_number(each) for each in scores):
        raise ValueError("its best scores are no numbers")
    tensors = parse(base64.b64decode(content["tensors"], validate=True))

    def part(kind: str) -> dict[str, Any]:
        return {name.removeprefix(f"{kind}."): each for name, each in tensors.items() if name.startswith(f"{kind}.")}

    now, best, moments = part("now"), part("best"), {each: part(each) for each in _MOMENTS}
    names, shapes = [name for name, _ in training.network.named_parameters()], parameter_shapes(training.network.shape)
    for saved in (now, best):
        check_tensors(saved, tensor_shapes(training.network.shape))
    for kind, saved in moments.items():
        check_tensors(saved, dict.fromkeys(names, ()) if kind == "step" else shapes)
    best = {name: each.to(training.train.device) for name, each in best.items()}
    training.network.load_state_dict(now)
    state = training.optimizer.state_dict()
    state["state"] = {n: {each: moments[each][name] for each in _MOMENTS} for n, name in enumerate(names)}
    training.optimizer.load_state_dict(state)
    training.loss.load_sums(part("sums"))
    training.epoch, training.best = epoch, BestEpochs(epochs, scores, best)
    return history
